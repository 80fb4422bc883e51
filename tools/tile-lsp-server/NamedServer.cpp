//===-- NamedServer.cpp - A language server under its own name ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedServer.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

/// Empty at the end of what is read.
static StringRef readSome(int file, MutableArrayRef<char> buffer) {
  ssize_t count;
  do
    count = read(file, buffer.data(), buffer.size());
  while (count < 0 && errno == EINTR);
  return StringRef(buffer.data(), count > 0 ? size_t(count) : 0);
}

/// The message of the protocol that `text` begins with; none if more has to be
/// read.
static std::optional<StringRef> firstMessage(StringRef text, bool &isProtocol) {
  StringRef rest = text;
  constexpr StringLiteral key = "Content-Length: ";
  isProtocol = key.starts_with(text.take_front(key.size()));
  size_t length;
  if (!rest.consume_front(key) || !rest.contains("\r\n\r\n"))
    return std::nullopt;
  isProtocol = !rest.consumeInteger(10, length);
  rest = rest.drop_front(rest.find("\r\n\r\n") + 4);
  if (!isProtocol || rest.size() < length)
    return std::nullopt;
  return rest.take_front(length);
}

/// The message with another name of the server; none if it does not tell one.
static std::optional<std::string> rename(StringRef message, StringRef name,
                                         StringRef version) {
  Expected<json::Value> parsed = json::parse(message);
  if (!parsed) {
    consumeError(parsed.takeError());
    return std::nullopt;
  }
  json::Object *root = parsed->getAsObject();
  json::Object *result = root ? root->getObject("result") : nullptr;
  if (!result || !result->getObject("serverInfo"))
    return std::nullopt;
  (*result)["serverInfo"] = json::Object{{"name", name}, {"version", version}};
  // It has several lines where the server was asked for text that people read.
  return formatv(message.contains('\n') ? "{0:2}" : "{0}", *parsed).str();
}

static void passOn(int file, StringRef name, StringRef version) {
  std::string text;
  bool isRenamed = false;
  char buffer[1 << 14];
  for (StringRef part = readSome(file, buffer); !part.empty();
       part = readSome(file, buffer)) {
    text += part;
    bool isProtocol = true;
    while (!isRenamed) {
      std::optional<StringRef> message = firstMessage(text, isProtocol);
      if (!message)
        break;
      size_t end = message->end() - text.data();
      if (std::optional<std::string> other = rename(*message, name, version)) {
        outs() << "Content-Length: " << other->size() << "\r\n\r\n" << *other;
        isRenamed = true;
      } else {
        outs() << StringRef(text).take_front(end);
      }
      text.erase(0, end);
    }
    // What is no message, such as the text of --help, is not looked at.
    isRenamed |= !isProtocol;
    if (isRenamed) {
      outs() << text;
      text.clear();
    }
    outs().flush();
  }
  outs() << text;
  outs().flush();
}

int runNamedServer(StringRef name, StringRef version,
                   function_ref<int()> server) {
  int ends[2];
  if (pipe(ends) != 0)
    return server();
  pid_t parent = getpid(), child = fork();
  if (child < 0)
    return server();
  if (child == 0) {
    // The server ends with the process that the editor knows.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
      return EXIT_FAILURE;
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    return server();
  }
  close(ends[1]);
  passOn(ends[0], name, version);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

//===-- standalone_main.cpp - A small mutating driver without libFuzzer ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// usage: ptx_parser_mutator SECONDS SEED FILE...   Mutates the files (bytes,
// lines, spliced halves) until the time is over. For machines whose compiler
// comes without libFuzzer.
//
//===----------------------------------------------------------------------===//
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static std::string mutate(const std::vector<std::string> &corpus,
                          std::mt19937_64 &rng) {
  auto pick = [&](size_t n) { return size_t(rng() % (n ? n : 1)); };
  std::string text = corpus[pick(corpus.size())];
  // Long files are cut down to a window now and then, so that rounds stay
  // short.
  if (text.size() > 4000 && pick(4)) {
    size_t from = pick(text.size() - 3000);
    text = text.substr(0, 400) + text.substr(from, 3000);
  }
  static const char *tokens[] = {
      "{",           "}",      "[",    "]",          ";",
      ",",           ".v4",    ".b32", ".b128",      "0x7fffffffffffffff",
      "-1",          "@!%p1 ", "%r1",  "_",          "bra L;",
      ".shared",     "<",      ">",    "(",          ")",
      ".align 1024", "|",      ":",    "0fFFFFFFFF", "%tid.x"};
  for (size_t rounds = 1 + pick(6); rounds--;) {
    size_t at = pick(text.size());
    switch (pick(6)) {
    case 0:
      if (!text.empty())
        text[at] = char(rng());
      break;
    case 1:
      text.erase(at, 1 + pick(20));
      break;
    case 2:
      text.insert(at, tokens[pick(std::size(tokens))]);
      break;
    case 3: {
      const std::string &other = corpus[pick(corpus.size())];
      text = text.substr(0, at) + other.substr(pick(other.size()), 2000);
      break;
    }
    case 4: {
      size_t begin = text.rfind('\n', at), end = text.find('\n', at);
      if (begin != std::string::npos && end != std::string::npos)
        text.insert(end, text.substr(begin, end - begin));
      break;
    }
    default: {
      size_t digit = text.find_first_of("0123456789", at);
      if (digit != std::string::npos)
        text.replace(digit, 1, std::to_string(rng() % 100000));
    }
    }
  }
  return text;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s SECONDS SEED FILE...\n", argv[0]);
    return 2;
  }
  std::vector<std::string> corpus;
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file),
                        std::istreambuf_iterator<char>());
  }
  std::mt19937_64 rng(std::strtoull(argv[2], nullptr, 10));
  auto end = std::chrono::steady_clock::now() +
             std::chrono::seconds(std::atoi(argv[1]));
  uint64_t count = 0;
  for (; std::chrono::steady_clock::now() < end; ++count) {
    std::string text = mutate(corpus, rng);
    // The input that is being tried survives a crash.
    if (const char *last = std::getenv("TILE_FUZZ_LAST")) {
      std::ofstream(last, std::ios::binary) << text;
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()),
                           text.size());
  }
  std::printf("%llu inputs, no crash\n", (unsigned long long)count);
}

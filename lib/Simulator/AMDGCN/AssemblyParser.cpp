//===-- AssemblyParser.cpp - Lines, directives, instructions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The text that LLVM's assembler takes, as far as compilers print it:
// instructions, labels, what describes kernels, and data. Directives about
// debugging and linking say nothing about what runs.
//
//===----------------------------------------------------------------------===//
#include "Assembly.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

static std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t'))
    s.remove_prefix(1);
  while (!s.empty() &&
         (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

/// Takes the text up to a space off the front.
static std::string_view takeWord(std::string_view &s) {
  size_t end = std::min(s.find_first_of(" \t"), s.size());
  std::string_view word = s.substr(0, end);
  s = trim(s.substr(end));
  return word;
}

/// Parts between separators that stand in no brackets.
static std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i <= s.size(); ++i) {
    char ch = i < s.size() ? s[i] : separator;
    if (ch == '"')
      quoted = !quoted;
    depth += !quoted && (ch == '[' || ch == '(');
    depth -= !quoted && (ch == ']' || ch == ')');
    if (i < s.size() && (depth > 0 || quoted || ch != separator))
      continue;
    parts.push_back(trim(s.substr(start, i - start)));
    start = i + 1;
  }
  return parts;
}

static std::string unquote(std::string_view s) {
  if (s.size() >= 2 && s.front() == '"' && s.back() == '"')
    s = s.substr(1, s.size() - 2);
  return std::string(s);
}

bool tile::sim::amdgcn::isAssembly(std::string_view text) {
  return text.find(".amdgcn_target") != std::string_view::npos ||
         text.find(".amdhsa_kernel") != std::string_view::npos;
}

namespace {
class Parser {
public:
  Parser(std::string_view text, Assembly &module, Diagnostic &diag)
      : text(text), module(module), diag(diag) {}
  bool run();

private:
  bool error(const std::string &message) {
    return diag.error({line, 1}, message);
  }
  bool nextLine(std::string_view &out);
  bool statement(std::string_view s);
  bool label(std::string_view name);
  bool directive(std::string_view name, std::string_view rest);
  bool kernelDirective(std::string_view name, std::string_view rest);
  bool data(std::string_view name, std::string_view rest);
  bool location(std::string_view rest);
  bool fileName(std::string_view rest);
  bool metadata();
  bool instruction(std::string_view s);
  bool modifier(std::string_view s, Instruction &in);
  bool number(std::string_view s, int64_t &value);
  Kernel &kernel(std::string_view name);
  bool finish();
  uint32_t endOf(uint32_t first) const;

  std::string_view text;
  size_t at = 0;
  uint32_t line = 0;
  bool inComment = false;
  std::string uncommented; ///< a line without the comments inside
  Assembly &module;
  Diagnostic &diag;
  bool inText = true, writable = false;
  bool isIgnored = false; ///< a section that no kernel reads
  Variable *variable = nullptr;
  Kernel *open = nullptr; ///< between .amdhsa_kernel and its end
  std::vector<std::pair<std::string, uint32_t>> functions; ///< of .type
  std::vector<std::string> functionNames;
};
} // namespace

/// The next line without comments; false at the end.
bool Parser::nextLine(std::string_view &out) {
  if (at >= text.size())
    return false;
  size_t end = std::min(text.find('\n', at), text.size());
  std::string_view s = text.substr(at, end - at);
  at = end + 1;
  ++line;
  if (inComment) {
    size_t close = s.find("*/");
    if (close == std::string_view::npos) {
      out = {};
      return true;
    }
    inComment = false;
    s = s.substr(close + 2);
  }
  bool quoted = false;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '"' && (i == 0 || s[i - 1] != '\\'))
      quoted = !quoted;
    if (quoted)
      continue;
    if (s[i] == ';' || s.substr(i, 2) == "//") {
      // One comment means something: which registers are undefined.
      constexpr std::string_view undefined = "; undefined lanes ";
      if (s.substr(i).starts_with(undefined) && trim(s.substr(0, i)).empty()) {
        uncommented = "undefined_lanes ";
        uncommented += s.substr(i + undefined.size());
        s = uncommented;
        break;
      }
      s = s.substr(0, i);
    } else if (s.substr(i, 2) == "/*") {
      size_t close = s.find("*/", i);
      inComment = close == std::string_view::npos;
      if (inComment) {
        s = s.substr(0, i);
        continue;
      }
      // What follows it on the line belongs to the statement.
      if (s.data() != uncommented.data())
        uncommented = s;
      uncommented.erase(i, close + 2 - i);
      s = uncommented;
      --i;
    }
  }
  out = trim(s);
  return true;
}

Kernel &Parser::kernel(std::string_view name) {
  for (Kernel &k : module.kernels)
    if (k.name == name)
      return k;
  Kernel k;
  k.name = std::string(name);
  k.loc = {line, 1};
  module.kernels.push_back(std::move(k));
  return module.kernels.back();
}

bool Parser::number(std::string_view s, int64_t &value) {
  if (parseInteger(s, value))
    return true;
  auto it = module.values.find(std::string(s));
  if (it == module.values.end())
    return false;
  value = it->second;
  return true;
}

bool Parser::label(std::string_view name) {
  std::string key(name);
  if (isIgnored)
    return true;
  if (module.labels.count(key))
    return error("the label '" + key + "' is there twice");
  if (inText) {
    module.labels[key] = uint32_t(module.body.size());
    if (std::find(functionNames.begin(), functionNames.end(), key) !=
        functionNames.end())
      functions.emplace_back(key, uint32_t(module.body.size()));
    return true;
  }
  module.variables.push_back({key, {}, writable});
  variable = &module.variables.back();
  return true;
}

bool Parser::kernelDirective(std::string_view name, std::string_view rest) {
  if (name == ".end_amdhsa_kernel") {
    open = nullptr;
    return true;
  }
  if (!name.starts_with(".amdhsa_"))
    return error("'" + std::string(name) + "' is no directive of a kernel");
  int64_t value = 0;
  // Sums of symbols are about resources, which the metadata has as numbers.
  if (number(rest, value))
    open->directives[std::string(name.substr(8))] = value;
  return true;
}

bool Parser::data(std::string_view name, std::string_view rest) {
  if (name == ".ascii" || name == ".asciz" || name == ".string") {
    std::string s = unquote(rest);
    for (size_t i = 0; i < s.size(); ++i) {
      char ch = s[i];
      if (ch == '\\' && i + 1 < s.size()) {
        ch = s[++i];
        if (ch >= '0' && ch <= '7') {
          unsigned value = 0, digits = 0;
          while (digits < 3 && i < s.size() && s[i] >= '0' && s[i] <= '7')
            value = value * 8 + unsigned(s[i] - '0'), ++i, ++digits;
          --i;
          ch = char(value);
        } else {
          ch = ch == 'n' ? '\n' : ch == 't' ? '\t' : ch == 'r' ? '\r' : ch;
        }
      }
      variable->bytes.push_back(std::byte(ch));
    }
    if (name != ".ascii")
      variable->bytes.push_back(std::byte(0));
    return true;
  }
  if (name == ".zero" || name == ".skip" || name == ".space") {
    int64_t count;
    if (!number(split(rest, ',')[0], count) || count < 0 || count > 1 << 26)
      return error("'" + std::string(rest) + "' is no number of bytes");
    variable->bytes.resize(variable->bytes.size() + size_t(count));
    return true;
  }
  unsigned size = name == ".byte"                                         ? 1
                  : name == ".short" || name == ".2byte"                  ? 2
                  : name == ".long" || name == ".4byte" || name == ".int" ? 4
                                                                          : 8;
  for (std::string_view part : split(rest, ',')) {
    int64_t value;
    if (!number(part, value))
      return error("'" + std::string(part) +
                   "' is not supported as the value of a variable");
    size_t end = variable->bytes.size();
    variable->bytes.resize(end + size);
    std::memcpy(variable->bytes.data() + end, &value, size);
  }
  return true;
}

/// .loc FILE LINE COLUMN ...
bool Parser::location(std::string_view rest) {
  int64_t value[3] = {0, 0, 0};
  for (int64_t &v : value)
    if (!parseInteger(takeWord(rest), v))
      break;
  module.sources.push_back(
      {unsigned(value[0]), unsigned(value[1]), unsigned(value[2])});
  return true;
}

/// .file NUMBER "directory" "name", or the name alone.
bool Parser::fileName(std::string_view rest) {
  int64_t index;
  if (!parseInteger(takeWord(rest), index))
    return true;
  std::string first, second;
  size_t close = rest.find('"', 1);
  if (!rest.starts_with('"') || close == std::string_view::npos)
    return true;
  first = std::string(rest.substr(1, close - 1));
  rest = trim(rest.substr(close + 1));
  close = rest.find('"', 1);
  if (rest.starts_with('"') && close != std::string_view::npos)
    second = std::string(rest.substr(1, close - 1));
  module.files[unsigned(index)] = second.empty() || second.starts_with('/')
                                      ? (second.empty() ? first : second)
                                      : first + "/" + second;
  return true;
}

bool Parser::metadata() {
  size_t begin = at, end = text.find(".end_amdgpu_metadata", at);
  uint32_t first = line;
  if (end == std::string_view::npos)
    return error(".amdgpu_metadata has no end");
  std::string_view ignored;
  while (at < end && nextLine(ignored))
    ;
  return parseMetadata(text.substr(begin, end - begin), first, module, diag);
}

bool Parser::directive(std::string_view name, std::string_view rest) {
  if (open)
    return kernelDirective(name, rest);
  if (name == ".amdgcn_target") {
    std::string target = unquote(rest);
    size_t start = target.rfind("gfx");
    if (start == std::string::npos)
      return error("unknown target '" + target + "'");
    module.target = target.substr(start, target.find(':', start) - start);
    return true;
  }
  if (name == ".amdhsa_kernel") {
    open = &kernel(rest);
    open->hasCode = true;
    return true;
  }
  if (name == ".amdgpu_metadata")
    return metadata();
  if (name == ".loc")
    return location(rest);
  if (name == ".file")
    return fileName(rest);
  if (name == ".text") {
    inText = true;
    isIgnored = false;
    return true;
  }
  if (name == ".section" || name == ".data" || name == ".rodata" ||
      name == ".bss") {
    std::string_view section = name == ".section" ? split(rest, ',')[0] : name;
    inText = section.starts_with(".text");
    isIgnored = !inText && !section.starts_with(".data") &&
                !section.starts_with(".rodata") && !section.starts_with(".bss");
    writable = section.starts_with(".data") || section.starts_with(".bss");
    variable = nullptr;
    return true;
  }
  if (name == ".type") {
    std::vector<std::string_view> parts = split(rest, ',');
    if (parts.size() == 2 && parts[1] == "@function")
      functionNames.push_back(std::string(parts[0]));
    return true;
  }
  if (name == ".set") {
    std::vector<std::string_view> parts = split(rest, ',');
    int64_t value;
    if (parts.size() == 2 && number(parts[1], value))
      module.values[std::string(parts[0])] = value;
    return true;
  }
  static const std::string_view values[] = {
      ".ascii", ".asciz", ".string", ".zero",  ".skip", ".space", ".byte",
      ".short", ".2byte", ".long",   ".4byte", ".int",  ".quad",  ".8byte"};
  if (std::find(std::begin(values), std::end(values), name) !=
      std::end(values)) {
    if (inText)
      return error("data between instructions is not supported");
    return isIgnored || !variable || data(name, rest);
  }
  static const std::string_view silent[] = {".p2align",
                                            ".p2alignl",
                                            ".balign",
                                            ".align",
                                            ".globl",
                                            ".global",
                                            ".hidden",
                                            ".protected",
                                            ".weak",
                                            ".size",
                                            ".ident",
                                            ".addrsig",
                                            ".addrsig_sym",
                                            ".amdhsa_code_object_version",
                                            ".amdgpu_lds",
                                            ".local",
                                            ".comm",
                                            ".fill",
                                            ".internal",
                                            ".amdgpu_hsa_kernel",
                                            ".uleb128",
                                            ".sleb128",
                                            ".amd_kernel_code_t"};
  if (name.starts_with(".cfi_") || name.starts_with(".amdgpu_info") ||
      std::find(std::begin(silent), std::end(silent), name) != std::end(silent))
    return true;
  return error("unknown directive '" + std::string(name) + "'");
}

bool Parser::modifier(std::string_view s, Instruction &in) {
  Modifier m;
  size_t colon = s.find(':');
  m.name = std::string(s.substr(0, colon));
  if (colon != std::string_view::npos) {
    std::string_view value = trim(s.substr(colon + 1));
    m.word = std::string(value);
    if (value.starts_with('[') && value.ends_with(']'))
      value = value.substr(1, value.size() - 2);
    for (std::string_view part : split(value, ',')) {
      int64_t n;
      if (number(part, n))
        m.values.push_back(n);
    }
  }
  in.modifiers.push_back(std::move(m));
  return true;
}

bool Parser::instruction(std::string_view s) {
  // v_dual_a ... :: v_dual_b ...: two instructions in one.
  Instruction in;
  in.loc = {line, 1};
  in.source = int(module.sources.size()) - 1;
  in.opcode = std::string(takeWord(s));
  static const std::string_view encodings[] = {"_e64_dpp", "_e32", "_e64",
                                               "_dpp", "_sdwa"};
  for (std::string_view e : encodings)
    if (in.opcode.starts_with("v_") && in.opcode.ends_with(e)) {
      in.opcode.resize(in.opcode.size() - e.size());
      in.encoding = std::string(e.substr(e.rfind('_') + 1));
      break;
    }
  // What follows is one word of another grammar.
  if (in.opcode == "s_delay_alu" || in.opcode.starts_with("s_wait") ||
      in.opcode == "s_sendmsg" || in.opcode == "s_sendmsghalt") {
    if (!s.empty())
      for (std::string_view part : split(s, ','))
        if (!parseOperand(part, in.loc, in.operands.emplace_back(), diag))
          return false;
    module.body.push_back(std::move(in));
    return true;
  }
  if (!s.empty())
    for (std::string_view part : split(s, ',')) {
      std::vector<std::string_view> words;
      for (std::string_view word : split(part, ' '))
        if (!word.empty())
          words.push_back(word);
      // An operand, then modifiers; or modifiers alone after a comma.
      for (size_t i = 0; i < words.size(); ++i) {
        std::string_view word = words[i];
        bool isOperand = i == 0 && (word.find(':') == std::string_view::npos ||
                                    word.find('[') < word.find(':'));
        if (!isOperand) {
          if (!modifier(word, in))
            return false;
          continue;
        }
        in.operands.emplace_back();
        Loc loc{line, 1};
        if (!parseOperand(word, loc, in.operands.back(), diag))
          return false;
      }
      if (words.empty())
        return error("an operand is missing");
    }
  module.body.push_back(std::move(in));
  return true;
}

bool Parser::statement(std::string_view s) {
  // Labels stand before anything else.
  while (true) {
    size_t colon = s.find(':');
    if (colon == std::string_view::npos ||
        s.substr(0, colon).find_first_of(" \t\"[(,") != std::string_view::npos)
      break;
    if (!label(s.substr(0, colon)))
      return false;
    s = trim(s.substr(colon + 1));
    if (s.empty())
      return true;
  }
  if (s.starts_with('.')) {
    std::string_view rest = s, name = takeWord(rest);
    return directive(name, rest);
  }
  if (!inText)
    return error("an instruction outside of .text");
  size_t pair = s.find(" :: ");
  if (pair == std::string_view::npos)
    return instruction(s);
  if (!instruction(trim(s.substr(0, pair))))
    return false;
  module.body.back().encoding = "dual";
  return instruction(trim(s.substr(pair + 4)));
}

/// Where the code ends that begins at an instruction: at the next function.
uint32_t Parser::endOf(uint32_t first) const {
  auto end = uint32_t(module.body.size());
  for (const Kernel &other : module.kernels) {
    auto next = module.labels.find(other.name);
    if (next != module.labels.end() && next->second > first)
      end = std::min(end, next->second);
  }
  for (auto &[name, next] : functions)
    if (next > first)
      end = std::min(end, next);
  return end;
}

/// Where each kernel's code begins and ends.
bool Parser::finish() {
  if (open)
    return diag.error(open->loc, "the kernel descriptor of '" + open->name +
                                     "' has no .end_amdhsa_kernel");
  if (module.target.empty())
    return diag.error({1, 1}, "there is no .amdgcn_target");
  std::erase_if(module.kernels, [](const Kernel &k) { return !k.hasCode; });
  for (Kernel &k : module.kernels) {
    auto it = module.labels.find(k.name);
    if (it == module.labels.end())
      return diag.error(k.loc, "the kernel '" + k.name + "' has no code");
    k.first = it->second;
    k.end = endOf(k.first);
    if (k.first == k.end)
      return diag.error(k.loc, "the kernel '" + k.name + "' has no code");
  }
  for (auto &[name, first] : functions) {
    bool isKernel = false;
    for (const Kernel &k : module.kernels)
      isKernel |= k.first == first;
    if (!isKernel && endOf(first) > first)
      module.functions.emplace_back(first, endOf(first));
  }
  return true;
}

bool Parser::run() {
  std::string_view s;
  while (nextLine(s))
    if (!s.empty() && !statement(s))
      return false;
  return finish() && applyRegisterModes(module, diag);
}

bool tile::sim::amdgcn::parseAssembly(std::string_view text, Assembly &module,
                                      Diagnostic &diag) {
  return Parser(text, module, diag).run();
}

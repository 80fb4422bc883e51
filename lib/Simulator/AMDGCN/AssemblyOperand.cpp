//===-- AssemblyOperand.cpp - Registers, numbers, symbols -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Assembly.h"

#include <cerrno>
#include <cstdlib>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

bool tile::sim::amdgcn::parseInteger(std::string_view text, int64_t &value) {
  bool negative = text.starts_with('-');
  if (negative)
    text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X"))
    base = 16, text.remove_prefix(2);
  else if (text.starts_with("0b"))
    base = 2, text.remove_prefix(2);
  if (text.empty() || text.size() > 64)
    return false;
  uint64_t sum = 0;
  for (char ch : text) {
    int digit = ch >= '0' && ch <= '9'   ? ch - '0'
                : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
                : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                         : 99;
    if (digit >= base ||
        sum > (~uint64_t(0) - uint64_t(digit)) / uint64_t(base))
      return false;
    sum = sum * uint64_t(base) + uint64_t(digit);
  }
  value = int64_t(negative ? 0 - sum : sum);
  return true;
}

static bool isDigit(char ch) { return ch >= '0' && ch <= '9'; }
static bool isNameChar(char ch) {
  return isDigit(ch) || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
         ch == '_' || ch == '.' || ch == '$';
}

static bool parseReal(std::string_view text, double &value) {
  if (text.find_first_of(".eE") == std::string_view::npos ||
      text.find_first_not_of("0123456789.eE+-") != std::string_view::npos ||
      !(isDigit(text.back()) || text.back() == '.') || !isDigit(text[0]))
    return false;
  std::string copy(text);
  char *end = nullptr;
  value = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size();
}

/// `[4:7]` or `[4]` or, of one register, `4`.
static bool parseRange(std::string_view text, uint32_t &first,
                       uint32_t &count) {
  int64_t low, high;
  bool range = text.starts_with('[') && text.ends_with(']');
  if (range)
    text = text.substr(1, text.size() - 2);
  size_t colon = range ? text.find(':') : std::string_view::npos;
  if (text.empty() || !isDigit(text[0]) ||
      !parseInteger(text.substr(0, colon), low))
    return false;
  high = low;
  if (colon != std::string_view::npos &&
      !parseInteger(text.substr(colon + 1), high))
    return false;
  // Ranges of gfx1250 may end behind the last register that one has a name for.
  if (high < low || low > 255 || high - low > 31)
    return false;
  first = uint32_t(low);
  count = uint32_t(high - low + 1);
  return true;
}

static bool parseNamed(std::string_view text, Operand &o) {
  struct Name {
    const char *text;
    uint32_t reg, count;
  };
  static const Name names[] = {
      {"vcc", Vcc, 2},
      {"vcc_lo", Vcc, 1},
      {"vcc_hi", Vcc + 1, 1},
      {"exec", Exec, 2},
      {"exec_lo", Exec, 1},
      {"exec_hi", Exec + 1, 1},
      {"m0", M0, 1},
      {"null", Null, 1},
      {"scc", Scc, 1},
      {"src_scc", Scc, 1},
      {"flat_scratch", FlatScratch, 2},
      {"flat_scratch_lo", FlatScratch, 1},
      {"flat_scratch_hi", FlatScratch + 1, 1},
      {"xnack_mask", XnackMask, 2},
      {"xnack_mask_lo", XnackMask, 1},
      {"xnack_mask_hi", XnackMask + 1, 1},
  };
  for (const Name &n : names)
    if (text == n.text) {
      o.kind = Operand::Kind::Register;
      o.file = File::Scalar;
      o.reg = n.reg;
      o.count = n.count;
      return true;
    }
  return false;
}

/// A register of a file, or a range of them.
static bool parseNumbered(std::string_view text, Operand &o) {
  struct Prefix {
    const char *text;
    File file;
    uint32_t base, limit;
  };
  static const Prefix prefixes[] = {{"ttmp", File::Scalar, Ttmp, 16},
                                    {"s", File::Scalar, 0, 106},
                                    {"v", File::Vector, 0, 256 + 31},
                                    {"a", File::Accumulator, 0, 256}};
  int8_t half = -1;
  std::string_view number = text;
  if (text.size() > 2 && (text.ends_with(".l") || text.ends_with(".h"))) {
    half = text.back() == 'h';
    number.remove_suffix(2);
  }
  for (const Prefix &p : prefixes) {
    if (!number.starts_with(p.text))
      continue;
    uint32_t first, count;
    if (!parseRange(number.substr(std::string_view(p.text).size()), first,
                    count) ||
        first + count > p.limit)
      continue;
    if (half >= 0 && (p.file != File::Vector || count != 1))
      return false;
    o.kind = Operand::Kind::Register;
    o.file = p.file;
    o.reg = p.base + first;
    o.count = count;
    o.half = half;
    return true;
  }
  return false;
}

/// `[s4, s5]`: registers one by one, which must follow each other.
static bool parseList(std::string_view text, Operand &o) {
  text = text.substr(1, text.size() - 2);
  bool first = true;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view one = text.substr(0, comma);
    while (one.starts_with(' '))
      one.remove_prefix(1);
    Operand part;
    if (!parseNamed(one, part) && !parseNumbered(one, part))
      return false;
    if (first)
      o.file = part.file, o.reg = part.reg, o.count = part.count;
    else if (part.file != o.file || part.reg != o.reg + o.count)
      return false;
    else
      o.count += part.count;
    first = false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  o.kind = Operand::Kind::Register;
  return !first;
}

bool tile::sim::amdgcn::parseOperand(std::string_view text, Loc loc, Operand &o,
                                     Diagnostic &diag) {
  o.loc = loc;
  o.text = std::string(text);
  auto wrapped = [&](const char *name) {
    std::string_view prefix = name;
    if (!text.starts_with(prefix) || !text.ends_with(')'))
      return false;
    text = text.substr(prefix.size(), text.size() - prefix.size() - 1);
    return true;
  };
  // Signs of literals belong to the number.
  if (text.size() > 1 && text[0] == '-' && !isDigit(text[1])) {
    o.negated = true;
    text.remove_prefix(1);
  } else if (wrapped("neg(")) {
    o.negated = true;
  }
  if (text.size() > 2 && text.front() == '|' && text.back() == '|') {
    o.absolute = true;
    text = text.substr(1, text.size() - 2);
  } else if (wrapped("abs(")) {
    o.absolute = true;
  }
  if (wrapped("sext("))
    o.extended = true;
  if (wrapped("lit64("))
    o.isWide = true;
  else
    wrapped("lit(");
  if (text.empty())
    return diag.error(loc, "an operand is missing");
  if (parseInteger(text, o.imm)) {
    o.kind = Operand::Kind::Integer;
    return true;
  }
  bool negative = text[0] == '-';
  if (parseReal(negative ? text.substr(1) : text, o.real)) {
    o.kind = Operand::Kind::Float;
    o.real = negative ? -o.real : o.real;
    return true;
  }
  if (parseNamed(text, o) || parseNumbered(text, o))
    return true;
  if (text.front() == '[' && text.back() == ']') {
    if (parseList(text, o))
      return true;
    return diag.error(loc, "'" + o.text + "' is no list of registers");
  }
  // Registers out of range are nothing else.
  if (text.size() > 1 && (text[0] == 'v' || text[0] == 's' || text[0] == 'a') &&
      (text[1] == '[' || isDigit(text[1])))
    return diag.error(loc, "there is no register '" + std::string(text) + "'");
  size_t at = text.find('@');
  std::string_view name = text.substr(0, at);
  bool isName = !name.empty() && !isDigit(name[0]);
  for (char ch : name)
    isName &= isNameChar(ch);
  o.kind = isName ? Operand::Kind::Symbol : Operand::Kind::Word;
  if (isName && at != std::string_view::npos) {
    o.suffix = std::string(text.substr(at + 1));
    o.text = std::string(name);
  }
  return true;
}

//===-- assembly_mutator.cpp - Mutations that keep assembly in shape ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// libFuzzer's own mutations change bytes: nearly every text then ends in the
// lexer. These change statements, operands and mnemonics, with words of the
// decoders' tables and of the texts seen so far, so that many texts load and
// run. A quarter is left to libFuzzer.
//
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/// Words of the simulator's parsers and decoders (dictionary.py).
static constexpr std::string_view dictionary[] = {
#include "dictionary.inc"
};

/// Where tests of limits look first.
static constexpr const char *numbers[] = {
    "0",          "1",          "-1",
    "2",          "3",          "4",
    "7",          "8",          "15",
    "16",         "31",         "32",
    "33",         "63",         "64",
    "127",        "128",        "255",
    "256",        "1024",       "4095",
    "65535",      "65536",      "2147483647",
    "-8",         "-4096",      "1 << 4",
    "0x7fffffff", "0xffffffff", "0x8000000000000000",
    "1.0",        "0.5",        "-4.0",
    "0f7f800000", "0f7fc00000", "9223372036854775807"};

namespace {
struct Range {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

/// Up to `Most` different strings; later ones replace earlier ones at random.
class Pool {
public:
  void add(std::string_view text, std::mt19937 &rng) {
    static constexpr size_t Most = 4096;
    if (text.size() > 200 || !known.insert(std::string(text)).second)
      return;
    if (items.size() < Most) {
      items.emplace_back(text);
      return;
    }
    std::string &old = items[rng() % Most];
    known.erase(old);
    old = text;
  }
  bool empty() const { return items.empty(); }
  const std::string &pick(std::mt19937 &rng) const {
    return items[rng() % items.size()];
  }

private:
  std::vector<std::string> items;
  std::unordered_set<std::string> known;
};

bool isWordChar(char c) {
  return std::isalnum(uint8_t(c)) || std::strchr("_.%$:", c);
}

/// Statements, each with what ends it.
std::vector<Range> statementsOf(std::string_view text) {
  std::vector<Range> found;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find_first_of(";\n{}", at);
    end = end == text.npos ? text.size() : end + 1;
    found.push_back({at, end});
    at = end;
  }
  return found;
}

std::vector<Range> wordsOf(std::string_view text, Range in) {
  std::vector<Range> found;
  for (size_t at = in.begin; at < in.end; ++at) {
    if (!isWordChar(text[at]) || !text[at])
      continue;
    size_t end = at;
    while (end < in.end && text[end] && isWordChar(text[end]))
      ++end;
    found.push_back({at, end});
    at = end;
  }
  return found;
}

/// The first word that is no predicate and no label; or words.size().
size_t mnemonicOf(std::string_view text, const std::vector<Range> &words) {
  size_t i = 0;
  while (i < words.size() &&
         (text[words[i].begin] == '%' || text[words[i].begin] == '$' ||
          text[words[i].end - 1] == ':'))
    ++i;
  return i;
}

class Mutator {
public:
  std::mt19937 rng;

  void learn(std::string_view text);
  void mutate(std::string &text);

private:
  Pool mnemonics, operands, statements;

  size_t below(size_t n) { return rng() % (n ? n : 1); }
  std::string_view word() { return dictionary[below(std::size(dictionary))]; }
  std::string operand();
  void changeMnemonic(std::string &text, Range word);
  void changeNumber(std::string &text, Range word);
};
} // namespace

void Mutator::learn(std::string_view text) {
  for (Range statement : statementsOf(text)) {
    std::vector<Range> words = wordsOf(text, statement);
    size_t first = mnemonicOf(text, words);
    if (first == words.size())
      continue;
    statements.add(text.substr(statement.begin, statement.size()), rng);
    mnemonics.add(text.substr(words[first].begin, words[first].size()), rng);
    for (size_t i = first + 1; i < words.size(); ++i)
      operands.add(text.substr(words[i].begin, words[i].size()), rng);
  }
}

std::string Mutator::operand() {
  if (operands.empty() || !below(3))
    return numbers[below(std::size(numbers))];
  return operands.pick(rng);
}

/// Another mnemonic, or this one with a modifier more, less or changed.
void Mutator::changeMnemonic(std::string &text, Range word) {
  std::string name = text.substr(word.begin, word.size());
  std::vector<size_t> dots;
  for (size_t i = 1; i < name.size(); ++i)
    if (name[i] == '.')
      dots.push_back(i);
  switch (below(5)) {
  case 0:
    if (!mnemonics.empty())
      name = mnemonics.pick(rng);
    break;
  case 1:
    name = this->word();
    break;
  case 2:
    if (!dots.empty()) {
      size_t at = dots[below(dots.size())];
      name.erase(at, name.find('.', at + 1) - at);
    }
    break;
  case 3:
    if (!dots.empty()) {
      size_t at = dots[below(dots.size())] + 1;
      name.replace(at, name.find('.', at) - at, this->word());
    }
    break;
  default:
    name.insert(dots.empty() ? name.size() : dots[below(dots.size())],
                "." + std::string(this->word()));
  }
  text.replace(word.begin, word.size(), name);
}

/// Another number in the place of a word's last digits.
void Mutator::changeNumber(std::string &text, Range word) {
  size_t begin = word.end;
  while (begin > word.begin && std::isdigit(uint8_t(text[begin - 1])))
    --begin;
  if (begin == word.end)
    return;
  text.replace(begin, word.end - begin,
               below(2) ? numbers[below(std::size(numbers))]
                        : std::to_string(below(300)));
}

void Mutator::mutate(std::string &text) {
  std::vector<Range> all = statementsOf(text);
  if (all.empty())
    return;
  Range statement = all[below(all.size())], other = all[below(all.size())];
  std::string copy = text.substr(other.begin, other.size());
  switch (below(10)) {
  case 0:
    text.insert(statement.begin, copy);
    return;
  case 1:
    text.erase(statement.begin, statement.size());
    return;
  case 2:
    text.replace(statement.begin, statement.size(), copy);
    return;
  case 3:
  case 4:
    if (!statements.empty())
      text.insert(statement.begin, statements.pick(rng));
    return;
  default:
    break;
  }
  std::vector<Range> words = wordsOf(text, statement);
  size_t first = mnemonicOf(text, words);
  if (first == words.size())
    return;
  Range word = words[first + below(words.size() - first)];
  switch (below(4)) {
  case 0:
    return changeMnemonic(text, words[first]);
  case 1:
    return changeNumber(text, word);
  case 2:
    if (words.size() > first + 1) {
      word = words[first + 1 + below(words.size() - first - 1)];
      text.replace(word.begin, word.size(), operand());
    }
    return;
  default:
    text.insert(word.end, below(2) ? ", " + operand() : " " + operand());
  }
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  static Mutator mutator;
  mutator.rng.seed(seed);
  std::string text(reinterpret_cast<const char *>(data), size);
  if (mutator.rng() % 8 == 0)
    mutator.learn(text);
  if (mutator.rng() % 4 == 0)
    return LLVMFuzzerMutate(data, size, most);
  for (size_t rounds = 1 + mutator.rng() % 4; rounds--;)
    mutator.mutate(text);
  size = std::min(text.size(), most);
  std::memcpy(data, text.data(), size);
  return size;
}

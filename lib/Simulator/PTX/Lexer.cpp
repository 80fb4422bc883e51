//===-- Lexer.cpp - Tokens of PTX -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Lexer.h"

#include <cstdlib>
#include <cstring>
#include <string>

using namespace tile::sim;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isAlpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static bool isNameStart(char c) {
  return isAlpha(c) || c == '_' || c == '$' || c == '%';
}
static bool isNameChar(char c) {
  return isAlpha(c) || isDigit(c) || c == '_' || c == '$';
}
static int hexValue(char c) {
  if (isDigit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void Lexer::advance() {
  if (text[pos] == '\n') {
    ++line;
    column = 0;
  }
  ++column;
  ++pos;
}

/// Skips white space and comments; true if there was any.
bool Lexer::skipBlank() {
  size_t start = pos;
  while (pos < text.size()) {
    char c = text[pos];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0' ||
        c == '\f' || c == '\v') {
      advance();
    } else if (c == '/' && at(1) == '/') {
      while (pos < text.size() && text[pos] != '\n')
        advance();
    } else if (c == '/' && at(1) == '*') {
      advance();
      advance();
      while (pos < text.size() && !(text[pos] == '*' && at(1) == '/'))
        advance();
      if (pos >= text.size())
        problem = "the file ends in a comment";
      for (int i = 0; i < 2 && pos < text.size(); ++i)
        advance();
    } else {
      break;
    }
  }
  return pos != start || pos == 0;
}

/// Integers (0x, 0b, octal, decimal, optional U), 0f/0d bit patterns, decimal
/// reals.
Token Lexer::number() {
  Token token;
  token.kind = Token::Kind::Int;
  size_t start = pos;
  auto digits = [&](int base) {
    uint64_t value = 0;
    while (hexValue(at()) >= 0 && hexValue(at()) < base) {
      uint64_t digit = uint64_t(hexValue(at()));
      if (value > (UINT64_MAX - digit) / uint64_t(base))
        token.problem = "the integer does not fit into 64 bits";
      value = value * uint64_t(base) + digit;
      advance();
    }
    return value;
  };
  if (at() == '0' &&
      (at(1) == 'f' || at(1) == 'F' || at(1) == 'd' || at(1) == 'D')) {
    bool single = at(1) == 'f' || at(1) == 'F';
    advance();
    advance();
    size_t first = pos;
    token.imm = int64_t(digits(16));
    token.kind = single ? Token::Kind::F32 : Token::Kind::F64;
    if (pos - first != (single ? 8u : 16u))
      token.kind = Token::Kind::Bad;
  } else if (at() == '0' && (at(1) == 'x' || at(1) == 'X')) {
    advance();
    advance();
    size_t first = pos;
    token.imm = int64_t(digits(16));
    if (pos == first)
      token.kind = Token::Kind::Bad;
  } else if (at() == '0' && (at(1) == 'b' || at(1) == 'B')) {
    advance();
    advance();
    token.imm = int64_t(digits(2));
  } else {
    bool octal = at() == '0' && isDigit(at(1));
    size_t first = pos;
    // A real number may begin as an octal one does.
    Loc before{line, column};
    uint64_t value = digits(10);
    bool real = (at() == '.' && isDigit(at(1))) ||
                ((at() == 'e' || at() == 'E') &&
                 (isDigit(at(1)) ||
                  ((at(1) == '-' || at(1) == '+') && isDigit(at(2)))));
    if (at() == '.' && !isNameStart(at(1)))
      real = true;
    if (real) {
      token.problem = nullptr;
      if (at() == '.')
        advance();
      while (isDigit(at()))
        advance();
      if (at() == 'e' || at() == 'E') {
        advance();
        if (at() == '+' || at() == '-')
          advance();
        while (isDigit(at()))
          advance();
      }
      token.kind = Token::Kind::Real;
      token.real = std::strtod(
          std::string(text.substr(first, pos - first)).c_str(), nullptr);
    } else if (octal) {
      pos = first;
      line = before.line;
      column = before.column;
      token.problem = nullptr;
      token.imm = int64_t(digits(8));
    } else {
      token.imm = int64_t(value);
    }
  }
  if (token.kind == Token::Kind::Int && (at() == 'U' || at() == 'u')) {
    token.isUnsigned = true;
    advance();
  }
  // Digits of another base, a second point, letters: no number goes on so.
  if (isNameChar(at()) || (at() == '.' && isDigit(at(1))) ||
      token.kind == Token::Kind::Bad)
    token.problem = "malformed number";
  token.text = text.substr(start, pos - start);
  return token;
}

Token Lexer::next() {
  bool space = skipBlank();
  Token token;
  Loc loc{line, column};
  if (pos >= text.size()) {
    token.loc = loc;
    token.problem = problem;
    return token;
  }
  char c = text[pos];
  size_t start = pos;
  if (isDigit(c)) {
    token = number();
  } else if (isNameStart(c)) {
    advance();
    while (isNameChar(at()))
      advance();
    token.kind = Token::Kind::Name;
    token.text = text.substr(start, pos - start);
  } else if (c == '.' && (isNameChar(at(1)))) {
    // A directive, a type or a modifier: ".L1::evict_last" is one of them.
    advance();
    while (isNameChar(at()) ||
           (at() == ':' && at(1) == ':' && isNameChar(at(2)))) {
      if (at() == ':')
        advance();
      advance();
    }
    token.kind = Token::Kind::Directive;
    token.text = text.substr(start + 1, pos - start - 1);
  } else if (c == '"') {
    advance();
    while (pos < text.size() && text[pos] != '"')
      advance();
    token.kind = pos < text.size() ? Token::Kind::String : Token::Kind::Bad;
    token.text = text.substr(start + 1, pos - start - 1);
    if (pos < text.size())
      advance();
  } else {
    token.kind = std::strchr("{}()[]<>,;:@!|+-*/=&^~?%", c) ? Token::Kind::Punct
                                                            : Token::Kind::Bad;
    token.text = text.substr(pos, 1);
    // A message that quotes a part of a character would be no text.
    if (static_cast<unsigned char>(c) >= 0x80) {
      token.text = "?";
      token.problem = "a character that is not ASCII";
    }
    advance();
  }
  token.loc = loc;
  token.spaceBefore = space;
  return token;
}

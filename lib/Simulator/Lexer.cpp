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
      value = value * base + hexValue(at());
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
    uint64_t value = digits(10);
    bool real = (at() == '.' && isDigit(at(1))) ||
                ((at() == 'e' || at() == 'E') &&
                 (isDigit(at(1)) ||
                  ((at(1) == '-' || at(1) == '+') && isDigit(at(2)))));
    if (at() == '.' && !isNameStart(at(1)))
      real = true;
    if (real) {
      while (isDigit(at()) || at() == '.')
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
      token.imm = int64_t(std::strtoull(
          std::string(text.substr(first, pos - first)).c_str(), nullptr, 8));
    } else {
      token.imm = int64_t(value);
    }
  }
  if (token.kind == Token::Kind::Int && (at() == 'U' || at() == 'u')) {
    token.isUnsigned = true;
    advance();
  }
  token.text = text.substr(start, pos - start);
  return token;
}

Token Lexer::next() {
  bool space = skipBlank();
  Token token;
  Loc loc{line, column};
  if (pos >= text.size()) {
    token.loc = loc;
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
    advance();
  }
  token.loc = loc;
  token.spaceBefore = space;
  return token;
}

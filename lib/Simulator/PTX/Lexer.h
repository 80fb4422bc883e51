//===-- Lexer.h - Tokens of PTX -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "tile/Simulator/Diagnostic.h"

#include <string_view>

namespace tile::sim {

struct Token {
  enum class Kind : uint8_t {
    End,
    Name,
    Directive,
    Int,
    F32,
    F64,
    Real,
    String,
    Punct,
    Bad
  };
  Kind kind = Kind::End;
  bool isUnsigned = false;
  Loc loc;
  std::string_view text; ///< Name: whole name; Directive: without the dot;
                         ///< Punct: one character
  int64_t imm = 0;       ///< value of Int, bits of F32/F64
  double real = 0;
  /// What is wrong with the token, if anything is.
  const char *problem = nullptr;
  /// True if white space (or the file's start) comes before the token.
  bool spaceBefore = false;

  bool is(char c) const { return kind == Kind::Punct && text[0] == c; }
};

/// Splits the text on demand; keeps exactly one token of lookahead in the
/// parser.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}
  Token next();

private:
  bool skipBlank();
  Token number();
  char at(size_t ahead = 0) const {
    return pos + ahead < text.size() ? text[pos + ahead] : '\0';
  }
  void advance();

  std::string_view text;
  const char *problem = nullptr; ///< of the white space before the next token
  size_t pos = 0;
  uint32_t line = 1, column = 1;
};

} // namespace tile::sim

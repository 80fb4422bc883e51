//===-- ParserImpl.h - The recursive-descent PTX parser -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Lexer.h"
#include "tile/Simulator/Parser.h"

namespace tile::sim {

/// All methods return false after the first error, which `diag` then holds.
class Parser {
public:
  Parser(std::string_view text, ast::Module &module, Diagnostic &diag)
      : lexer(text), module(module), diag(diag) {
    bump();
  }
  bool parse();

private:
  // Tokens (Parser.cpp).
  void bump() {
    token = lexer.next();
    if (token.problem)
      error(token.problem);
  }
  bool error(const std::string &message) {
    return diag.error(token.loc, message);
  }
  bool accept(char c);
  bool expect(char c);
  bool acceptDirective(std::string_view name);
  bool integer(int64_t &value);
  bool name(std::string &value);
  bool skipTo(char c);
  bool skipBraces();

  // Module level (ParserDirectives.cpp).
  bool topLevel();
  bool version();
  bool target();
  bool file();
  bool linkage();
  bool variableDecl(Space space, bool isExtern, ast::Function *function);
  bool declarator(ast::Variable variable, ast::Function *function);
  bool arrayDims(ast::Variable &variable);
  bool initializer(std::vector<ast::InitValue> &values);
  bool isDeclared(const std::string &name) const;
  bool initValue(ast::InitValue &value);
  bool attributes(ast::Variable &variable);
  bool function(bool isEntry, bool isExtern);
  bool params(ast::Function &function, std::vector<int> &out);
  bool performance(ast::Function &function);
  bool dims(std::array<unsigned, 3> &out);

  // Function bodies (Parser.cpp).
  bool body(ast::Function &function);
  bool bodyDirective(ast::Function &function, std::string &pendingLabel);
  bool sourceLoc(ast::Function &function);
  bool statement(ast::Function &function, std::string &pendingLabel);
  bool instruction(ast::Function &function);
  bool operand(ast::Function &function, ast::Operand &operand);
  bool primary(ast::Function &function, ast::Operand &operand);
  bool address(ast::Function &function, ast::Operand &operand);
  bool list(ast::Function &function, ast::Operand &operand, char close);
  /// False after an error: the scope has the name already.
  bool declare(ast::Function &function, ast::Variable variable);
  bool isNew(const ast::Function &function, const std::string &name, Loc loc);
  static const ast::Variable *rangeOf(const ast::Scope &at,
                                      const std::string &name);
  int lookup(ast::Function &function, const std::string &name);

  Lexer lexer;
  Token token;
  ast::Module &module;
  Diagnostic &diag;
  int scope = 0;
  int depth = 0;
};

} // namespace tile::sim

//===-- Parser.cpp - Function bodies of PTX -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"

using namespace tile::sim;
using Kind = Token::Kind;

bool tile::sim::parseModule(std::string_view text, ast::Module &module,
                            Diagnostic &diag) {
  return Parser(text, module, diag).parse() && !diag.isSet();
}

//===-- Tokens ------------------------------------------------------------===//

bool Parser::accept(char c) {
  if (!token.is(c))
    return false;
  bump();
  return true;
}

bool Parser::expect(char c) {
  if (accept(c))
    return true;
  if (token.kind == Kind::End)
    return error(std::string("expected '") + c +
                 "' before the end of the file");
  return error(std::string("expected '") + c + "' but found '" +
               std::string(token.text) + "'");
}

bool Parser::acceptDirective(std::string_view name) {
  if (token.kind != Kind::Directive || token.text != name)
    return false;
  bump();
  return true;
}

bool Parser::integer(int64_t &value) {
  bool negative = accept('-');
  if (token.kind != Kind::Int)
    return error("expected an integer");
  value = negative ? int64_t(0 - uint64_t(token.imm)) : token.imm;
  bump();
  return true;
}

bool Parser::name(std::string &value) {
  if (token.kind != Kind::Name)
    return error("expected a name");
  value = token.text;
  bump();
  return true;
}

bool Parser::skipTo(char c) {
  while (token.kind != Kind::End && !token.is(c))
    bump();
  return expect(c);
}

bool Parser::skipBraces() {
  if (!expect('{'))
    return false;
  for (int open = 1; open > 0; bump()) {
    if (token.kind == Kind::End)
      return error("expected '}' before the end of the file");
    if (token.is('{'))
      ++open;
    else if (token.is('}'))
      --open;
  }
  return true;
}

//===-- Symbols -----------------------------------------------------------===//

bool Parser::isNew(const ast::Function &function, const std::string &name,
                   Loc loc) {
  const ast::Scope &at = function.scopes[scope];
  if (!at.names.count(name) && !at.ranges.count(name) && !rangeOf(at, name))
    return true;
  return diag.error(loc, "'" + name + "' is declared twice");
}

bool Parser::declare(ast::Function &function, ast::Variable variable) {
  if (!isNew(function, variable.name, variable.loc))
    return false;
  function.scopes[scope].names[variable.name] = int(function.symbols.size());
  function.symbols.push_back(std::move(variable));
  return true;
}

/// The range (%r<9>) that a name is a member of, or null. "%r10" may be member
/// 10 of %r<> or member 0 of %r1<>.
const ast::Variable *Parser::rangeOf(const ast::Scope &at,
                                     const std::string &name) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  for (size_t cut = digits; cut < name.size() && name.size() - cut <= 9; ++cut)
    if (auto it = at.ranges.find(name.substr(0, cut)); it != at.ranges.end())
      if (unsigned member = unsigned(std::stoul(name.substr(cut)));
          member < it->second.second)
        return &it->second.first;
  return nullptr;
}

/// Finds a name through the enclosing scopes; members of a range (%r<9>) become
/// symbols on first use.
int Parser::lookup(ast::Function &function, const std::string &name) {
  for (int s = scope; s >= 0; s = function.scopes[s].parent) {
    ast::Scope &at = function.scopes[s];
    if (auto it = at.names.find(name); it != at.names.end())
      return it->second;
    if (const ast::Variable *range = rangeOf(at, name)) {
      ast::Variable member = *range;
      member.name = name;
      int index = int(function.symbols.size());
      at.names[name] = index;
      function.symbols.push_back(std::move(member));
      return index;
    }
  }
  return -1;
}

//===-- Bodies ------------------------------------------------------------===//

bool Parser::body(ast::Function &function) {
  if (!expect('{'))
    return false;
  int outer = scope;
  std::string pendingLabel;
  for (int open = 1; open > 0;) {
    if (token.kind == Kind::End)
      return error("expected '}' before the end of the file");
    if (accept('{')) {
      if (++open > 200)
        return error("blocks are nested too deeply");
      function.scopes.emplace_back().parent = scope;
      scope = int(function.scopes.size()) - 1;
    } else if (accept('}')) {
      --open;
      if (open > 0)
        scope = function.scopes[scope].parent;
    } else if (token.kind == Kind::Directive) {
      if (!bodyDirective(function, pendingLabel))
        return false;
    } else if (!statement(function, pendingLabel)) {
      return false;
    }
  }
  scope = outer;
  return true;
}

bool Parser::bodyDirective(ast::Function &function, std::string &pendingLabel) {
  static const std::pair<std::string_view, Space> spaces[] = {
      {"reg", Space::Reg},       {"local", Space::Local},
      {"shared", Space::Shared}, {"param", Space::Param},
      {"global", Space::Global}, {"const", Space::Const}};
  for (auto [spelling, space] : spaces)
    if (acceptDirective(spelling))
      return variableDecl(space, false, &function);
  if (acceptDirective("loc"))
    return sourceLoc(function);
  if (acceptDirective("branchtargets") || acceptDirective("calltargets")) {
    auto &targets = function.scopes[scope].targetLists[pendingLabel];
    do {
      if (!name(targets.emplace_back()))
        return false;
    } while (accept(','));
    return expect(';');
  }
  if (acceptDirective("callprototype") || acceptDirective("pragma"))
    return skipTo(';');
  if (acceptDirective("file"))
    return file();
  return error("unknown directive '." + std::string(token.text) +
               "' in a function body");
}

/// The last place of a function with this file, line and column, or null.
static const ast::SourceLoc *findPlace(const ast::Function &function,
                                       const ast::SourceLoc &like) {
  for (auto at = function.sources.rbegin(), end = function.sources.rend();
       at != end && at - function.sources.rbegin() < 64; ++at)
    if (at->file == like.file && at->line == like.line &&
        at->column == like.column)
      return &*at;
  return nullptr;
}

/// .loc FILE LINE COLUMN [, function_name LABEL[+N], inlined_at FILE LINE
/// COLUMN]
bool Parser::sourceLoc(ast::Function &function) {
  auto place = [&](ast::SourceLoc &loc) {
    int64_t file = 0, line = 0, column = 0;
    if (!integer(file) || !integer(line) || !integer(column))
      return false;
    loc.file = unsigned(file);
    loc.line = unsigned(line);
    loc.column = unsigned(column);
    return true;
  };
  ast::SourceLoc loc;
  if (!place(loc))
    return false;
  loc.outermostFile = loc.file;
  if (loc.line == 0 && !function.sources.empty() &&
      function.sources.back().file == loc.file) {
    // Code without a line of its own is where the code before it is.
    ast::SourceLoc before = function.sources.back();
    before.line = 0;
    before.column = loc.column;
    loc = before;
  }
  while (accept(',')) {
    std::string what;
    if (!name(what))
      return false;
    if (what == "inlined_at") {
      ast::SourceLoc call;
      if (!place(call))
        return false;
      // Compilers state a call's place, and where that was inlined, before.
      const ast::SourceLoc *known = findPlace(function, call);
      loc.outermostFile = known ? known->outermostFile : call.file;
      if (loc.file == loc.outermostFile) {
        loc.callFile = loc.callLine = loc.callColumn = 0;
      } else if (call.file == loc.outermostFile) {
        loc.callFile = call.file;
        loc.callLine = call.line;
        loc.callColumn = call.column;
      } else if (known) {
        loc.callFile = known->callFile;
        loc.callLine = known->callLine;
        loc.callColumn = known->callColumn;
      }
    }
    while (token.kind == Kind::Int || token.is('+') ||
           (what == "function_name" && token.kind == Kind::Name &&
            token.text != "inlined_at"))
      bump();
  }
  function.sources.push_back(loc);
  return true;
}

bool Parser::statement(ast::Function &function, std::string &pendingLabel) {
  if (token.is('@') || token.is(';')) {
    if (accept(';'))
      return true;
    return instruction(function);
  }
  if (token.kind != Kind::Name)
    return error("expected an instruction but found '" +
                 std::string(token.text) + "'");
  // A label and an instruction both start with a name: look one token ahead.
  Lexer saved = lexer;
  Token first = token;
  bump();
  if (accept(':')) {
    pendingLabel = first.text;
    bool inserted =
        function.scopes[scope]
            .labels.emplace(pendingLabel, unsigned(function.body.size()))
            .second;
    if (!inserted || function.scopes[scope].names.count(pendingLabel))
      return diag.error(first.loc,
                        "label '" + pendingLabel + "' is defined twice");
    return true;
  }
  lexer = saved;
  token = first;
  return instruction(function);
}

bool Parser::instruction(ast::Function &function) {
  ast::Instruction inst;
  inst.loc = token.loc;
  inst.scope = scope;
  inst.source = int(function.sources.size()) - 1;
  if (accept('@')) {
    inst.guardNegated = accept('!');
    std::string guard;
    if (!name(guard))
      return false;
    inst.guard = lookup(function, guard);
    if (inst.guard < 0)
      return diag.error(inst.loc, "unknown predicate '" + guard + "'");
    inst.loc = token.loc;
  }
  if (!name(inst.opcode))
    return false;
  while (token.kind == Kind::Directive && !token.spaceBefore) {
    inst.modifiers.emplace_back(token.text);
    bump();
  }
  if (accept(';')) {
    function.body.push_back(std::move(inst));
    return true;
  }
  do {
    if (!operand(function, inst.operands.emplace_back()))
      return false;
  } while (accept(','));
  if (!expect(';'))
    return false;
  function.body.push_back(std::move(inst));
  return true;
}

//===-- Operands ----------------------------------------------------------===//

bool Parser::list(ast::Function &function, ast::Operand &out, char close) {
  if (accept(close))
    return true;
  if (++depth > 8)
    return error("operands are nested too deeply");
  do {
    if (!operand(function, out.elems.emplace_back()))
      return false;
  } while (accept(','));
  --depth;
  return expect(close);
}

bool Parser::operand(ast::Function &function, ast::Operand &out) {
  out.loc = token.loc;
  if (accept('{')) {
    out.kind = ast::Operand::Kind::Vector;
    return list(function, out, '}');
  }
  if (accept('(')) {
    out.kind = ast::Operand::Kind::List;
    return list(function, out, ')');
  }
  if (accept('['))
    return address(function, out);
  if (!primary(function, out))
    return false;
  if (accept('|')) {
    ast::Operand pair;
    pair.kind = ast::Operand::Kind::Pair;
    pair.loc = out.loc;
    pair.elems.push_back(std::move(out));
    if (!primary(function, pair.elems.emplace_back()))
      return false;
    out = std::move(pair);
  } else if (token.is('+') && out.kind == ast::Operand::Kind::Name) {
    bump();
    return integer(out.imm);
  }
  return true;
}

/// [base], [base+offset], [number], [base, {coordinates}] and further operands
/// of tensor addresses.
bool Parser::address(ast::Function &function, ast::Operand &out) {
  out.kind = ast::Operand::Kind::Address;
  ast::Operand base;
  base.loc = token.loc;
  if (!primary(function, base))
    return false;
  // ptxas takes '-' only behind another offset.
  if (token.is('-'))
    return error("a negative offset is written '+-'");
  while (token.is('+') || token.is('-')) {
    bool minus = token.is('-');
    bump();
    int64_t offset = 0;
    if (!integer(offset))
      return false;
    out.imm = int64_t(uint64_t(out.imm) +
                      (minus ? 0 - uint64_t(offset) : uint64_t(offset)));
  }
  out.elems.push_back(std::move(base));
  if (++depth > 8)
    return error("operands are nested too deeply");
  while (accept(','))
    if (!operand(function, out.elems.emplace_back()))
      return false;
  --depth;
  return expect(']');
}

/// Video instructions take parts of registers, named by the letter of their
/// width and their numbers ("b0", "h10", "b3210"), and signs.
static bool isSelector(std::string_view suffix) {
  return suffix.size() > 1 && (suffix[0] == 'b' || suffix[0] == 'h') &&
         suffix.find_first_not_of("01234567", 1) == std::string_view::npos;
}

bool Parser::primary(ast::Function &function, ast::Operand &out) {
  using OK = ast::Operand::Kind;
  out.loc = token.loc;
  if (accept('!'))
    out.negated = true;
  bool minus = accept('-');
  bool invert = !minus && accept('~');
  switch (token.kind) {
  case Kind::Int:
    out.kind = OK::Int;
    out.imm = minus    ? int64_t(0 - uint64_t(token.imm))
              : invert ? ~token.imm
                       : token.imm;
    out.isUnsigned = token.isUnsigned;
    if (out.negated)
      out.imm = !out.imm;
    bump();
    return true;
  case Kind::F32:
    out.kind = OK::F32;
    out.imm = minus ? token.imm ^ 0x80000000 : token.imm;
    bump();
    return true;
  case Kind::F64:
    out.kind = OK::F64;
    out.imm =
        minus ? int64_t(uint64_t(token.imm) ^ (uint64_t(1) << 63)) : token.imm;
    bump();
    return true;
  case Kind::Real: {
    out.kind = OK::F64;
    double value = minus ? -token.real : token.real;
    static_assert(sizeof value == sizeof out.imm);
    __builtin_memcpy(&out.imm, &value, sizeof value);
    bump();
    return true;
  }
  case Kind::Name: {
    if (invert)
      return error("expected a number after the sign");
    if (token.text == "_" && !minus) {
      out.kind = OK::Sink;
      bump();
      return true;
    }
    out.kind = OK::Name;
    out.name = token.text;
    bump();
    out.symbol = lookup(function, out.name);
    std::string selector;
    if (token.kind == Kind::Directive && !token.spaceBefore) {
      std::string_view suffix = token.text;
      size_t at = suffix.size() == 1
                      ? std::string_view("xyzwrgba").find(suffix[0])
                      : std::string_view::npos;
      if (out.symbol >= 0 && function.symbols[size_t(out.symbol)].vector > 1 &&
          at != std::string_view::npos) {
        out.component = int(at % 4);
      } else if (out.symbol >= 0 && isSelector(suffix)) {
        selector = suffix;
      } else {
        out.name += "." + std::string(suffix);
        out.symbol = -1;
      }
      bump();
    }
    if (minus || !selector.empty()) {
      ast::Operand part;
      part.kind = OK::Part;
      part.loc = out.loc;
      part.name = std::move(selector);
      part.negated = minus;
      part.elems.push_back(std::move(out));
      out = std::move(part);
    }
    // generic(symbol) in operands is spelled cvta; only initializers may use
    // it.
    return true;
  }
  case Kind::End:
    return error("expected an operand before the end of the file");
  default:
    return error("expected an operand but found '" + std::string(token.text) +
                 "'");
  }
}

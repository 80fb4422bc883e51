//===-- ParserDirectives.cpp - Module-level PTX ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"
#include "Requirements.h"

#include <algorithm>

using namespace tile::sim;
using Kind = Token::Kind;

bool Parser::parse() {
  while (token.kind != Kind::End)
    if (!topLevel())
      return false;
  if (module.versionMajor == 0)
    return error("the module has no .version directive");
  if (module.target.empty())
    return error("the module has no .target directive");
  return true;
}

bool Parser::topLevel() {
  if (accept(';'))
    return true;
  if (token.kind == Kind::Name) {
    // Labels between the .b8 lines of debug sections that some producers leave
    // at module level.
    bump();
    return expect(':');
  }
  if (token.kind != Kind::Directive)
    return error("expected a directive but found '" + std::string(token.text) +
                 "'");
  if (acceptDirective("version"))
    return version();
  if (acceptDirective("target"))
    return target();
  if (acceptDirective("address_size")) {
    int64_t size = 0;
    if (!integer(size))
      return false;
    if (size != 64)
      return error("only .address_size 64 is supported");
    return true;
  }
  if (acceptDirective("file"))
    return file();
  if (acceptDirective("section")) {
    while (token.kind != Kind::End && !token.is('{'))
      bump();
    return skipBraces();
  }
  if (acceptDirective("pragma") || acceptDirective("alias"))
    return skipTo(';');
  return linkage();
}

bool Parser::version() {
  // "8.8" lexes as a real number.
  if (token.kind != Kind::Real)
    return error("expected a version such as 8.8");
  std::string text(token.text);
  size_t dot = text.find('.');
  if (text.find_first_of("eE") != std::string::npos ||
      dot == std::string::npos || dot > 4 || text.size() - dot > 4)
    return error("expected a version such as 8.8");
  module.versionMajor = unsigned(std::atoi(text.c_str()));
  module.versionMinor = unsigned(std::atoi(text.c_str() + dot + 1));
  if (module.versionMajor < 1 || module.versionMajor > 9)
    return error("unsupported PTX version " + text);
  bump();
  return true;
}

bool Parser::target() {
  do {
    std::string option;
    if (!name(option))
      return false;
    if (option.rfind("sm_", 0) == 0) {
      std::string message;
      if (module.versionMajor &&
          !checkTarget(option, module.versionMajor * 10 + module.versionMinor,
                       message))
        return error(message);
      module.target = option;
    } else if (option != "debug" && option != "texmode_independent" &&
               option != "texmode_unified" && option != "map_f64_to_f32")
      return error("unknown target '" + option + "'");
  } while (accept(','));
  return true;
}

bool Parser::file() {
  int64_t index = 0;
  if (!integer(index))
    return false;
  if (token.kind != Kind::String)
    return error("expected a file name");
  std::string path(token.text);
  bump();
  // LLVM writes directory and name as two strings.
  if (token.kind == Kind::String) {
    path += "/" + std::string(token.text);
    bump();
  }
  module.files[unsigned(index)] = path;
  while (accept(',')) {
    int64_t ignored = 0;
    if (!integer(ignored))
      return false;
  }
  return true;
}

bool Parser::linkage() {
  bool isExtern = false;
  while (true) {
    if (acceptDirective("extern"))
      isExtern = true;
    else if (!acceptDirective("visible") && !acceptDirective("weak") &&
             !acceptDirective("common"))
      break;
  }
  if (acceptDirective("entry"))
    return function(true, isExtern);
  if (acceptDirective("func"))
    return function(false, isExtern);
  static const std::pair<std::string_view, Space> spaces[] = {
      {"global", Space::Global},
      {"const", Space::Const},
      {"shared", Space::Shared},
      {"local", Space::Local}};
  for (auto [spelling, space] : spaces)
    if (acceptDirective(spelling))
      return variableDecl(space, isExtern, nullptr);
  return error("unknown directive '." + std::string(token.text) + "'");
}

//===-- Variables ---------------------------------------------------------===//

/// Alignment, vector, type and pointer attributes before a variable's name, in
/// any order.
bool Parser::attributes(ast::Variable &variable) {
  while (token.kind == Kind::Directive) {
    if (acceptDirective("align")) {
      int64_t align = 0;
      if (!integer(align))
        return false;
      if (align < 1 || align > 1024 || (align & (align - 1)))
        return error("alignment must be a power of two up to 1024");
      if (variable.type == Type::None || variable.space != Space::Param ||
          variable.align == 0)
        variable.align = unsigned(align);
      continue;
    }
    if (acceptDirective("ptr")) {
      // The pointee's space and alignment are hints about the argument, not
      // about the parameter.
      unsigned own = variable.align;
      for (std::string_view space : {"global", "shared", "const", "local"})
        acceptDirective(space);
      if (acceptDirective("align")) {
        int64_t ignored = 0;
        if (!integer(ignored))
          return false;
      }
      variable.align = own;
      continue;
    }
    if (acceptDirective("attribute")) {
      if (!skipTo(')'))
        return false;
      continue;
    }
    if (acceptDirective("v2")) {
      variable.vector = 2;
      continue;
    }
    if (acceptDirective("v4")) {
      variable.vector = 4;
      continue;
    }
    Type type = parseType(token.text);
    if (type == Type::None)
      return error("unknown type '." + std::string(token.text) + "'");
    if (variable.type != Type::None)
      return error("a variable has one type, '." + std::string(token.text) +
                   "' is a second one");
    variable.type = type;
    bump();
  }
  if (variable.type == Type::None)
    return error("expected a type");
  return true;
}

bool Parser::arrayDims(ast::Variable &variable) {
  while (accept('[')) {
    variable.isArray = true;
    if (accept(']')) {
      variable.isUnsized = true;
      variable.count = 0;
      continue;
    }
    int64_t dim = 0;
    if (!integer(dim) || !expect(']'))
      return false;
    if (dim < 0 || dim > (int64_t(1) << 32) ||
        (variable.count > 0 && dim > (int64_t(1) << 36) / variable.count))
      return error("the array is too large");
    variable.count *= dim;
  }
  return true;
}

/// Is there a variable or function of that name so far?
bool Parser::isDeclared(const std::string &name) const {
  auto hasName = [&](const auto &known) { return known.name == name; };
  return std::any_of(module.variables.begin(), module.variables.end(),
                     hasName) ||
         std::any_of(module.functions.begin(), module.functions.end(), hasName);
}

bool Parser::initValue(ast::InitValue &value) {
  if (token.kind == Kind::Name) {
    std::string text(token.text);
    bump();
    if (text == "generic" && accept('(')) {
      value.isGeneric = true;
      if (!name(value.symbol) || !expect(')'))
        return false;
    } else {
      value.symbol = text;
    }
    if (!isDeclared(value.symbol))
      return error("'" + value.symbol + "' is declared later or not at all");
    return accept('+') ? integer(value.imm) : true;
  }
  bool minus = accept('-');
  switch (token.kind) {
  case Kind::Int:
    value.imm = minus ? int64_t(0 - uint64_t(token.imm)) : token.imm;
    break;
  case Kind::F32: {
    float real;
    uint32_t bits = uint32_t(token.imm);
    __builtin_memcpy(&real, &bits, sizeof real);
    value.real = minus ? -real : real;
    value.isReal = true;
    break;
  }
  case Kind::F64:
    __builtin_memcpy(&value.real, &token.imm, sizeof value.real);
    value.real = minus ? -value.real : value.real;
    value.isReal = true;
    break;
  case Kind::Real:
    value.real = minus ? -token.real : token.real;
    value.isReal = true;
    break;
  default:
    return error("expected an initial value");
  }
  bump();
  return true;
}

bool Parser::initializer(std::vector<ast::InitValue> &values) {
  if (!accept('{'))
    return initValue(values.emplace_back());
  if (++depth > 8)
    return error("initializers are nested too deeply");
  if (!token.is('}'))
    do {
      if (!initializer(values))
        return false;
    } while (accept(','));
  --depth;
  return expect('}');
}

bool Parser::declarator(ast::Variable variable, ast::Function *function) {
  variable.loc = token.loc;
  if (!name(variable.name))
    return false;
  if (variable.space == Space::Reg && accept('<')) {
    int64_t count = 0;
    if (!integer(count) || !expect('>'))
      return false;
    if (count < 0 || count > 1000000)
      return error("too many registers");
    if (function->scopes[scope].ranges.count(variable.name))
      return diag.error(variable.loc,
                        "'" + variable.name + "' is declared twice");
    function->scopes[scope].ranges[variable.name] = {variable, unsigned(count)};
    return true;
  }
  if (!arrayDims(variable))
    return false;
  if (token.is('=')) {
    if (variable.isExtern ||
        (variable.space != Space::Global && variable.space != Space::Const))
      return error("'" + variable.name +
                   "' cannot have an initial value: only variables in .global "
                   "and .const that are defined here can");
    bump();
    if (!initializer(variable.init))
      return false;
  }
  if (variable.isUnsized && !variable.init.empty()) {
    variable.count = int64_t(variable.init.size());
    variable.isUnsized = false;
  }
  if (int64_t(variable.init.size()) > variable.count * variable.vector)
    return diag.error(variable.loc,
                      "too many initial values for '" + variable.name + "'");
  if (variable.isUnsized && !variable.isExtern)
    return diag.error(variable.loc,
                      "'" + variable.name + "' has no size and is not .extern");
  if (function)
    return declare(*function, std::move(variable));
  for (const ast::Variable &known : module.variables)
    if (known.name == variable.name && !(known.space == variable.space &&
                                         (known.isExtern || variable.isExtern)))
      return diag.error(variable.loc,
                        "'" + variable.name + "' is declared twice");
  module.variables.push_back(std::move(variable));
  return true;
}

bool Parser::variableDecl(Space space, bool isExtern, ast::Function *function) {
  ast::Variable variable;
  variable.space = space;
  variable.isExtern = isExtern;
  if (!attributes(variable))
    return false;
  do {
    if (!declarator(variable, function))
      return false;
  } while (accept(','));
  return expect(';');
}

//===-- Functions ---------------------------------------------------------===//

bool Parser::params(ast::Function &function, std::vector<int> &out) {
  if (!expect('('))
    return false;
  if (accept(')'))
    return true;
  do {
    ast::Variable variable;
    variable.loc = token.loc;
    if (acceptDirective("param"))
      variable.space = Space::Param;
    else if (acceptDirective("reg"))
      variable.space = Space::Reg;
    else
      return error("expected .param or .reg");
    if (!attributes(variable) || !name(variable.name) || !arrayDims(variable))
      return false;
    if (!declare(function, std::move(variable)))
      return false;
    out.push_back(int(function.symbols.size()) - 1);
  } while (accept(','));
  return expect(')');
}

bool Parser::dims(std::array<unsigned, 3> &out) {
  out = {1, 1, 1};
  for (unsigned i = 0; i < 3; ++i) {
    int64_t value = 0;
    if (!integer(value))
      return false;
    out[i] = unsigned(value);
    if (!accept(','))
      break;
  }
  return true;
}

/// Directives between the parameter list and the body.
bool Parser::performance(ast::Function &function) {
  std::array<unsigned, 3> ignored;
  while (token.kind == Kind::Directive) {
    if (acceptDirective("maxntid")) {
      if (!dims(function.maxThreads))
        return false;
    } else if (acceptDirective("reqntid")) {
      if (!dims(function.requiredThreads))
        return false;
    } else if (acceptDirective("reqnctapercluster")) {
      if (!dims(function.requiredCluster))
        return false;
    } else if (acceptDirective("maxnreg")) {
      int64_t value = 0;
      if (!integer(value))
        return false;
      function.maxRegisters = unsigned(value);
    } else if (acceptDirective("explicitcluster")) {
      function.explicitCluster = true;
    } else if (acceptDirective("minnctapersm") ||
               acceptDirective("maxnctapersm") ||
               acceptDirective("maxclusterrank") ||
               acceptDirective("abi_preserve") ||
               acceptDirective("abi_preserve_control")) {
      if (!dims(ignored))
        return false;
    } else if (acceptDirective("pragma")) {
      if (!skipTo(';'))
        return false;
    } else if (acceptDirective("blocksareclusters")) {
      if (module.versionMajor < 9)
        return error(".blocksareclusters needs .version 9.0 or later");
    } else if (!acceptDirective("noreturn")) {
      return error("unknown directive '." + std::string(token.text) +
                   "' on a function");
    }
  }
  if (function.maxThreads[0] && function.requiredThreads[0])
    return error(".maxntid and .reqntid exclude each other");
  return true;
}

bool Parser::function(bool isEntry, bool isExtern) {
  ast::Function function;
  function.isEntry = isEntry;
  function.isExtern = isExtern;
  function.scopes.emplace_back();
  scope = 0;
  if (!isEntry && acceptDirective("attribute") && !skipTo(')'))
    return false;
  if (token.is('(') && !params(function, function.returns))
    return false;
  function.loc = token.loc;
  if (!name(function.name))
    return false;
  if (token.is('(') && !params(function, function.params))
    return false;
  if (!performance(function))
    return false;
  if (!accept(';')) {
    function.hasBody = true;
    if (!body(function))
      return false;
  }
  for (const ast::Variable &known : module.variables)
    if (known.name == function.name)
      return diag.error(function.loc,
                        "'" + function.name +
                            "' is already the name of a variable");
  // A definition replaces its earlier declaration.
  for (ast::Function &known : module.functions)
    if (known.name == function.name) {
      if (known.hasBody && function.hasBody)
        return diag.error(function.loc,
                          "function '" + function.name + "' is defined twice");
      if (function.hasBody)
        known = std::move(function);
      return true;
    }
  module.functions.push_back(std::move(function));
  return true;
}

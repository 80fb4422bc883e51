//===-- Ast.h - Syntax tree of a PTX module -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "tile/Simulator/Diagnostic.h"
#include "tile/Simulator/Type.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace tile::sim::ast {

/// One instruction operand. Names are resolved to function symbols while
/// parsing; whatever is not a symbol of the function (labels, module variables,
/// special registers) keeps only its name.
struct Operand {
  enum class Kind : uint8_t {
    Name,
    Int,
    F32,
    F64,
    Vector,
    Address,
    Sink,
    List,
    Pair,
    Part
  };
  Kind kind = Kind::Sink;
  bool negated = false; ///< "!p"; "-r" of a part
  bool isUnsigned = false;
  int component = -1; ///< .x .y .z .w of a vector register
  int symbol = -1;    ///< index into Function::symbols
  int64_t imm = 0;    ///< integer, float bits, or the offset of an address
  double real = 0;    ///< a decimal floating literal
  Loc loc;
  std::string name; ///< of a part: its selector, such as "b0"; may be empty
  /// Vector, list, pair; base and coordinates of an address; the register of a
  /// part.
  std::vector<Operand> elems;
};

/// A value of an initializer: a number or the address of a symbol.
struct InitValue {
  int64_t imm = 0;
  double real = 0;
  bool isReal = false, isGeneric = false;
  std::string symbol;
};

struct Variable {
  Space space = Space::Reg;
  Type type = Type::None;
  unsigned vector = 1;
  unsigned align = 0;
  int64_t count = 1; ///< product of array dimensions
  bool isArray = false, isExtern = false, isUnsized = false;
  std::string name;
  std::vector<InitValue> init;
  Loc loc;
  uint64_t sizeInBytes() const {
    return uint64_t(bytesOf(type)) * vector * uint64_t(count);
  }
  unsigned alignment() const { return align ? align : bytesOf(type) * vector; }
};

struct SourceLoc {
  unsigned file = 0, line = 0, column = 0;
  /// Where code of another file was inlined: the call in the file of the
  /// outermost one. 0 if there is none.
  unsigned callFile = 0, callLine = 0, callColumn = 0;
  unsigned outermostFile = 0;
};

struct Instruction {
  Loc loc;
  int source = -1; ///< index into Function::sources
  int scope = 0;
  int guard = -1; ///< symbol of the guard predicate
  bool guardNegated = false;
  std::string opcode;
  std::vector<std::string> modifiers;
  std::vector<Operand> operands;
};

struct Scope {
  int parent = -1;
  std::unordered_map<std::string, int> names; ///< exact names to symbols
  std::unordered_map<std::string, std::pair<Variable, unsigned>>
      ranges; ///< %r<N>
  std::unordered_map<std::string, unsigned>
      labels; ///< label to instruction index
  std::unordered_map<std::string, std::vector<std::string>>
      targetLists; ///< .branchtargets
};

struct Function {
  std::string name;
  bool isEntry = false, hasBody = false, isExtern = false;
  Loc loc;
  std::vector<int> params, returns; ///< symbols
  std::vector<Variable> symbols;
  std::vector<Scope> scopes;
  std::vector<Instruction> body;
  std::vector<SourceLoc> sources;
  std::array<unsigned, 3> maxThreads{}, requiredThreads{}, requiredCluster{};
  unsigned maxRegisters = 0;
  bool explicitCluster = false;
};

struct Module {
  unsigned versionMajor = 0, versionMinor = 0, addressSize = 64;
  std::string target;
  std::map<unsigned, std::string> files;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

} // namespace tile::sim::ast

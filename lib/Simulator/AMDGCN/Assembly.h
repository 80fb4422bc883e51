//===-- Assembly.h - Syntax tree of AMDGCN assembly -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Program.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tile::sim::amdgcn {

/// Numbers of scalar registers in a wave's file: general ones first, then those
/// with names.
enum Scalar : uint32_t {
  Vcc = 106,
  Ttmp = 108,
  M0 = 124,
  Null = 125,
  Exec = 126,
  FlatScratch = 128,
  XnackMask = 130,
  Scc = 132,
  Mode = 133,
  ScalarCount = 136,
};

enum class File : uint8_t { Scalar, Vector, Accumulator };

struct Operand {
  enum class Kind : uint8_t {
    Register,
    Integer,
    Float,
    Symbol, ///< a label or variable
    Word,   ///< anything else: off, sendmsg(...), vmcnt(0) & lgkmcnt(0)
  };
  Kind kind = Kind::Word;
  File file = File::Scalar;
  uint32_t reg = 0, count = 1; ///< of 32-bit registers
  bool negated = false, absolute = false, extended = false; ///< -x, |x|, sext()
  int8_t half = -1;    ///< 0: v1.l, 1: v1.h
  bool isWide = false; ///< lit64(): a literal of 64 bits
  int64_t imm = 0;
  double real = 0;
  std::string text;   ///< as written
  std::string suffix; ///< of a symbol: rel32@lo+4
  Loc loc;
  bool isRegister(File f) const { return kind == Kind::Register && file == f; }
};

/// `offset:16`, `quad_perm:[0,1,2,3]`, `dst_sel:WORD_1`, or a single word.
struct Modifier {
  std::string name;
  std::vector<int64_t> values;
  std::string word;
};

struct Instruction {
  Loc loc;
  int source = -1;      ///< index into Assembly::sources
  std::string opcode;   ///< without the encoding that the assembler names
  std::string encoding; ///< e32, e64, dpp, sdwa, or empty
  std::vector<Operand> operands;
  std::vector<Modifier> modifiers;
};

struct Argument {
  std::string name, kind;
  uint32_t offset = 0, size = 0;
  bool isHidden() const { return kind.starts_with("hidden_"); }
};

struct Kernel {
  std::string name;
  Loc loc;
  uint32_t first = 0, end = 0; ///< instructions of the module
  bool hasCode = false;
  std::map<std::string, int64_t> directives; ///< without `.amdhsa_`
  std::vector<Argument> args;
  std::map<std::string, int64_t> metadata;
  int64_t directive(const std::string &key, int64_t fallback = 0) const {
    auto it = directives.find(key);
    return it == directives.end() ? fallback : it->second;
  }
  int64_t meta(const std::string &key, int64_t fallback = 0) const {
    auto it = metadata.find(key);
    return it == metadata.end() ? fallback : it->second;
  }
};

/// Bytes of a section that is no code.
struct Variable {
  std::string name;
  std::vector<std::byte> bytes;
  bool writable = false;
};

struct Assembly {
  std::string target; ///< gfx942
  std::map<unsigned, std::string> files;
  std::vector<ast::SourceLoc> sources;
  std::vector<Instruction> body;
  std::map<std::string, uint32_t> labels; ///< index of an instruction
  std::map<std::string, int64_t> values;  ///< .set
  std::vector<Variable> variables;
  std::vector<Kernel> kernels;
  /// Instructions of functions that are no kernels.
  std::vector<std::pair<uint32_t, uint32_t>> functions;
};

/// Is the text AMDGCN assembly, and not PTX?
bool isAssembly(std::string_view text);
bool parseAssembly(std::string_view text, Assembly &module, Diagnostic &diag);
/// The YAML between .amdgpu_metadata and .end_amdgpu_metadata.
bool parseMetadata(std::string_view text, uint32_t line, Assembly &module,
                   Diagnostic &diag);
/// Numbers of vector registers from those that the text names and the modes of
/// s_set_vgpr_msb.
bool applyRegisterModes(Assembly &module, Diagnostic &diag);
/// One operand; `text` has no spaces around it.
bool parseOperand(std::string_view text, Loc loc, Operand &operand,
                  Diagnostic &diag);
/// A whole integer literal, decimal, hexadecimal or binary.
bool parseInteger(std::string_view text, int64_t &value);

} // namespace tile::sim::amdgcn

//===-- Decoder.h - From assembly to decoded instructions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Program.h"
#include "Wave.h"

#include <memory>
#include <unordered_map>

namespace tile::sim::amdgcn {

/// Decodes a kernel; null, with `diag` set, if it has something that the
/// simulator lacks.
std::unique_ptr<Program>
buildProgram(const Assembly &module, const Kernel &kernel,
             const std::unordered_map<std::string, GlobalVariable> &globals,
             Diagnostic &diag);

class InstDecoder;
using DecodeOpcode = bool (*)(InstDecoder &);
using OpcodeTable = std::unordered_map<std::string_view, DecodeOpcode>;

/// How an immediate becomes bits.
/// An integer for PackedF16 and PackedBF16 fills both halves, a real number the
/// low one.
enum class Imm : uint8_t {
  B16,
  F16,
  BF16,
  PackedF16,
  PackedBF16,
  B32,
  F32,
  B64,
  F64
};

/// Whether a source must hold a value, and whether as an address in memory.
enum Need : uint8_t { Plain, Needed, Address };

class InstDecoder {
public:
  const Assembly &module;
  const Kernel &kernel;
  WaveProgram &program;
  Code &code;
  const std::unordered_map<std::string, GlobalVariable> &globals;
  Diagnostic &diag;
  const Instruction *in = nullptr;
  /// Instructions of the module that the program has, and where they begin in
  /// its code.
  struct Range {
    uint32_t first, end, base;
  };
  const std::vector<Range> *ranges = nullptr;
  /// Where an instruction of the module is in the code; none: false.
  bool codeIndex(uint32_t at, uint32_t &out) const;
  bool labelDistance(std::string_view text, uint64_t &half) const;
  Inst inst;
  Modifiers mods;

  const Target &target() const { return *program.target; }
  bool error(const std::string &message) {
    return diag.error(in->loc, "'" + in->opcode + "': " + message);
  }
  size_t operandCount() const { return in->operands.size(); }
  const Operand &operand(size_t i) const { return in->operands[i]; }
  bool expect(size_t least, size_t most);

  /// Slot of a source of 1 to 16 words, which all lanes share or not.
  bool sourceSlot(size_t operand, unsigned words, Imm imm, uint32_t &slot,
                  Need need = Plain);
  bool source(size_t i, unsigned words, Imm imm, unsigned op,
              Need need = Plain) {
    return sourceSlot(i, words, imm, inst.op[op], need);
  }
  /// A source that must be one value for all lanes.
  bool scalar(size_t operand, unsigned words, Imm imm, unsigned op,
              Need need = Plain);
  /// A mask of the wave's lanes.
  bool maskSource(size_t operand, unsigned op);
  bool maskResult(size_t operand, unsigned op);
  /// A vector register (or accumulator) that is written.
  bool vectorResult(size_t operand, unsigned words, unsigned op);
  bool scalarResult(size_t operand, unsigned words, unsigned op);
  /// Registers by their numbers, for those that the text does not name.
  void readScalar(uint32_t reg, unsigned words, Need need = Plain);
  void writeScalar(uint32_t reg, unsigned words);
  /// The same of masks of the wave's lanes.
  void readMask(uint32_t reg);
  void writeMask(uint32_t reg);
  /// A vector source that is a register.
  bool vectorSource(size_t operand, unsigned words, unsigned op,
                    Need need = Plain);
  /// Of the two registers that were used last, this one is not.
  void forgetUse(unsigned word) {
    code.registers.erase(code.registers.end() - 2 + word);
    --inst.regCount;
  }
  uint32_t slotOf(File file, uint32_t reg) const;
  uint32_t constant(uint64_t value);

  /// The modifier's value, or whether it is there; each counts as understood.
  bool has(std::string_view name);
  bool value(std::string_view name, int64_t &out);
  const Modifier *modifier(std::string_view name);
  /// Reads what changes operands of vector instructions: signs, DPP, SDWA.
  bool takeModifiers(unsigned sources, size_t firstSource);

  /// Ends the decoding. All modifiers must have been understood.
  bool emit(ExecFn fn, Class cls);

  std::vector<bool> understood;
  /// `clamp` means another operation, not a change of the result.
  bool saturates = false;

private:
  bool takeDpp();
  bool takeSdwa();
  bool immediate(const Operand &o, Imm imm, uint64_t &bits);
  void use(uint32_t reg, unsigned words, bool written, Need need);
  /// The registers of a mask were the last that were used.
  void markMask(uint32_t before);
};

/// Decodes as `Decode` does; bits of the result come about by `Rule`
/// (BitRule).
template <DecodeOpcode Decode, uint8_t Rule> bool decodeByBit(InstDecoder &d) {
  d.inst.mod[1] = Rule;
  d.inst.mod[3] |= Bitwise;
  return Decode(d);
}

const OpcodeTable &opcodeTable();
/// Keeps a name that was put together, as keys of the table must outlive it.
std::string_view keepName(std::string name);

/// Addresses of instructions, for calls: of 47 bits, as gfx12 extends the sign
/// of bit 47.
inline constexpr uint64_t CodeBase = uint64_t(0x7f) << 40;
inline uint64_t codeAddress(uint32_t index) {
  return CodeBase + 256 + 8 * uint64_t(index);
}

/// What a move is while registers are indexed, or nothing.
std::string_view relativeMove(const InstDecoder &d);

/// A label as an operand (Decoder.cpp).
bool branchTarget(InstDecoder &d, size_t operand);

// One function a family.
void registerScalar(OpcodeTable &);
void registerScalarCompare(OpcodeTable &);
void registerScalarFloat(OpcodeTable &);
void registerControl(OpcodeTable &);
void registerScalarMemory(OpcodeTable &);
void registerVectorInteger(OpcodeTable &);
void registerVectorInteger64(OpcodeTable &);
void registerVectorIndirect(OpcodeTable &);
void registerVectorFloat(OpcodeTable &);
void registerVectorDouble(OpcodeTable &);
void registerVectorHalf(OpcodeTable &);
void registerVectorBfloat(OpcodeTable &);
void registerVectorCompare(OpcodeTable &);
void registerVectorConvert(OpcodeTable &);
void registerScaledConvert(OpcodeTable &);
void registerPacked(OpcodeTable &);
void registerLane(OpcodeTable &);
void registerGlobal(OpcodeTable &);
void registerBuffer(OpcodeTable &);
void registerShared(OpcodeTable &);
void registerMatrix(OpcodeTable &);
void registerScaledMatrix(OpcodeTable &);
void registerSparseMatrix(OpcodeTable &);
void registerTensorCopy(OpcodeTable &);

} // namespace tile::sim::amdgcn

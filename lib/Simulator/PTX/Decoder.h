//===-- Decoder.h - From syntax tree to decoded program -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each instruction family (Instructions/*.cpp) registers one decode function
// per opcode. It takes the modifiers it knows, checks the operands, chooses a
// handler and emits it; a modifier that nobody takes is an error of that line.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Program.h"

#include <cassert>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>

namespace tile::sim {

class FunctionDecoder;
using DecodeFn = bool (*)(FunctionDecoder &);
using DecodeTable = std::unordered_map<std::string_view, DecodeFn>;

void registerInteger(DecodeTable &);
void registerLogic(DecodeTable &);
void registerFloat(DecodeTable &);
void registerTranscendental(DecodeTable &);
void registerConvert(DecodeTable &);
void registerMove(DecodeTable &);
void registerCompare(DecodeTable &);
void registerControl(DecodeTable &);
void registerMemory(DecodeTable &);
void registerAtomic(DecodeTable &);
void registerCollective(DecodeTable &);
void registerBarrier(DecodeTable &);
void registerAsyncCopy(DecodeTable &);
void registerMbarrier(DecodeTable &);
void registerTensorMap(DecodeTable &);
void registerMatrix(DecodeTable &);
void registerMma(DecodeTable &);
void registerWgmma(DecodeTable &);
void registerWmma(DecodeTable &);
void registerMultimem(DecodeTable &);
void registerRefused(DecodeTable &);
void registerTcgen05(DecodeTable &);
void registerStack(DecodeTable &);
void registerVideo(DecodeTable &);
const DecodeTable &decodeTable();

/// Where a function's parameters are in its parameter space.
std::vector<ParamSlot> layoutParams(const ast::Function &function,
                                    uint32_t *bytes = nullptr);

/// Builds the program of one entry: its code, that of its callees, its
/// shared-memory layout.
class ProgramBuilder {
public:
  ProgramBuilder(const ast::Module &module,
                 const std::unordered_map<std::string, GlobalVariable> &globals,
                 Diagnostic &diag)
      : module(module), globals(globals), diag(diag) {}
  std::unique_ptr<Program> build(const ast::Function &entry);

  Code *codeFor(const std::string &name);
  const ast::Function *findFunction(const std::string &name) const;
  /// The value of a function's address.
  uint64_t functionAddress(const ast::Function &function) const {
    return CodeWindow + uint64_t(&function - module.functions.data());
  }
  /// Decodes every function that a variable's initial value points to: an
  /// indirect call may reach it.
  void decodePointedTo();
  /// Offset of a shared variable, laid out on first use; UINT32_MAX after an
  /// error.
  uint32_t sharedOffset(const ast::Variable &variable, const void *key);

  const ast::Module &module;
  const std::unordered_map<std::string, GlobalVariable> &globals;
  Diagnostic &diag;
  Program *program = nullptr;

private:
  std::unordered_map<std::string, uint32_t> codeIndex;
  std::vector<const ast::Function *> pending;
  std::unordered_map<const void *, uint32_t> shared;
  uint32_t dynamicAlign = 0; ///< of the dynamic array; 0 if there is none
  std::string dynamicName;   ///< of the first variable for it
  void leaveGap();
};

enum class SlotClass : uint8_t { Pred, Word, Double, Quad };
SlotClass classOf(Type type);
/// Copies a register of one class to one of another.
ExecFn classConversion(SlotClass from, SlotClass to);

class FunctionDecoder {
public:
  FunctionDecoder(ProgramBuilder &builder, const ast::Function &function,
                  Code &code)
      : builder(builder), function(function), code(code), diag(builder.diag) {}
  bool decode();

  // Modifiers.
  bool has(std::string_view modifier); ///< takes it if present
  int hasOneOf(std::initializer_list<std::string_view>
                   list); ///< index of the one taken, or -1
  bool hasPrefix(std::string_view prefix, std::string_view &rest);
  Type takeType(); ///< the first type modifier, or None
  Type peekType() const;
  bool error(const std::string &message) const;
  bool errorAt(const ast::Operand &operand, const std::string &message) const;
  bool needType(Type type) const; ///< error "needs a type" for None
  bool badType(Type type) const;
  bool expectOperands(size_t low, size_t high);
  /// May a register that was declared with type `have` be an operand of type
  /// `want`? Loads, stores and conversions take wider ones, too.
  bool checkRegister(const ast::Operand &operand, Type have, Type want) const;

  // Operands. Each returns false after reporting an error.
  size_t operandCount() const { return in->operands.size(); }
  const ast::Operand &operand(size_t index) const {
    return in->operands[index];
  }
  bool src(const ast::Operand &operand, Type type, uint32_t &slot);
  bool src(size_t index, Type type, unsigned to) {
    assert(to < std::size(inst.op) && "a place in Inst::op, not a slot");
    return src(operand(index), type, inst.op[to]);
  }
  bool dst(const ast::Operand &operand, Type type, uint32_t &slot);
  bool dst(size_t index, Type type, unsigned to) {
    assert(to < std::size(inst.op) && "a place in Inst::op, not a slot");
    return dst(operand(index), type, inst.op[to]);
  }
  bool predSrc(const ast::Operand &operand, uint32_t &slot) {
    return src(operand, Type::Pred, slot);
  }
  bool predDst(const ast::Operand &operand, uint32_t &slot) {
    return dst(operand, Type::Pred, slot);
  }
  /// [base+offset] into inst.op[to] (NoSlot if the address is known) and
  /// inst.imm; resolves the space of a variable.
  bool address(const ast::Operand &operand, unsigned to, Space &space);
  bool immediate(const ast::Operand &operand, int64_t &value) const;
  /// Splits "d|p" if the operand is a pair.
  const ast::Operand &first(size_t index) const;
  const ast::Operand *second(size_t index) const;
  bool isSink(const ast::Operand &operand) const {
    return operand.kind == ast::Operand::Kind::Sink;
  }
  /// The elements of a vector operand, or the operand itself.
  std::vector<const ast::Operand *> elements(const ast::Operand &operand) const;
  Type
  registerType(const ast::Operand &operand) const; ///< None if not a register

  /// The condition code of add.cc and the like.
  uint32_t carrySlot();
  uint32_t variableOffset(int symbol) const { return symbolSlots[symbol]; }
  uint32_t temp(SlotClass cls);
  uint32_t constant(SlotClass cls, uint64_t bits);
  uint32_t constant32(uint32_t bits) { return constant(SlotClass::Word, bits); }
  /// Appends the instruction being built (or a helper) with the guard and the
  /// place of the current one.
  bool emit(ExecFn fn, Class cls);
  void emitMicro(ExecFn fn, std::initializer_list<uint32_t> ops,
                 int64_t imm = 0, bool guarded = false);
  /// The slots (or other words) that the instruction has beside Inst::op.
  void setExt(std::span<const uint32_t> slots) {
    inst.ext = uint32_t(code.ext.size());
    inst.extCount = uint16_t(slots.size());
    code.ext.insert(code.ext.end(), slots.begin(), slots.end());
  }
  int labelTarget(const std::string &label)
      const; ///< index into the syntax tree's body, or -1
  const std::vector<std::string> *targetList(const std::string &label) const;

  ProgramBuilder &builder;
  const ast::Function &function;
  Code &code;
  Diagnostic &diag;
  const ast::Instruction *in = nullptr;
  Inst inst;
  bool guardUsed = false;

private:
  bool declareSymbols();
  bool decodeInstruction(const ast::Instruction &instruction);
  /// Do the module's target and version have the instruction
  /// (Requirements.cpp)?
  bool meetsRequirements() const;
  void markMatrixRegisters();
  bool readsOrderOfAtomics() const;
  bool symbolSource(const ast::Operand &operand, Type type, uint32_t &slot);
  bool namedSource(const ast::Operand &operand, Type type, uint32_t &slot);
  bool literal(const ast::Operand &operand, Type type, uint32_t &slot);
  bool specialRegister(const std::string &name, uint32_t &slot, SlotClass &cls);
  uint32_t convertClass(uint32_t slot, SlotClass from, SlotClass to);
  uint32_t allocate(SlotClass cls);

  struct Epilogue {
    uint32_t temp, slot;
    SlotClass from, to;
  };
  std::vector<Epilogue> epilogues;
  std::vector<RegisterUse> uses; ///< of the current instruction
  std::vector<std::string_view> modifiers;
  std::vector<uint32_t>
      symbolSlots; ///< register: slot; variable: offset in its space
  std::map<std::pair<uint8_t, uint64_t>, uint32_t> constants;
  uint32_t carry = NoSlot;
  std::map<Special, uint32_t> specials;
  std::vector<uint32_t>
      starts; ///< first decoded instruction of each one in the syntax tree
};

/// Orders blocks so that lanes which take the lower program counter first come
/// together at the earliest point (Layout.cpp). `starts` maps syntax-tree
/// instructions to decoded ones; targets become decoded indices.
bool layoutBlocks(Code &code, const std::vector<uint32_t> &starts,
                  Diagnostic &diag);

// Handlers that the decoder itself emits (Instructions/Move.cpp, Control.cpp).
Step execTruncate(Ctx &, const Inst &, uint32_t);
Step execWiden(Ctx &, const Inst &, uint32_t);
Step execQuadToDouble(Ctx &, const Inst &, uint32_t);
Step execDoubleToQuad(Ctx &, const Inst &, uint32_t);
Step execWordToQuad(Ctx &, const Inst &, uint32_t);
Step execWordToPred(Ctx &, const Inst &, uint32_t);
Step execNotPred(Ctx &, const Inst &, uint32_t);
Step execLocalAddress(Ctx &, const Inst &, uint32_t);
Step execReadClock(Ctx &, const Inst &, uint32_t);
Step execJump(Ctx &, const Inst &, uint32_t);
Step execExit(Ctx &, const Inst &, uint32_t);
Step execReturn(Ctx &, const Inst &, uint32_t);

} // namespace tile::sim

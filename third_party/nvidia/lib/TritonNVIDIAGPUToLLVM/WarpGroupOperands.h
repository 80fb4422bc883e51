//===-- WarpGroupOperands.h - What wgmma works on ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_NVIDIA_TRITONNVIDIAGPUTOLLVM_WARPGROUPOPERANDS_H
#define TILE_LIB_NVIDIA_TRITONNVIDIAGPUTOLLVM_WARPGROUPOPERANDS_H

#include "nvidia/TritonNVIDIAGPUToLLVM/MatrixDescriptor.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::triton::nvidia::wgmma {

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Accumulators as the instruction takes them: 32 bits each, halves in pairs.
SmallVector<Value> toRegisters(const LLVMBuilder &b, ArrayRef<Value> elements);

/// The reverse.
SmallVector<Value> toElements(const LLVMBuilder &b, ArrayRef<Value> registers,
                              Type element);

/// The constraint of assembly for a register.
StringRef getRegisterClass(Value value);

/// The wait, and then empty assembly that `registers` go through: what uses
/// them stays behind it. `inUse` are defined before it, and keep their place in
/// the register file at least up to it.
SmallVector<Value> emitWait(const LLVMBuilder &b, unsigned pendings,
                            ArrayRef<Value> registers, ArrayRef<Value> inUse);

//===----------------------------------------------------------------------===//
// The instruction
//===----------------------------------------------------------------------===//

/// How the instruction names a type; nullopt for those that it does not take.
std::optional<StringRef> getTypeName(Type type);

/// What all instructions of one dot have in common.
struct Instruction {
  unsigned n, k;
  StringRef a, b, d;
  /// Integers have no signs to change, only 16-bit operands a major-ness.
  bool isInteger, is16Bit;
  bool transA = false, transB = false;

  /// Appends the text that adds to `ds` where the predicate `p` holds, and sets
  /// them else. `as` are four registers or, where there is none, the descriptor
  /// is `aDescriptor`.
  void append(PTXAsm &ptx, ArrayRef<PTXAsm::Operand> ds,
              ArrayRef<PTXAsm::Operand> as, StringRef aDescriptor,
              StringRef bDescriptor) const;
};

//===----------------------------------------------------------------------===//
// Operands in shared memory
//===----------------------------------------------------------------------===//

/// Makes the descriptors of an operand's tiles.
struct SharedOperand {
  MatrixDescriptor descriptor;
  Value first; ///< of the tile at the origin, for this warp group

  /// What the descriptor of another tile is more than the first one.
  int32_t getDistance(int32_t outer, int32_t inner) const {
    return descriptor.getOffset(outer, inner) >> 4;
  }
};

/// The operand of warp group number `group`. For each bit of that number,
/// `groupBases` says how much further on along M or N its part starts.
SharedOperand makeSharedOperand(const LLVMBuilder &b, Value converted,
                                gpu::MemDescType type, Value group,
                                ArrayRef<int32_t> groupBases,
                                MatrixDescriptor descriptor);

//===----------------------------------------------------------------------===//
// Operand A in registers
//===----------------------------------------------------------------------===//

/// The four registers of each instruction, by the first row and the number of
/// the step along K.
class RegisterOperand {
public:
  static std::optional<RegisterOperand>
  make(const LLVMBuilder &b, Value converted, RankedTensorType type);

  ArrayRef<Value> at(int32_t row, unsigned step) const {
    auto it = words.find({row, step});
    return it == words.end() ? ArrayRef<Value>() : ArrayRef(it->second);
  }

  SmallVector<Value> collect() const {
    SmallVector<Value> all;
    for (const auto &[key, list] : words)
      llvm::append_range(all, list);
    return all;
  }

private:
  llvm::MapVector<std::pair<int32_t, unsigned>, SmallVector<Value>> words;
};

} // namespace mlir::triton::nvidia::wgmma

#endif // TILE_LIB_NVIDIA_TRITONNVIDIAGPUTOLLVM_WARPGROUPOPERANDS_H

//===-- PTXAsm.h - Inline PTX -----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The only place that makes inline assembly. It is for what NVVM has no
// operation for: predicated and hinted accesses, packed conversions.
//
//   PTXAsm ptx(b);
//   auto word = ptx.output("r");
//   auto addr = ptx.input(ptr, "l"), pred = ptx.input(mask, "b");
//   ptx << "@" << pred << " ld.global.b32 " << word << ", [" << addr << "];";
//   Value loaded = ptx.emit({b.intTy(32)}, PTXAsm::InOrder)[0];
//
// Outputs come before inputs. Text of several instructions gets braces if it
// declares registers. Assembly that is not pure is made convergent when it is
// translated to LLVM IR (the LLVM dialect has no such flag).
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_PTXASM_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_PTXASM_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"
#include <string>

namespace mlir::triton::nvidia {

class PTXAsm {
public:
  enum Effects {
    Pure,
    /// Stays where it is among what is not pure, and is run by all threads
    /// together, but no load sees another value before it than behind it.
    InOrder,
    /// Writes memory, or has others read or write it: loads stay before it or
    /// behind it. Without a clobber LLVM moves them where they are used.
    SideEffects
  };

  /// How the text refers to an operand.
  struct Operand {
    unsigned number;
  };

  explicit PTXAsm(const LLVMBuilder &b) : b(b) {}

  /// Register classes: "h" 16 bits, "r" 32 bits, "l" 64 bits, "f" and "d"
  /// floats, "b" predicate, "n" immediate.
  Operand output(StringRef registerClass);
  Operand input(Value value, StringRef registerClass);
  /// An input in the same register as an output: its value before.
  Operand tied(Value value, Operand output);

  PTXAsm &operator<<(StringRef part) {
    text += part;
    return *this;
  }
  PTXAsm &operator<<(Operand operand) {
    text += "$" + std::to_string(operand.number);
    return *this;
  }
  PTXAsm &operator<<(ArrayRef<Operand> vector);

  SmallVector<Value> emit(TypeRange results, Effects effects);

private:
  const LLVMBuilder &b;
  std::string text, constraints;
  SmallVector<Value> inputs;
  unsigned numOperands = 0, numOutputs = 0;
};

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_PTXASM_H

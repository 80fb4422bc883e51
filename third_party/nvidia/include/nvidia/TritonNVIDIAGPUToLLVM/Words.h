//===-- Words.h - Elements packed into registers ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_WORDS_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_WORDS_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"

namespace mlir::triton::nvidia {

/// How a run of elements travels in PTX registers: words of 16, 32 or 64 bits,
/// at most `maxWordBits` wide.
struct WordShape {
  unsigned bits;       ///< of one word; 8-bit accesses take 16-bit registers
  unsigned count;      ///< words
  unsigned memoryBits; ///< what one word is in memory
  StringRef registerClass() const {
    return bits == 16 ? "h" : bits == 32 ? "r" : "l";
  }
};
WordShape getWordShape(Type element, unsigned count);

/// ".v2" and so on; empty for one word.
std::string getVectorSuffix(unsigned count);
/// The register class and the state space of a pointer; the latter is empty for
/// generic addresses.
StringRef getAddressClass(Value ptr);
StringRef getSpaceName(Value ptr);

/// Elements to words of `shape`, and back.
SmallVector<Value> packWords(const LLVMBuilder &b, ArrayRef<Value> elements,
                             const WordShape &shape);
SmallVector<Value> unpackWords(const LLVMBuilder &b, ArrayRef<Value> words,
                               Type element, unsigned count,
                               const WordShape &shape);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_WORDS_H

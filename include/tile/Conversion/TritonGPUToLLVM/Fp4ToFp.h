//===-- Fp4ToFp.h - Numbers of four bits to 16 bits -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_FP4TOFP_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_FP4TOFP_H

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

namespace mlir::triton {

/// Bytes of the magnitudes 0, 0.5, 1, 1.5, 2, 3, 4 and 6, the first in the
/// lowest byte: what machines that permute bytes look numbers up in. The low
/// bytes of f16 are zero.
struct Fp4Table {
  uint32_t low, high;
};
inline constexpr Fp4Table kFp4HighOfF16 = {0x3E3C3800, 0x46444240};
inline constexpr Fp4Table kFp4HighOfBF16 = {0x3F3F3F00, 0x40404040};
inline constexpr Fp4Table kFp4LowOfBF16 = {0xC0800000, 0xC0804000};

/// How a target extends eight numbers in one word, the first in the lowest
/// bits, to f16 or bf16: four words of two each.
using ExtendFp4 = SmallVector<Value> (*)(const LLVMBuilder &b, Value word,
                                         bool toBF16);

void populateFp4ToFpPatterns(const LoweringContext &context, ExtendFp4 extend);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_FP4TOFP_H

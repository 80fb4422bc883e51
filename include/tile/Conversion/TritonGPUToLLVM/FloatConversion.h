//===-- FloatConversion.h - Between floating-point formats ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_FLOATCONVERSION_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_FLOATCONVERSION_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton {

/// One element from one format to another; formats of 8 bits are bytes in the
/// LLVM dialect. Null where a format is not supported.
Value convertFloat(const LLVMBuilder &b, Value value, Type from, Type to,
                   RoundingMode rounding);

/// f64 to f32, rounded to odd: toward zero, and with the last bit set where
/// that is inexact. Rounding it again, to a format with two bits less or fewer,
/// gives what rounding once would.
Value narrowToOdd(const LLVMBuilder &b, Value value);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_FLOATCONVERSION_H

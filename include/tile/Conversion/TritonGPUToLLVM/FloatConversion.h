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

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_FLOATCONVERSION_H

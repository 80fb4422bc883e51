//===-- InlineRegion.h - Copies of scalar regions ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_INLINEREGION_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_INLINEREGION_H

#include "mlir/Transforms/DialectConversion.h"
#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"

namespace mlir::triton {

/// A copy of a region of scalar code (of a reduction, say) at the insertion
/// point, with `args`, which have converted types, as its arguments. Returns
/// what its terminators return. A region of several blocks splits the current
/// block; the insertion point moves to where they meet again.
SmallVector<Value> inlineRegion(const LLVMBuilder &b,
                                const TypeConverter &converter, Region &region,
                                ValueRange args);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_INLINEREGION_H

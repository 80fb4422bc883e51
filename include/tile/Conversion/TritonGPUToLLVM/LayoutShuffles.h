//===-- LayoutShuffles.h - Conversions inside a warp ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_LAYOUTSHUFFLES_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_LAYOUTSHUFFLES_H

#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"
#include "tile/Layout/LayoutConversion.h"

namespace mlir::triton {

/// Carries out `plan`, which is for layouts `source` and `result`, on the
/// registers `values` of a tensor of layout `source`.
SmallVector<Value> emitShuffles(const LLVMBuilder &b, const TargetInfo &target,
                                const ThreadIndex &index,
                                const LinearLayout &source,
                                const LinearLayout &result,
                                const ShufflePlan &plan,
                                ArrayRef<Value> values);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_LAYOUTSHUFFLES_H

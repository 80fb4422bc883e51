//===-- SpeculateScaledDots.h - Loops for ordinary scales -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_TRITONGPU_SPECULATESCALEDDOTS_H
#define TILE_TRITONGPU_SPECULATESCALEDDOTS_H

#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::gpu {

/// Gives loops of `products`, scaled dots that are to become plain ones, a
/// form for ordinary scales, without branches: see SpeculateScaledDots.cpp.
/// `products` are then those of the form that always runs, and `seldom` those
/// of the other one.
LogicalResult speculateScaledDots(SmallVectorImpl<DotScaledOp> &products,
                                  SmallVectorImpl<DotScaledOp> &seldom);

} // namespace mlir::triton::gpu

#endif // TILE_TRITONGPU_SPECULATESCALEDDOTS_H

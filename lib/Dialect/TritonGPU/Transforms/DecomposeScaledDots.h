//===-- DecomposeScaledDots.h - Scaled products as plain ones ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_TRITONGPU_DECOMPOSESCALEDDOTS_H
#define TILE_TRITONGPU_DECOMPOSESCALEDDOTS_H

#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::gpu {

/// Replaces a scaled product by a plain one of operands that have been extended
/// to 16 bits and scaled before. Fails, with an error on `op`, for element
/// types that no target's conversions cover.
LogicalResult decomposeScaledDot(DotScaledOp op);

} // namespace mlir::triton::gpu

#endif // TILE_TRITONGPU_DECOMPOSESCALEDDOTS_H

//===-- DecomposeScaledDots.h - Scaled products as plain ones ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_TRITONGPU_DECOMPOSESCALEDDOTS_H
#define TILE_TRITONGPU_DECOMPOSESCALEDDOTS_H

#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::gpu {

/// Replaces a scaled dot by a plain one of operands that have been extended
/// to 16 bits and scaled before. Fails, with an error on `op`, for element
/// types that no target's conversions cover. One that `isSeldom` executed takes
/// few registers rather than little time.
LogicalResult decomposeScaledDot(DotScaledOp op, bool isSeldom);

/// Whether scales are powers of two, by their exponents; others, and none
/// (null), have no ends of the range to speak of.
bool hasExponents(Value scales);

/// Tensors with bits set where scaling the operands of `op` first would not
/// give what docs/numerics.md asks for: few words for each thread. Without
/// operands that have exponents as scales there are none. `op` stays as it is.
FailureOr<SmallVector<Value>> flagUnsafeScales(DotScaledOp op);

/// Of any of the tensors, whose elements are bits or words: the same for all
/// threads. Those of one size are joined before threads exchange anything.
Value isAnySet(OpBuilder &b, Location loc, ValueRange flags);

} // namespace mlir::triton::gpu

#endif // TILE_TRITONGPU_DECOMPOSESCALEDDOTS_H

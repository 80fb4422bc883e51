//===-- AsyncWaits.h - What waits may leave under way -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_ASYNCWAITS_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_ASYNCWAITS_H

#include "mlir/IR/ValueRange.h"

namespace mlir::triton::gpu {

/// The least sum of `count` over the operations after the groups of copies that
/// `tokens` stand for and before `wait`, over all paths: so much may be under
/// way when these groups are done, as copies are done in order. Zero, which is
/// always safe, where there are no tokens or one cannot be traced.
int getLeastSince(ValueRange tokens, Operation *wait,
                  function_ref<int(Operation *)> count);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_ASYNCWAITS_H

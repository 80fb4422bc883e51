//===-- AsyncWaits.h - What waits may leave under way -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_ASYNCWAITS_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_ASYNCWAITS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::gpu {

/// The least sum of `count` over the operations after the groups of copies that
/// `tokens` stand for and before `wait`, over all paths. So much may be under
/// way when these groups are done, as copies are done in order. Zero, which is
/// always safe, where there are no tokens or one cannot be traced.
int getLeastSince(ValueRange tokens, Operation *wait,
                  function_ref<int(Operation *)> count);

/// The same where a copy is a group of its own: `isGroup` tells what the tokens
/// come from.
int getLeastSince(ValueRange tokens, Operation *wait,
                  function_ref<int(Operation *)> count,
                  function_ref<bool(Operation *)> isGroup);

/// Sets for every ttg.async_wait of `loop`, and of the code around it, how many
/// groups may be unfinished: those committed after the ones it waits for.
void updateWaitCounts(scf::ForOp loop);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_ASYNCWAITS_H

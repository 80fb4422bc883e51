//===-- UnderWay.h - What runs on behind operations -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// How long a copy or a dot runs on behind the operation that starts it. A wait
// says what it waits for in one of three ways. It takes the tokens of what must
// be done: then these decide. Or it counts how many of the last ones it leaves
// under way: then the count decides, on the path where the fewest have been
// started since. Or it waits at the barrier in shared memory at which a copy,
// or its thread behind it, arrives.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_UNDERWAY_H
#define TILE_ANALYSIS_UNDERWAY_H

#include "tile/Analysis/Alias.h"
#include "tile/Analysis/AsyncWork.h"

namespace mlir::triton {

/// More work than any wait leaves under way counts as so much.
inline constexpr unsigned kMostUnderWay = 64;

struct UnderWayVisitor {
  /// `op` is executed while the work may be under way. So is the wait at its
  /// end.
  function_ref<void(Operation *op)> visit;
  /// `wait` takes a token of the work, behind which `numBehind` others of the
  /// kind have been started on the way here.
  function_ref<void(Operation *wait, unsigned numBehind)> visitTokenWait;
};

/// Follows what `start` has started along all paths of its function, through
/// blocks and through regions.
///
/// Of a copy that arrives at a barrier, paths on which nobody waits there are
/// left out. A program that takes such a path while the copy is under way is
/// wrong itself. When nobody uses the barrier any more, its memory may go to
/// others as well. Loops have such paths for loads that their predicate has
/// switched off.
void followUnderWay(Operation *start, const SharedMemoryAliasAnalysis &aliases,
                    const UnderWayVisitor &visitor);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_UNDERWAY_H

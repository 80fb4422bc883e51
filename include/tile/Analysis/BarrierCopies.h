//===-- BarrierCopies.h - How long copies are under way --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A copy that arrives at a barrier in shared memory writes its target until
// somebody waits there. Nobody need read what it has written.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_BARRIERCOPIES_H
#define TILE_ANALYSIS_BARRIERCOPIES_H

#include "tile/Analysis/Alias.h"
#include "tile/Dialect/TritonGPU/IR/OpInterfaces.h"

namespace mlir::triton {

/// `copy` arrives at a barrier. Visits the first and the last operation of each
/// piece of code that may be executed between `copy` and the waits at its
/// barrier.
///
/// Paths on which nobody waits are left out. A program that takes such a path
/// while the copy is under way is wrong itself. When nobody uses the barrier
/// any more, its memory may go to others as well. Loops have such paths for
/// loads that their predicate has switched off.
void forEachBeforeArrival(gpu::AsyncCopyOpInterface copy,
                          const SharedMemoryAliasAnalysis &aliases,
                          llvm::function_ref<void(Operation *)> visit);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_BARRIERCOPIES_H

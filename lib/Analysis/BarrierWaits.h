//===-- BarrierWaits.h - Who waits for an arrival ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A copy arrives at a barrier in shared memory when it is done, or its thread
// does so for it. Whoever waits there knows that it is done.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_ANALYSIS_BARRIERWAITS_H
#define TILE_LIB_ANALYSIS_BARRIERWAITS_H

#include "tile/Analysis/Alias.h"

namespace mlir::triton {

enum class Waits { No, Perhaps, Surely };

/// Whether `op` waits at the barriers that `arrival` arrives at: the very same
/// one, or perhaps the same.
Waits waitsFor(Operation *op, Operation *arrival,
               const SharedMemoryAliasAnalysis &aliases);

/// Whether `op` waits at a barrier that one block of the cluster holds for
/// others. These do not wait there.
bool waitsForOtherBlocks(Operation *op);

/// Whether the blocks of a cluster wait for each other at `op`, and what they
/// did before is visible to the others behind it. A relaxed barrier does not
/// say so.
bool isOrderingBlockBarrier(Operation *op);

/// Whether `op` gives back the memory of the barriers that `arrival` arrives
/// at, or gives it to new ones. A wait behind that, as in the next iteration of
/// a loop around both, is for something else.
bool endsBarriersOf(Operation *op, Operation *arrival,
                    const SharedMemoryAliasAnalysis &aliases);

} // namespace mlir::triton

#endif // TILE_LIB_ANALYSIS_BARRIERWAITS_H

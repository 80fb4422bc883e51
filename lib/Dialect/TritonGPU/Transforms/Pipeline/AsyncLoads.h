//===-- AsyncLoads.h - Loads that become asynchronous copies ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_ASYNCLOADS_H
#define TILE_LIB_TRITONGPU_PIPELINE_ASYNCLOADS_H

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"

namespace mlir::triton {
class ModuleAxisInfoAnalysis;
} // namespace mlir::triton

namespace mlir::triton::gpu {

/// What a loop's copies go to and arrive at, allocated before the loop.
struct AsyncRings {
  /// Arrays of buffers.
  SmallVector<Value> buffers;
  /// Those with a buffer that neither holds what an iteration reads nor what is
  /// on its way for the next ones.
  SmallVector<Value> withSpareBuffer;
  /// Arrays of barriers.
  SmallVector<Value> barriers;
  /// At which the blocks of a cluster meet; null where they need not.
  Value clusterBarrier;
  /// The strategies of copies that threads wait for by tokens.
  SmallVector<const CopyStrategy *> waitedByTokens;
};

/// Turns the loads of `loop` that run in an earlier stage than their users into
/// copies to buffers, or to rings of them. `loop` is replaced by one with more
/// iteration arguments; `schedule` is kept up to date.
AsyncRings makeLoadsAsync(scf::ForOp &loop, LoopSchedule &schedule,
                          const ModuleAxisInfoAnalysis &axisInfo);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_ASYNCLOADS_H

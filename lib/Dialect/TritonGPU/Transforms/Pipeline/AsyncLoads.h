//===-- AsyncLoads.h - Loads that become asynchronous copies ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_ASYNCLOADS_H
#define TILE_LIB_TRITONGPU_PIPELINE_ASYNCLOADS_H

#include "LoopSchedule.h"

namespace mlir::triton {
class ModuleAxisInfoAnalysis;
} // namespace mlir::triton

namespace mlir::triton::gpu {

/// Turns the loads of `loop` that run in an earlier stage than their users into
/// copies to rings of buffers allocated before the loop. `loop` is replaced by
/// one with more iteration arguments; `schedule` is kept up to date. Returns
/// the buffers.
SmallVector<Value> makeLoadsAsync(scf::ForOp &loop, LoopSchedule &schedule,
                                  const ModuleAxisInfoAnalysis &axisInfo);

/// Sets for every ttg.async_wait of `loop`, and of the code before it, how many
/// groups may be unfinished: those committed after the ones it waits for.
void updateWaitCounts(scf::ForOp loop);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_ASYNCLOADS_H

//===-- Membar.h - Barriers between accesses to shared memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_ANALYSIS_MEMBAR_H
#define TILE_ANALYSIS_MEMBAR_H

#include "tile/Analysis/Allocation.h"

namespace mlir::triton {

/// True for two operations whose accesses to the same memory need no barrier
/// between them although they look as if they did (a backend's knowledge).
using MembarFilterFn = std::function<bool(Operation *, Operation *)>;

/// Inserts `ttg.barrier local` wherever two accesses to overlapping shared
/// memory, at least one of them a write, have no barrier between them on some
/// path. Works on structured and unstructured control flow. Callees are handled
/// before callers, which then know what memory a call touches.
void insertMemoryBarriers(ModuleOp module, const ModuleAllocation &allocation,
                          const MembarFilterFn &filter = {});

} // namespace mlir::triton

#endif // TILE_ANALYSIS_MEMBAR_H

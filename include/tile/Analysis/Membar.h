//===-- Membar.h - Barriers between accesses to shared memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_ANALYSIS_MEMBAR_H
#define TILE_ANALYSIS_MEMBAR_H

#include "tile/Analysis/Allocation.h"
#include "tile/Support/AttributeNames.h"

namespace mlir::triton {

/// Inserts `ttg.barrier local` wherever two accesses to overlapping shared
/// memory, at least one of them a write, have no barrier between them on some
/// path. Works on structured and unstructured control flow. Callees are handled
/// before callers, which then know what memory a call touches. Returns the
/// number of barriers.
unsigned insertMemoryBarriers(const ModuleAllocation &allocation);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_MEMBAR_H

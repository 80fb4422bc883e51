//===-- EarlyCopies.h - Copies among the first products ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_EARLYCOPIES_H
#define TILE_LIB_TRITONGPU_PIPELINE_EARLYCOPIES_H

#include "AsyncLoads.h"

namespace mlir::triton::gpu {

/// Starts the copies of an iteration right behind its first dots, if all dots
/// of the iteration before are done by then. Returns how many copies it moved.
unsigned startCopiesEarly(scf::ForOp loop, const AsyncRings &rings);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_EARLYCOPIES_H

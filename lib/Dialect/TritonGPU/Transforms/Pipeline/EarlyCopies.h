//===-- EarlyCopies.h - Copies among the first products ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_EARLYCOPIES_H
#define TILE_LIB_TRITONGPU_PIPELINE_EARLYCOPIES_H

#include "AsyncLoads.h"

namespace mlir::triton::gpu {

/// Starts the copies of an iteration behind its first products, where no
/// product of the iteration before is still under way then. Returns how many.
unsigned startCopiesEarly(scf::ForOp loop, const AsyncRings &rings);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_EARLYCOPIES_H

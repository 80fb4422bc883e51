//===-- LoopMemory.h - What a loop writes -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_LOOPMEMORY_H
#define TILE_LIB_TRITONGPU_PIPELINE_LOOPMEMORY_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::gpu {

/// True if an iteration of the loop may write what the load reads, so that the
/// load must not be started in an earlier one. Different pointer arguments are
/// taken not to overlap.
bool mayBeWritten(scf::ForOp loop, LoadOp load);

/// True if another load of the same iteration takes its address (or its mask)
/// from what `load`, which is in the body itself, reads.
bool isAddressLoad(scf::ForOp loop, LoadOp load);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_LOOPMEMORY_H

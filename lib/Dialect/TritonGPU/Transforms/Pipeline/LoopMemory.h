//===-- LoopMemory.h - What the loads of a loop are for ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_LOOPMEMORY_H
#define TILE_LIB_TRITONGPU_PIPELINE_LOOPMEMORY_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::gpu {

/// True if another load of the same iteration takes its address (or its mask)
/// from what `load`, which is in the body itself, reads.
bool isAddressLoad(scf::ForOp loop, Operation *load);

/// True if a matrix product of the same iteration uses what `load` reads, be it
/// through the address of another load.
bool leadsToProduct(scf::ForOp loop, Operation *load);

/// True if `load`, an operation of the body, reads through pointers what the
/// loop's dots do not need, such as scales of their results. The next iteration
/// does not need it either. The loop asks for no stages.
bool isBesideProducts(scf::ForOp loop, Operation *load);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_LOOPMEMORY_H

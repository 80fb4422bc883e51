//===-- AssignStagePhase.h - Slots and phases of rings ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_DIALECT_NVWS_TRANSFORMS_ASSIGNSTAGEPHASE_H
#define TILE_LIB_DIALECT_NVWS_TRANSFORMS_ASSIGNSTAGEPHASE_H

#include "tile/Dialect/NVWS/IR/Dialect.h"

namespace mlir::triton::nvws {

/// Sets the slot and the phase at all accesses of the ring, and has loops and
/// branches carry them. Errors are emitted.
LogicalResult assignStageAndPhase(ArefCreateOp ring);

/// The slots of a ring.
int64_t getDepth(ArefCreateOp ring);

} // namespace mlir::triton::nvws

#endif // TILE_LIB_DIALECT_NVWS_TRANSFORMS_ASSIGNSTAGEPHASE_H

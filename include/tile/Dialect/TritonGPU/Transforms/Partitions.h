//===-- Partitions.h - More partitions for an operation ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_PARTITIONS_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_PARTITIONS_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

/// Replaces the operation by one with a further partition, which is empty.
WarpSpecializeOp addPartition(WarpSpecializeOp specialize, int32_t numWarps,
                              int32_t registers);

/// Has all partitions capture a value. Returns the number of the argument that
/// stands for it in each of them.
unsigned addCapture(WarpSpecializeOp specialize, Value value);

/// Gives the default group and `groups`, which have as many warps each, what
/// the other partitions leave of the registers. All partitions have asked for
/// some.
void divideRegisters(WarpSpecializeOp specialize, ArrayRef<unsigned> groups);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_PARTITIONS_H

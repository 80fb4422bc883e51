//===-- DotCost.h - What passes believe that dots take ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Cycles of one multiprocessor, by the rates of its parts. Passes compare them
// to choose between two ways to compile a kernel. They are no prediction of
// times: nothing here was measured.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_DOTCOST_H
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_DOTCOST_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::triton::nvidia_gpu {

/// Two blocks say to each other that they have come so far, or two groups of
/// warps do. Assumed.
inline constexpr int64_t kBarrierCycles = 256;

/// What one block has of a dot in tensor memory: rows of A, columns of B, bytes
/// of a row of A.
struct DotTile {
  int64_t rows, columns, bytes;

  /// Of the tensor core.
  int64_t countTensorCycles() const;
  /// Of shared memory, where the block has `columnsHere` columns of B.
  int64_t countSharedCycles(int64_t columnsHere) const;
};

/// Cycles in which threads load a tensor of so many bytes from tensor memory.
int64_t countLoadCycles(int64_t bytes);
/// Cycles in which threads store a tensor of so many bytes to global memory,
/// through shared memory.
int64_t countStoreCycles(int64_t bytes);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_DOTCOST_H

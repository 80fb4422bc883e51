//===-- Barrier.h - Who takes part in a barrier -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_BARRIER_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_BARRIER_H

#include "mlir/IR/Operation.h"

namespace mlir::triton {

/// The threads that a barrier joins. It also orders their accesses to shared
/// (and, as every GPU gives that for free, global) memory.
struct BarrierParticipants {
  enum class Kind {
    /// One warp.
    Warp,
    /// The warps of a partition of a ttg.warp_specialize, or those of its
    /// default region: a barrier of their own beside those of the others.
    WarpGroup,
    /// All threads of the block.
    Block,
    /// All threads of the cluster.
    Cluster
  };

  Kind kind = Kind::Block;
  /// Of a group: the default region, and all code outside of partitions in a
  /// module that has some, is 0; partition i is i + 1.
  unsigned group = 0;
  unsigned numWarps = 0;

  bool operator==(const BarrierParticipants &) const = default;
};

/// The threads of a block that execute `op` together.
BarrierParticipants getThreadsOfBlock(Operation *op);
/// All threads that execute `op` together: those of every block of the cluster,
/// if there are several.
BarrierParticipants getThreadsOfProgram(Operation *op);
/// The place in the block of the first warp that executes `op`: 0 outside of
/// partitions.
unsigned getFirstWarp(Operation *op);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_BARRIER_H

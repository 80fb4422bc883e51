//===-- ProductPartition.h - A warp that starts dots ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_WARPSPECIALIZATION_PRODUCTPARTITION_H
#define TILE_LIB_TRITONGPU_WARPSPECIALIZATION_PRODUCTPARTITION_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::triton::gpu {

/// Gives the dots of a loop over tiles a warp of their own, where they run
/// beside the threads. Then the tensor core multiplies the next tile while
/// threads store this one:
///
///   dots:    wait(stored[sum], phase ^ 1); multiply; full[sum] when it is done
///   threads: wait(full[sum], phase); load the sum; arrive(stored[sum]); store
///
/// There are two sums, if tensor memory has room for them.
///
/// Where blocks of a cluster multiply together, the warp of the first block
/// does all this. Those of the others find nothing to wait for, nor to start.
class ProductPartition {
public:
  using Operations = SmallPtrSetImpl<Operation *>;

  /// `tiles` is the loop of the default group of `specialize`. `ringOps` are
  /// what it does at barriers of rings, but for the arrivals of its warps,
  /// which are `arrivals`. `repeated` are loads that the producer repeats, too.
  ProductPartition(WarpSpecializeOp specialize, scf::ForOp tiles,
                   const RingBarriers &barriers, const Operations &ringOps,
                   const Operations &arrivals, const Operations &repeated)
      : specialize(specialize), tiles(tiles), loc(tiles.getLoc()),
        barriers(barriers), ringOps(ringOps), arrivals(arrivals),
        repeated(repeated) {}

  /// Fails, without having changed anything, where dots stay with the default
  /// group. Otherwise `result` replaces the operation.
  LogicalResult split(WarpSpecializeOp &result);
  /// After that: whether the first block of a cluster starts the dots for all
  /// blocks. Threads of all blocks hand their sums back to it.
  bool isOfAllBlocks() const { return ofAllBlocks; }
  /// After that, behind the operation: ends the life of the barriers.
  void freeBarriers(OpBuilder &builder);

private:
  StringRef findObstacle();
  bool findLoops();
  bool findSums();
  bool isStartedByOneThread(scf::ForOp loop) const;
  bool isUsedByProductsOnly(OpResult result);
  bool isInProductLoop(Operation *op) const;
  bool startsAnew(Operation *sum, ArrayRef<OpOperand *> uses);
  bool isBehindProducts(Operation *sum, Operation *op);
  bool canBeUsedLater(Operation *op);
  bool canRepeatElsewhere() const;

  void makeSums();
  void startAndFinishTiles();
  void makePartition();
  void takeSums();

  WarpSpecializeOp specialize;
  scf::ForOp tiles;
  Location loc;
  const RingBarriers &barriers;
  const Operations &ringOps, &arrivals, &repeated;
  /// The loops in that over tiles that multiply, in their order.
  SmallVector<scf::ForOp> productLoops;
  /// What makes the sums, and what the threads use of them.
  llvm::MapVector<Operation *, SmallVector<OpOperand *>> sums;
  /// What the partition does, beside computing what it needs for that.
  SmallVector<Operation *> effects;
  int32_t numSums = 1;
  bool ofAllBlocks = false;
  /// Arrays of barriers, one for each place of a sum.
  Value full, stored;
  /// The place of the position of the sums among the arguments of `tiles`.
  unsigned place = 0;
};

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_WARPSPECIALIZATION_PRODUCTPARTITION_H

//===-- GroupPartition.h - A second group that computes ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_WARPSPECIALIZATION_GROUPPARTITION_H
#define TILE_LIB_TRITONGPU_WARPSPECIALIZATION_GROUPPARTITION_H

#include "Producer.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::triton::gpu {

/// Gives one of two chains of dots to a second group of warps. The two have
/// nothing in common but the buffers that their dots read. They are the halves
/// of the rows of attention. Each group starts its own dots, which run beside
/// the threads. While one computes weights, the tensor core multiplies for the
/// other one:
///
///   both: wait(full[stage], phase); start scores; wait for them; weights;
///         start the sum; arrive(empty[stage])
///
/// What the second group has at the end goes to the default group through
/// shared memory.
///
/// The loop may be one over tiles, with others in it. Then each group goes over
/// all tiles, and stores its own half of each.
class GroupPartition {
public:
  using Operations = SmallPtrSetImpl<Operation *>;

  /// `loop` is the loop of the default group of `specialize`. `ringOps` and
  /// `arrivals` are what it does at barriers of rings.
  GroupPartition(WarpSpecializeOp specialize, scf::ForOp loop,
                 const RingBarriers &barriers, const Operations &ringOps,
                 const Operations &arrivals)
      : specialize(specialize), loop(loop), loc(loop.getLoc()),
        barriers(barriers), ringOps(ringOps), arrivals(arrivals) {}

  /// Fails, without having changed anything, where there are no two such
  /// chains. Replaces `specialize`, and gives the new one.
  LogicalResult split(WarpSpecializeOp &specialize);

private:
  /// Dots by their number in the loop.
  using Dots = llvm::SmallBitVector;

  StringRef findObstacle();
  bool isAlwaysRun(Operation *op) const;
  bool findProducts();
  void findChains();
  bool follow(Operation *op);
  bool add(Value value, const Dots &dots);
  Dots get(Value value) const;
  Dots getOperands(Operation *op) const;
  bool isMoved(const Dots &dots) const;
  bool isMoved(Value value) const { return isMoved(get(value)); }
  StringRef sortOperations();
  StringRef findDependence();
  StringRef findResults();
  bool canBring(Value value) const;

  ProducerSlice getSlice();
  void makePartition();
  void removeFromDefaultGroup();

  WarpSpecializeOp specialize;
  scf::ForOp loop;
  Location loc;
  const RingBarriers &barriers;
  const Operations &ringOps, &arrivals;

  SmallVector<MatrixProductOpInterface> products;
  /// Which dots a value comes from, or what is in memory does.
  llvm::DenseMap<Value, Dots> sources;
  /// Dots that some operation needs both of are of one chain.
  llvm::EquivalenceClasses<unsigned> chains;
  /// What only the second group does, and what both do, beside computing.
  SmallVector<Operation *> moved, repeated;
  /// The numbers of the results of the loop that the second group has.
  SmallVector<unsigned> results;
};

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_WARPSPECIALIZATION_GROUPPARTITION_H

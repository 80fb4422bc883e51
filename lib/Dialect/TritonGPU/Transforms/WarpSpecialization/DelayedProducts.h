//===-- DelayedProducts.h - Products an iteration late ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_WARPSPECIALIZATION_DELAYEDPRODUCTS_H
#define TILE_LIB_TRITONGPU_WARPSPECIALIZATION_DELAYEDPRODUCTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton::gpu {

/// How a loop takes buffers of a ring from a producer.
struct RingUse {
  /// The wait for a buffer, and the fence behind it, if there is one.
  Operation *wait = nullptr;
  Operation *fence = nullptr;
  /// The views of the buffers of this iteration.
  SmallVector<Value> slots;
  /// Whether threads of the producer fill them, which need registers for that.
  bool isFilledByThreads = false;
  /// What hands them back, once it is made.
  Operation *release = nullptr;
};

/// The dots of a loop that only add to sums, but multiply what the loop
/// computes from other dots: attention's weights with the values. An
/// iteration later they run while the threads compute the next weights:
///
///   scores 0; weights 0
///   loop: start scores i; start sum += weights i-1 * values i-1;
///         wait for the scores; weights i, or most of them;
///         wait for the buffers of scores i+1; wait for the sum
///   sum += weights n-1 * values n-1
class DelayedProducts {
public:
  /// The rings, in the order in which a producer fills them, have `numBuffers`
  /// (at least two) buffers each. `axisInfo` knows the bounds of the loop.
  DelayedProducts(scf::ForOp loop, ArrayRef<RingUse> rings, int numBuffers,
                  const ModuleAxisInfoAnalysis &axisInfo)
      : loop(loop), trips(loop, &axisInfo), rings(rings),
        numBuffers(numBuffers) {}

  /// Whether there are such dots, and registers for what they need of the
  /// iteration before.
  bool find();
  /// Delays them. The loop, which releases its buffers by now and waits for
  /// each dot at once, is replaced by one with the same iteration arguments
  /// first. Returns the number of dots that run on.
  unsigned apply(scf::ForOp &loop);

private:
  bool findSums();
  bool findLateOperations();
  bool isAllowed(Operation *op) const;
  void pullIn();
  bool isPulled(Operation *op);
  SmallVector<Operation *> getReaders(const RingUse &ring);
  bool collectCrossing(Operation *op);
  bool addCrossing(Value value);
  bool isLateSum(Value value) const;
  bool haveTwoFactorsRoom() const;

  void findFirst();
  bool isWait(Operation *op) const;
  bool canWaitFirst();
  Operation *cloneWithSources(OpBuilder &builder, Operation *op,
                              IRMapping &mapping);
  void waitForNext(OpBuilder &builder, Value counter, const IRMapping &mapping);
  void emitIteration(OpBuilder &builder, scf::ForOp to);

  scf::ForOp loop;
  TripCount trips;
  ArrayRef<RingUse> rings;
  int numBuffers;
  llvm::SetVector<BlockArgument> sums;
  llvm::SetVector<Operation *> late;
  SmallVector<MatrixProductOpInterface> earlyProducts, lateProducts;
  /// What late operations need of their own iteration.
  llvm::SetVector<Value> crossing;
  /// What early dots need of theirs, and they themselves.
  llvm::SetVector<Operation *> first;
};

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_WARPSPECIALIZATION_DELAYEDPRODUCTS_H

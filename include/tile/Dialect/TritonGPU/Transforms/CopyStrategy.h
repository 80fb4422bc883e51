//===-- CopyStrategy.h - How a load becomes asynchronous --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The pipeliner keeps loaded tensors in rings of buffers. How they get there,
// and how it is known that they have arrived, differs from load to load. Each
// way is a strategy. The threads' own copies are known to every machine; a
// backend offers further ones through `TargetModel::getCopyEngines`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_COPYSTRATEGY_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_COPYSTRATEGY_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

/// The buffer that nobody writes, where the loaded value is put into one: a
/// matrix product reads it there, or threads read operands from it; null if it
/// is not.
LocalAllocOp getProductBuffer(Operation *user);

/// Whether matrix products read the buffer themselves.
bool isReadByProducts(LocalAllocOp buffer);

class CopyStrategy {
public:
  virtual ~CopyStrategy() = default;

  /// The strategy for an operation of the body of `loop`, that of the first
  /// engine of the machine that can copy it; null where it is no load, or one
  /// whose result has to stay in registers.
  static const CopyStrategy *find(Operation *op, scf::ForOp loop);

  /// Whether what `op`, an operation with a tensor as its one result, loads in
  /// `loop` can be copied so.
  virtual bool canCopy(Operation *op, scf::ForOp loop) const = 0;
  /// A tensor's layout in the buffers.
  virtual Attribute chooseEncoding(Operation *load) const = 0;
  /// True if a copy leaves in shared memory what the load returns.
  virtual bool isComplete(Operation *load) const = 0;
  /// Whether copies arrive at barriers in shared memory, those of
  /// `TargetModel::getRingBarriers`. If not, threads wait for copies by tokens,
  /// each for its own, and a barrier of the block must follow the wait.
  virtual bool usesBarriers() const = 0;
  /// Starts the copy to `slot`, which (where there are barriers) `barrier` has
  /// been told of, and returns the new operations. The last one is the copy.
  /// `contiguity` is that of the addresses.
  virtual SmallVector<Operation *> start(OpBuilder &builder, Operation *load,
                                         Value slot, Value barrier,
                                         unsigned contiguity) const = 0;

  // For copies without barriers.

  /// Makes what is waited for of `copy`, which has just started: an operation
  /// whose first result is a token. Here, that is the copy.
  virtual Operation *commit(OpBuilder &builder, Operation *copy) const {
    return copy;
  }
  /// Waits for copies by their tokens, without any for all that have been
  /// started. The first result is the token of the wait.
  virtual Operation *wait(OpBuilder &builder, Location loc,
                          ValueRange tokens) const;
};

/// Whether a load of `loop`, once it is asynchronous, is copied right into what
/// `buffer` is: nothing is left of the allocation.
bool isCopiedTo(LocalAllocOp buffer, scf::ForOp loop);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_COPYSTRATEGY_H

//===-- CopyStrategy.h - How a load becomes asynchronous --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The pipeliner keeps loaded tensors in rings of buffers. How they get there,
// and how it is known that they have arrived, differs from load to load. Each
// way is a strategy. The threads' own asynchronous copies are known to every
// machine (`ThreadCopies`); a backend offers further ones through
// `TargetModel::getCopyEngines`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_COPYSTRATEGY_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_COPYSTRATEGY_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton {
class ModuleAxisInfoAnalysis;
} // namespace mlir::triton

namespace mlir::triton::gpu {

/// The buffer that nobody writes, where the loaded value is put into one: a
/// matrix product reads it there, or threads read operands from it; null if it
/// is not.
LocalAllocOp getProductBuffer(Operation *user);

/// Whether matrix products read the buffer themselves.
bool isReadByProducts(LocalAllocOp buffer);

/// How it is known that a copy has arrived.
enum class Arrival {
  /// The copy arrives at a barrier in shared memory, one of
  /// `TargetModel::getRingBarriers`.
  Barrier,
  /// Threads wait by tokens, each for its own copies. A barrier of the block
  /// must follow the wait.
  Token,
  /// The value comes to registers, and threads store it to its buffer at the
  /// end of the iteration before the one that reads it. So one buffer does for
  /// all iterations, and nobody waits. A load that gives values for what it
  /// masks off brings them along: it is complete.
  Store,
};

class CopyStrategy {
public:
  virtual ~CopyStrategy() = default;

  /// The strategy for an operation of the body of `loop`, that of the first
  /// engine of the machine that can copy it. Null where it is no load, or one
  /// whose result has to stay in registers.
  static const CopyStrategy *find(Operation *op, scf::ForOp loop);

  /// Whether what `op`, an operation with a tensor as its one result, loads in
  /// `loop` can be copied so.
  virtual bool canCopy(Operation *op, scf::ForOp loop) const = 0;
  /// A tensor's layout in the buffers.
  virtual Attribute chooseEncoding(Operation *load) const = 0;
  /// True if a copy leaves in shared memory what the load returns.
  virtual bool isComplete(Operation *load) const = 0;
  virtual Arrival getArrival() const = 0;
  bool usesBarriers() const { return getArrival() == Arrival::Barrier; }
  /// Whether any loop gains by such copies, not only one with matrix products.
  virtual bool suitsAnyLoop() const { return false; }
  /// Whether rings have one buffer more. Then a schedule may start copies for
  /// later iterations behind the wait of an iteration, which has not read its
  /// own buffer yet.
  virtual bool hasSpareBuffer() const { return false; }
  /// Starts the copy to `slot`, which (where there are barriers) `barrier` has
  /// been told of, and returns the new operations. The last one writes to the
  /// buffer. A thread's copy may move `contiguity` neighbours at once.
  virtual SmallVector<Operation *> start(OpBuilder &builder, Operation *load,
                                         Value slot, Value barrier,
                                         unsigned contiguity) const = 0;

  // For copies that are waited for by tokens.

  /// Makes what is waited for of `copy`, which has just started: an operation
  /// whose first result is a token. Here, that is the copy.
  virtual Operation *commit(OpBuilder &builder, Operation *copy) const {
    return copy;
  }
  /// Waits for copies by their tokens, without any for all that have been
  /// started. The first result is the token of the wait.
  virtual Operation *wait(OpBuilder &builder, Location loc,
                          ValueRange tokens) const;
  /// Has the waits of `loop`, and of the code around it, leave those copies
  /// under way that have started after the ones they wait for.
  virtual void countPending(scf::ForOp loop) const {}
};

/// Every thread copies elements of its own (`ttg.async_copy_global_to_local`)
/// and waits for them. Elements that are masked off become zero.
class ThreadCopies : public CopyStrategy {
public:
  bool canCopy(Operation *op, scf::ForOp loop) const override;
  Attribute chooseEncoding(Operation *load) const override;
  bool isComplete(Operation *load) const override;
  Arrival getArrival() const override { return Arrival::Token; }
  SmallVector<Operation *> start(OpBuilder &builder, Operation *load,
                                 Value slot, Value barrier,
                                 unsigned contiguity) const override;
  Operation *commit(OpBuilder &builder, Operation *copy) const override;
  void countPending(scf::ForOp loop) const override;
};

/// How many neighbours such a copy of what is loaded may move at once.
unsigned getCopyContiguity(const ModuleAxisInfoAnalysis &axisInfo, LoadOp load);

/// Whether a load of `loop`, once it is asynchronous, is copied right into what
/// `buffer` is: nothing is left of the allocation.
bool isCopiedTo(LocalAllocOp buffer, scf::ForOp loop);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_COPYSTRATEGY_H

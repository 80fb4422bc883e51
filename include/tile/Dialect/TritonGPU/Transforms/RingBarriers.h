//===-- RingBarriers.h - Barriers between copies and threads ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Barriers that lie in shared memory, one for each buffer of a ring. Copies
// arrive at them, and groups of warps hand buffers to each other by them. A
// barrier ends a phase when it has counted its arrivals and all the bytes that
// were announced for the phase. Phases have the parities 0, 1, 0, and so on. A
// wait names the parity of the phase whose end it waits for. A new barrier is
// in phase 0, and the phase before that one has ended.
//
// A backend offers them through `TargetModel::getRingBarriers`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_RINGBARRIERS_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_RINGBARRIERS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

class RingBarriers {
public:
  virtual ~RingBarriers() = default;

  // Arrays of them, of which `getBuffer` (Buffers.h) gives one.

  virtual Value allocate(OpBuilder &builder, Location loc, int count) const = 0;
  /// Makes every barrier of an array; a phase ends after `arrivals`.
  virtual void initialize(OpBuilder &builder, Location loc, Value barriers,
                          int arrivals) const = 0;
  /// Ends the life of an array.
  virtual void free(OpBuilder &builder, Location loc, Value barriers) const = 0;

  // What threads do at one of them.

  /// Arrives, and announces `bytes` of copies for this phase.
  virtual Operation *announce(OpBuilder &builder, Location loc, Value barrier,
                              int64_t bytes, Value predicate) const = 0;
  /// Waits for the end of a phase of this parity, after which `buffers` may be
  /// read.
  virtual Operation *wait(OpBuilder &builder, Location loc, Value barrier,
                          Value parity, ValueRange buffers) const = 0;
  /// Arrives `count` times if `predicate` is true or null. Where the blocks of
  /// a cluster share the buffers (`isShared`), arrives at the barriers of all
  /// blocks.
  virtual Operation *arrive(OpBuilder &builder, Location loc, Value barrier,
                            int count, Value predicate,
                            bool isShared) const = 0;
  virtual void setArrivals(Operation *arrive, int count) const = 0;
  /// Each thread arrives as soon as the copies that it has started so far are
  /// done. It does not wait for that.
  virtual Operation *arriveAfterCopies(OpBuilder &builder, Location loc,
                                       Value barrier) const = 0;
  /// Whether a dot runs beside the threads, and barriers hear of its end.
  virtual bool arrivesByItself(MatrixProductOpInterface product) const {
    return false;
  }
  /// Arrives once, when all such dots that these warps have started are done.
  /// Threads do not wait for that.
  virtual Operation *arriveAfterProducts(OpBuilder &builder, Location loc,
                                         Value barrier) const {
    llvm_unreachable("no dot arrives by itself");
  }
  /// How many there may be, up to `wanted`, of each sum of such dots for which
  /// `allocs` have one.
  virtual int countSums(ArrayRef<Operation *> allocs, int wanted) const {
    return 1;
  }
  /// A fence: dots that read `buffers` in shared memory see what threads have
  /// written there. Null where the machine needs none.
  virtual Operation *fenceForProducts(OpBuilder &builder, Location loc,
                                      ArrayRef<Value> buffers) const {
    return nullptr;
  }

  // Clusters of blocks.

  /// Whether the first block of a cluster starts such a dot for all blocks. It
  /// reads the buffers of all of them, and its end arrives in all of them.
  virtual bool isOfAllBlocks(MatrixProductOpInterface product) const {
    return false;
  }
  /// Has the first block of a cluster hold an array of barriers for all blocks,
  /// before or after `initialize`. All blocks arrive there, and so do their
  /// copies. The first block alone waits, and the others go on at once.
  virtual void holdForAllBlocks(Value barriers) const {
    llvm_unreachable("each block has its own barriers");
  }
  /// Whether blocks of a cluster fill such buffers of each other.
  virtual bool isShared(MemDescType buffers) const { return false; }
  /// Has the blocks of a cluster wait for each other. After that, all barriers
  /// that were made before are initialised, and no block uses what lay in the
  /// memory of the buffers before.
  virtual void startSharing(OpBuilder &builder, Location loc) const {}
  /// Keeps this block until no other arrives at its barriers any more.
  virtual void stopSharing(OpBuilder &builder, Location loc) const {}
  /// The same as `startSharing`, for a loop whose own threads start copies.
  /// Returns an array of barriers at which the blocks wait for each other in
  /// the loop. The caller frees it behind the loop. Null where they need none.
  virtual Value startSharingInLoop(OpBuilder &builder, Location loc) const {
    return {};
  }
  /// Has the blocks of a cluster wait for each other at such a barrier, between
  /// the reads of buffers and the next copies to the buffers of all blocks.
  /// `loop` may be replaced by a loop with one more iteration argument.
  virtual void joinBlocks(scf::ForOp &loop, Value barriers) const {}
};

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_RINGBARRIERS_H

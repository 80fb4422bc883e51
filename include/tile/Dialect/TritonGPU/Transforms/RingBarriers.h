//===-- RingBarriers.h - Barriers between copies and threads ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Barriers that lie in shared memory, one for each buffer of a ring. Copies
// arrive at them, and groups of warps hand buffers to each other by them. A
// barrier ends a phase when it has counted its arrivals and all the bytes that
// were announced for the phase. Phases have the parities 0, 1, 0, ...: who
// waits says for the end of which one. A new barrier is in phase 0, and the
// phase before that one has ended.
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
  /// Arrives `count` times, where `predicate` is true or null; where blocks of
  /// a cluster share the buffers (`isShared`), at the barriers of all of them.
  virtual Operation *arrive(OpBuilder &builder, Location loc, Value barrier,
                            int count, Value predicate,
                            bool isShared) const = 0;
  virtual void setArrivals(Operation *arrive, int count) const = 0;
  /// Each thread arrives as soon as the copies that it has started so far are
  /// done. It does not wait for that.
  virtual Operation *arriveAfterCopies(OpBuilder &builder, Location loc,
                                       Value barrier) const = 0;
  /// Has products that read `buffers` by themselves see what threads have
  /// written there. Null where they do without that.
  virtual Operation *fenceForProducts(OpBuilder &builder, Location loc,
                                      ArrayRef<Value> buffers) const {
    return nullptr;
  }

  // Clusters of blocks.

  /// Whether blocks of a cluster fill such buffers of each other.
  virtual bool isShared(MemDescType buffers) const { return false; }
  /// Has the blocks of a cluster wait until all barriers that were made before
  /// this are there, and all are done with what was in the place of buffers.
  virtual void startSharing(OpBuilder &builder, Location loc) const {}
  /// Keeps this block until no other arrives at its barriers any more.
  virtual void stopSharing(OpBuilder &builder, Location loc) const {}
  /// The same as `startSharing`, for a loop whose own threads start copies.
  /// Returns an array of barriers at which the blocks meet in it, to be freed
  /// behind it; null where they need none.
  virtual Value startSharingInLoop(OpBuilder &builder, Location loc) const {
    return {};
  }
  /// Has the blocks of a cluster meet at such a barrier between what reads
  /// buffers and the next copies to those of all blocks. `loop` may be replaced
  /// by one with another iteration argument.
  virtual void joinBlocks(scf::ForOp &loop, Value barriers) const {}
};

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_RINGBARRIERS_H

//===-- LoopPartitioning.h - The two sides of a loop ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_WARPSPECIALIZATION_LOOPPARTITIONING_H
#define TILE_LIB_TRITONGPU_WARPSPECIALIZATION_LOOPPARTITIONING_H

#include "DelayedProducts.h"
#include "Producer.h"
#include "Rings.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

/// Divides a loop among groups of warps: one copies what it loads into rings of
/// buffers, the others take it from there.
class LoopPartitioning {
public:
  LoopPartitioning(scf::ForOp loop, const RingBarriers &barriers,
                   const ModuleAxisInfoAnalysis &axisInfo);

  void run();

private:
  /// All that was copied to this block is there; but consumers of the others
  /// may still arrive at its barriers, as late as the kernel ends, if possible.
  void stopSharing();

  /// The first loop whose rings the last one can use, too; itself if there is
  /// none. One position goes through all loops that share rings, one after the
  /// other: none of them is in another.
  unsigned findRingsToShare() const;

  /// Calls `visit` for the rings that no loop before has.
  void forEachOwnRing(function_ref<void(RingLoop &, Ring &)> visit);

  /// Makes `root` carry the positions in all rings; `getLoad` gives what stands
  /// there for a load. Returns the place of the position in each loop.
  SmallVector<unsigned>
  carryPositions(scf::ForOp &root,
                 function_ref<Operation *(Operation *)> getLoad);

  Value constant(OpBuilder &b, int value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }

  void initialize(Value array, int arrivals);

  //===--------------------------------------------------------------------===//
  // The producer
  //===--------------------------------------------------------------------===//

  void makeProducer();

  /// Dots that run beside the threads arrive at the barriers of the last
  /// buffers even when all threads are done. The producer waits for that.
  void drain(scf::ForOp body, ProducerBuilder &producer);

  /// Has each loop of the producer that makes descriptors wait for the copies
  /// of its iterations before.
  void awaitUsesOfDescriptors(ProducerBuilder &producer,
                              ArrayRef<unsigned> places);

  /// Has an iteration of `maker` start when the copies of those before are
  /// done. `places` are those of the positions in the loops that load.
  void awaitCopies(scf::ForOp maker, ProducerBuilder &producer,
                   ArrayRef<unsigned> places);

  /// Whether dots of the loop, or of one in it, read buffers of all blocks.
  bool isOfAllBlocks(RingLoop &in) const;

  /// The place among the arguments of `outer` of a position that `loop`, in it,
  /// carries.
  static unsigned findPlace(scf::ForOp outer, scf::ForOp loop, unsigned place);

  /// How many warps of the producer say that they have filled a buffer. Where
  /// one thread starts all copies, its warp need not. But of several warps each
  /// has to. Else one that is late would find a buffer filled, freed, and wait
  /// for the next time that it is.
  int countWarpArrivals(const Ring &ring) const {
    return ring.hasThreadCopies() || producerWarps > 1 ? producerWarps : 0;
  }

  /// Waits until a buffer of `ring` is free, and starts the copies to it.
  /// Returns by what the warps say so.
  Operation *fill(Ring &ring, const ProducerBuilder &producer, Position at);

  /// Gives the producer as many warps as its copies keep busy.
  void chooseWarps(Region &partition);

  //===--------------------------------------------------------------------===//
  // The consumer
  //===--------------------------------------------------------------------===//

  void makeConsumer();

  /// Has a loop take what it works on from its rings. `isWhole` if nothing
  /// takes anything from them after it.
  void consume(RingLoop &in, scf::ForOp &inner, unsigned place, bool isWhole);

  /// Waits for the buffers of a ring and has the loop use them.
  RingUse takeFrom(Ring &ring, scf::ForOp inner, Position at);

  /// Hands the buffers back when nothing reads them any more.
  Operation *release(const RingLoop &in, Ring &ring, scf::ForOp inner,
                     unsigned place, ArrayRef<Value> slots, bool isWhole);

  /// Hands the buffers of the last iteration back behind the loop, where its
  /// dots are waited for.
  void releaseLast(const RingLoop &in, Ring &ring, scf::ForOp inner,
                   unsigned place);

  Operation *arriveAtEmpty(const Ring &ring, Value stage, Value pred);

  /// The wait of the body after which `product` is done: in its own iteration,
  /// or (late) in the next one.
  static Operation *findWait(scf::ForOp inner, Operation *product,
                             bool &isLate);

  scf::ForOp loop;
  Location loc;
  OpBuilder builder;
  const RingBarriers &barriers;
  const ModuleAxisInfoAnalysis &axisInfo;
  int32_t numWarps;
  int32_t producerWarps = 0;
  SmallVector<Operation *> loads;
  SmallVector<RingLoop> ringLoops;
  /// What the consumer does at barriers of rings, and the fences there, but for
  /// the arrivals of its warps, which are in the second.
  SmallPtrSet<Operation *, 8> ringOps, arrivals;
  /// Loads of what addresses and bounds are computed from.
  SmallPtrSet<Operation *, 8> repeated;
  /// For each of them, the place of its position among the arguments of the
  /// outermost loop, on the side where positions were carried last.
  SmallVector<unsigned> placesInRoot;
  /// For each of them, the first that has the same rings.
  SmallVector<size_t> sharesWith;
  WarpSpecializeOp specialize;

public:
  unsigned numProducts = 0;
};

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_WARPSPECIALIZATION_LOOPPARTITIONING_H

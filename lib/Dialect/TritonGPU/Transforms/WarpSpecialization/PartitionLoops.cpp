//===-- PartitionLoops.cpp - Loops of several groups of warps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One partition copies what the loop loads into rings of buffers, the default
// group takes it from there. Each buffer has two barriers in shared memory:
//
//   producer: wait(empty[stage], phase ^ 1); copy; full[stage] when it is there
//   consumer: wait(full[stage], phase); use; arrive(empty[stage])
//
// `phase` is the parity of the round. The wait for the phase before the first
// one, whose parity is 1, is over at once: the buffers are empty.
//
// Dots that run beside the threads still read their buffers then. They arrive
// at `empty`, too, when they are done.
//
// Blocks of a cluster that fill each other's buffers empty them for each other:
// consumers arrive at the barrier of every block. Where blocks multiply
// together, the first one starts the dots. It hears of the copies of all
// blocks, and all blocks hear of the end of the dots.
//
// A tensor descriptor that the producer makes in a loop has one address
// for all iterations. Copies read it there until they are done. So the producer
// waits for its copies before it makes the descriptor again.
//
// Where the marked loop contains others, both sides run the whole nest and
// carry their places in the rings from one run of an inner loop to the next:
// the buffers of the next tile are filled while the results of the last one are
// written.
//
//===----------------------------------------------------------------------===//

#include "../Pipeline/Buffers.h"
#include "GroupPartition.h"
#include "LoopPartitioning.h"
#include "ProductPartition.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUPARTITIONLOOPS
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

LoopPartitioning::LoopPartitioning(scf::ForOp loop,
                                   const RingBarriers &barriers,
                                   const ModuleAxisInfoAnalysis &axisInfo)
    : loop(loop), loc(loop.getLoc()), builder(loop), barriers(barriers),
      axisInfo(axisInfo), numWarps(lookupNumWarps(loop)) {
  loop.walk([&](scf::ForOp inner) {
    if (llvm::none_of(*inner.getBody(), [](Operation &op) {
          return PlannedOp(op).isInPartition();
        }))
      return;
    ringLoops.emplace_back(inner, barriers, axisInfo);
    sharesWith.push_back(findRingsToShare());
    llvm::append_range(loads, ringLoops.back().getLoads());
  });
}

void LoopPartitioning::run() {
  forEachOwnRing([&](RingLoop &in, Ring &ring) {
    for (RingLoad &load : ring.loads)
      ring.buffers.push_back(allocateBuffers(
          builder, load.load->getLoc(), load.getType(),
          load.strategy->chooseEncoding(load.load), in.numStages));
    ring.full = barriers.allocate(builder, loc, in.numStages);
    ring.empty = barriers.allocate(builder, loc, in.numStages);
  });
  for (auto [in, first] : llvm::zip(ringLoops, sharesWith))
    for (auto [ring, own] : llvm::zip(in.rings, ringLoops[first].rings)) {
      ring.buffers = own.buffers;
      ring.full = own.full;
      ring.empty = own.empty;
    }
  makeProducer();
  makeConsumer();
  int consumerWarps = numWarps;
  // Two groups take all buffers then.
  int numGroups = 1;
  GroupPartition groups(specialize, loop, barriers, ringOps, arrivals);
  if (succeeded(groups.split(specialize)))
    numGroups = 2;
  ProductPartition products(specialize, loop, barriers, ringOps, arrivals,
                            repeated);
  // One warp takes all buffers then. It need not say so.
  bool hasProducts = numGroups == 1 && succeeded(products.split(specialize));
  if (hasProducts)
    consumerWarps = 0;
  // Copies of all blocks arrive where the dots are started.
  bool isOfAllBlocks = hasProducts && products.isOfAllBlocks();
  bool isShared = isOfAllBlocks;
  forEachOwnRing([&](RingLoop &in, Ring &ring) {
    if (isOfAllBlocks)
      barriers.holdForAllBlocks(ring.full);
    int arrivals = ring.hasBulkCopies() + countWarpArrivals(ring);
    if (ring.hasThreadCopies())
      arrivals += producerWarps * lookupThreadsPerWarp(specialize);
    initialize(ring.full, arrivals);
    int numBlocks = ring.isShared(barriers) ? lookupNumCTAs(specialize) : 1;
    initialize(ring.empty, numGroups * (consumerWarps * numBlocks +
                                        int(in.hasProductsBeside)));
    isShared |= ring.isShared(barriers);
  });
  if (isShared) {
    builder.setInsertionPoint(specialize);
    barriers.startSharing(builder, loc);
  }
  builder.setInsertionPointAfter(specialize);
  forEachOwnRing([&](RingLoop &, Ring &ring) {
    for (Value buffers : ring.buffers)
      LocalDeallocOp::create(builder, loc, buffers);
  });
  if (isShared)
    stopSharing();
  forEachOwnRing([&](RingLoop &, Ring &ring) {
    barriers.free(builder, loc, ring.full);
    barriers.free(builder, loc, ring.empty);
  });
  if (hasProducts)
    products.freeBarriers(builder);
}

void LoopPartitioning::stopSharing() {
  if (isa<FunctionOpInterface>(specialize->getParentOp()))
    builder.setInsertionPoint(specialize->getBlock()->getTerminator());
  barriers.stopSharing(builder, loc);
}

unsigned LoopPartitioning::findRingsToShare() const {
  unsigned last = ringLoops.size() - 1;
  for (unsigned first = 0; first < last; ++first) {
    auto surrounds = [&](unsigned other) {
      return sharesWith[other] == first &&
             ringLoops[last].getLoop()->isAncestor(ringLoops[other].getLoop());
    };
    if (sharesWith[first] == first &&
        ringLoops[last].canShareWith(ringLoops[first]) &&
        llvm::none_of(llvm::seq(last), surrounds))
      return first;
  }
  return last;
}

void LoopPartitioning::forEachOwnRing(
    function_ref<void(RingLoop &, Ring &)> visit) {
  for (auto [i, in] : llvm::enumerate(ringLoops))
    if (sharesWith[i] == i)
      for (Ring &ring : in.rings)
        visit(in, ring);
}

SmallVector<unsigned> LoopPartitioning::carryPositions(
    scf::ForOp &root, function_ref<Operation *(Operation *)> getLoad) {
  llvm::DenseMap<Operation *, unsigned> places;
  placesInRoot.assign(ringLoops.size(), 0);
  for (auto [first, in] : llvm::enumerate(ringLoops)) {
    SmallVector<Operation *> users;
    for (auto [other, shares] : llvm::zip(ringLoops, sharesWith))
      if (shares == first)
        llvm::append_range(users, llvm::map_range(other.getLoads(), getLoad));
    if (users.empty())
      continue;
    placesInRoot[first] = root.getNumRegionIterArgs();
    for (auto [load, place] : carryPosition(root, users, in.numStages))
      places[load] = place;
  }
  return llvm::map_to_vector(ringLoops, [&](RingLoop &in) {
    return places.lookup(getLoad(in.getLoads().front()));
  });
}

void LoopPartitioning::initialize(Value array, int arrivals) {
  builder.setInsertionPoint(specialize);
  barriers.initialize(builder, loc, array, arrivals);
}

namespace {

struct PartitionLoops
    : public gpu::impl::TritonGPUPartitionLoopsBase<PartitionLoops> {
  using Base::Base;

  void runOnOperation() override {
    ModuleAxisInfoAnalysis axisInfo(getOperation());
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (LoopPlan(loop).isWarpSpecialized())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      const RingBarriers *barriers = getTargetModel(loop).getRingBarriers();
      if (!barriers) {
        loop.emitError("this machine has no barriers by which groups of warps "
                       "could hand buffers to each other");
        return signalPassFailure();
      }
      LoopPartitioning partitioning(loop, *barriers, axisInfo);
      partitioning.run();
      numProducts += partitioning.numProducts;
      ++numLoops;
    }
  }
};

} // namespace

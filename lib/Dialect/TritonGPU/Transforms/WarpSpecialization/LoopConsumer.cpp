//===-- LoopConsumer.cpp - The warps that take what was copied ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Pipeline/AsyncProducts.h"
#include "../Pipeline/Buffers.h"
#include "LoopPartitioning.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/TripCount.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

void LoopPartitioning::makeConsumer() {
  Block *block = &specialize.getDefaultRegion().emplaceBlock();
  unsigned numResults = loop.getNumResults();
  loop.replaceAllUsesWith(specialize.getResults());
  loop->moveBefore(block, block->end());
  SmallVector<unsigned> places =
      carryPositions(loop, [](Operation *load) { return load; });
  builder.setInsertionPointToEnd(block);
  WarpYieldOp::create(builder, loc, loop.getResults().take_front(numResults));
  // Loops around others come behind these, but first: what dots in them
  // read must be known when these are moved.
  for (auto [in, place] : llvm::reverse(llvm::zip(ringLoops, places))) {
    scf::ForOp inner = in.getLoop();
    bool isWhole = inner == loop;
    consume(in, inner, place, isWhole);
    if (isWhole)
      loop = inner;
  }
  LoopPlan(loop).eraseWarpSpecialized();
}

void LoopPartitioning::consume(RingLoop &in, scf::ForOp &inner, unsigned place,
                               bool isWhole) {
  SmallVector<RingUse> uses;
  for (Ring &ring : in.rings)
    uses.push_back(takeFrom(ring, inner, getPosition(inner, place)));
  auto releaseAll = [&] {
    for (auto [ring, use] : llvm::zip(in.rings, uses))
      use.release = release(in, ring, inner, place, use.slots, isWhole);
  };
  // Loops in this one have the dots.
  if (inner.getBody()->getOps<MatrixProductOpInterface>().empty() &&
      !inner.getBody()->getOps<scf::ForOp>().empty()) {
    releaseAll();
    LoopPlan(inner).eraseNumStages();
    return;
  }
  // A buffer more than the iteration needs is still read in the next one.
  DelayedProducts delayed(inner, uses, in.numStages, axisInfo);
  if (in.numStages > 1 && delayed.find()) {
    releaseAll();
    numProducts += delayed.apply(inner);
    return;
  }
  // A dot that runs on keeps its buffers for an iteration more.
  SmallVector<Value> buffers;
  if (in.numStages > 1)
    for (Ring &ring : in.rings)
      llvm::append_range(buffers, ring.buffers);
  numProducts += makeProductsAsync(inner, buffers);
  LoopPlan(inner).eraseNumStages();
  releaseAll();
}

RingUse LoopPartitioning::takeFrom(Ring &ring, scf::ForOp inner, Position at) {
  RingUse use;
  use.isFilledByThreads = ring.hasThreadCopies();
  Block *body = inner.getBody();
  Operation *first = body->getTerminator();
  for (RingLoad &load : ring.loads)
    for (Operation *user : load.load->getUsers())
      if (Operation *inBody = body->findAncestorOpInBlock(*user);
          inBody->isBeforeInBlock(first))
        first = inBody;
  builder.setInsertionPoint(first);
  Value full = getBuffer(builder, loc, ring.full, at.stage);
  use.wait = barriers.wait(builder, loc, full, at.phase, ring.buffers);
  SmallVector<Value> writtenByThreads;
  for (auto [load, buffers] : llvm::zip(ring.loads, ring.buffers))
    if (!load.strategy->usesBarriers())
      writtenByThreads.push_back(buffers);
  use.fence = barriers.fenceForProducts(builder, loc, writtenByThreads);
  ringOps.insert(use.wait);
  if (use.fence)
    ringOps.insert(use.fence);
  for (auto [load, buffers] : llvm::zip(ring.loads, ring.buffers))
    use.slots.push_back(
        getBuffer(builder, load.load->getLoc(), buffers, at.stage));
  // The first user may go away with the load that it uses.
  for (auto [load, slot] : llvm::zip(ring.loads, use.slots)) {
    readBuffer(
        builder, load.load, *load.strategy, slot, /*token=*/Value(),
        [](Operation *) {}, [](Operation *) {});
    load.load->erase();
  }
  return use;
}

Operation *LoopPartitioning::release(const RingLoop &in, Ring &ring,
                                     scf::ForOp inner, unsigned place,
                                     ArrayRef<Value> slots, bool isWhole) {
  Position at = getPosition(inner, place);
  Operation *end = slots.front().getDefiningOp();
  Operation *lateEnd = nullptr;
  for (Value slot : slots)
    if (slot.getDefiningOp() && end->isBeforeInBlock(slot.getDefiningOp()))
      end = slot.getDefiningOp();
  llvm::SetVector<Value> views(slots.begin(), slots.end());
  for (size_t i = 0; i < views.size(); ++i)
    for (Operation *user : views[i].getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        views.insert(user->getResult(0));
      Operation *done = inner.getBody()->findAncestorOpInBlock(*user);
      auto product = dyn_cast<MatrixProductOpInterface>(user);
      if (product && product.isAsync()) {
        bool isLate = false;
        done = findWait(inner, user, isLate);
        if (isLate) {
          if (!lateEnd || lateEnd->isBeforeInBlock(done))
            lateEnd = done;
          continue;
        }
      }
      if (end->isBeforeInBlock(done))
        end = done;
    }
  builder.setInsertionPointAfter(lateEnd ? lateEnd : end);
  Value stage = at.stage, pred;
  if (lateEnd) {
    // Done with those of the iteration before, if there was one.
    stage = getStageBefore(builder, loc, stage, in.numStages);
    pred = TripCount(inner, loc).hasPrevious(builder, inner.getInductionVar());
  }
  if (in.hasProductsBeside) {
    // All warps wait for each filling, so that none takes another one for it.
    Value empty = getBuffer(builder, loc, ring.empty, stage);
    ringOps.insert(barriers.arriveAfterProducts(builder, loc, empty));
  }
  Operation *arrival = arriveAtEmpty(ring, stage, pred);
  arrivals.insert(arrival);
  if (lateEnd && !isWhole)
    releaseLast(in, ring, inner, place);
  return arrival;
}

void LoopPartitioning::releaseLast(const RingLoop &in, Ring &ring,
                                   scf::ForOp inner, unsigned place) {
  Operation *wait = inner->getNextNode();
  assert(cast<MatrixProductWaitOpInterface>(wait).getMaxPendings() == 0 &&
         "products that run on after the loop");
  builder.setInsertionPointAfter(wait);
  Value hasRun = hasIterations(builder, loc, inner);
  Value stage =
      getStageBefore(builder, loc, inner.getResult(place), in.numStages);
  arriveAtEmpty(ring, stage, hasRun);
}

Operation *LoopPartitioning::arriveAtEmpty(const Ring &ring, Value stage,
                                           Value pred) {
  Value empty = getBuffer(builder, loc, ring.empty, stage);
  return barriers.arrive(builder, loc, empty, numWarps, pred,
                         ring.isShared(barriers));
}

Operation *LoopPartitioning::findWait(scf::ForOp inner, Operation *product,
                                      bool &isLate) {
  unsigned started = 0;
  auto isDone = [&](Operation &op) {
    auto wait = dyn_cast<MatrixProductWaitOpInterface>(op);
    auto other = dyn_cast<MatrixProductOpInterface>(op);
    started += other && other.isAsync();
    return (wait && wait.getMaxPendings() <= started) ||
           (other && other.canWaitInOrder() && !other.isAsync());
  };
  Block *body = inner.getBody();
  for (Operation &op :
       llvm::make_range(std::next(product->getIterator()), body->end()))
    if (isDone(op))
      return &op;
  isLate = true;
  for (Operation &op : llvm::make_range(body->begin(), product->getIterator()))
    if (isDone(op))
      return &op;
  // In a loop of one dot, its own wait is the next.
  for (Operation &op : llvm::make_range(product->getIterator(), body->end()))
    if (isDone(op))
      return &op;
  llvm_unreachable("a product that nobody waits for");
}

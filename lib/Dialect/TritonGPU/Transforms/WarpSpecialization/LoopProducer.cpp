//===-- LoopProducer.cpp - The warps that copy ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Pipeline/Buffers.h"
#include "LoopPartitioning.h"
#include "ProducerRegisters.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

constexpr int kWarpsForThreadCopies = 4;

/// The layout for another number of warps; null for those that say more than
/// how elements are dealt to threads.
BlockedEncodingAttr withWarps(BlockedEncodingAttr encoding, unsigned warps) {
  SmallVector<unsigned> grid(encoding.getWarpsPerCTA());
  auto count = [&] {
    unsigned total = 1;
    for (unsigned size : grid)
      total *= size;
    return total;
  };
  while (count() > warps)
    *llvm::max_element(grid) /= 2;
  return BlockedEncodingAttr::get(encoding.getContext(),
                                  encoding.getSizePerThread(),
                                  encoding.getThreadsPerWarp(), grid,
                                  encoding.getOrder(), encoding.getCTALayout());
}

bool isBlocked(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return true;
  Attribute encoding = tensor.getEncoding();
  while (auto slice = dyn_cast<SliceEncodingAttr>(encoding))
    encoding = slice.getParent();
  return isa<BlockedEncodingAttr>(encoding);
}

} // namespace

void LoopPartitioning::makeProducer() {
  builder.setInsertionPoint(loop);
  specialize = WarpSpecializeOp::create(builder, loc, loop.getResultTypes(),
                                        ArrayRef<int32_t>{numWarps},
                                        /*numPartitionRegions=*/1);
  Region &partition = specialize.getPartitionRegions().front();
  ProducerSlice slice(loop, loads);
  for (Operation *op : slice.getOperations())
    if (isa<LoadOp>(op))
      repeated.insert(op);
  ProducerBuilder producer(slice, specialize, partition);
  scf::ForOp body = producer.build();
  SmallVector<std::pair<Operation *, Ring *>> warpArrivals;
  auto getClone = [&](Operation *load) { return producer.getClone(load); };
  SmallVector<unsigned> places = carryPositions(body, getClone);
  for (auto [in, place] : llvm::zip(ringLoops, places)) {
    Operation *clone = getClone(in.getLoads().front());
    Position at = getPosition(clone->getParentOfType<scf::ForOp>(), place);
    for (Ring &ring : in.rings) {
      Ring mine = ring;
      mine.full = producer.bring(mine.full);
      mine.empty = producer.bring(mine.empty);
      for (Value &buffers : mine.buffers)
        buffers = producer.bring(buffers);
      warpArrivals.push_back({fill(mine, producer, at), &ring});
    }
  }
  awaitUsesOfDescriptors(producer, places);
  for (Operation *load : loads)
    producer.getClone(load)->erase();
  drain(body, producer);
  chooseWarps(partition);
  for (auto [arrival, ring] : warpArrivals) {
    if (int count = countWarpArrivals(*ring))
      barriers.setArrivals(arrival, count);
    else
      arrival->erase();
  }
}

void LoopPartitioning::drain(scf::ForOp body, ProducerBuilder &producer) {
  OpBuilder b(body);
  b.setInsertionPointAfter(body);
  for (auto [i, in] : llvm::enumerate(ringLoops)) {
    if (sharesWith[i] != i || !in.hasProductsBeside)
      continue;
    Position at{body.getResult(placesInRoot[i]),
                body.getResult(placesInRoot[i] + 1)};
    for (int stage = 0; stage < in.numStages; ++stage) {
      Value before = arith::XOrIOp::create(b, loc, at.phase, constant(b, 1));
      for (Ring &ring : in.rings)
        barriers.wait(b, loc,
                      getBuffer(b, loc, producer.bring(ring.empty), at.stage),
                      before, /*buffers=*/{});
      at = getPositionAfter(b, loc, at, in.numStages);
    }
  }
}

void LoopPartitioning::awaitUsesOfDescriptors(ProducerBuilder &producer,
                                              ArrayRef<unsigned> places) {
  llvm::SetVector<Operation *> makers;
  specialize.getPartitionRegions().front().walk([&](MakeTensorDescOp make) {
    makers.insert(make->getParentOfType<scf::ForOp>());
  });
  for (Operation *maker : makers)
    awaitCopies(cast<scf::ForOp>(maker), producer, places);
}

void LoopPartitioning::awaitCopies(scf::ForOp maker, ProducerBuilder &producer,
                                   ArrayRef<unsigned> places) {
  OpBuilder b = OpBuilder::atBlockBegin(maker.getBody());
  SmallPtrSet<Value, 4> seen;
  for (auto [in, place] : llvm::zip(ringLoops, places)) {
    Operation *load = producer.getClone(in.getLoads().front());
    if (!maker->isAncestor(load))
      continue;
    unsigned here =
        findPlace(maker, load->getParentOfType<scf::ForOp>(), place);
    Position at = getPosition(maker, here);
    if (!seen.insert(at.stage).second)
      continue;
    for (int stage = 0; stage < in.numStages; ++stage) {
      Value before = arith::XOrIOp::create(b, loc, at.phase, constant(b, 1));
      for (Ring &ring : in.rings) {
        if (!ring.hasBulkCopies())
          continue;
        // Only the first block hears of copies that blocks make together.
        Value done = isOfAllBlocks(in) ? ring.empty : ring.full;
        barriers.wait(b, loc, getBuffer(b, loc, producer.bring(done), at.stage),
                      before, /*buffers=*/{});
      }
      at = getPositionAfter(b, loc, at, in.numStages);
    }
  }
}

bool LoopPartitioning::isOfAllBlocks(RingLoop &in) const {
  return in.getLoop()
      ->walk([&](MatrixProductOpInterface product) {
        return barriers.isOfAllBlocks(product) ? WalkResult::interrupt()
                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

unsigned LoopPartitioning::findPlace(scf::ForOp outer, scf::ForOp loop,
                                     unsigned place) {
  while (loop != outer) {
    Value init = loop.getInitArgs()[place];
    if (auto result = dyn_cast<OpResult>(init)) {
      // A loop before this one has moved it on.
      loop = cast<scf::ForOp>(result.getOwner());
      place = result.getResultNumber();
    } else {
      loop = cast<scf::ForOp>(init.getParentBlock()->getParentOp());
      place =
          cast<BlockArgument>(init).getArgNumber() - loop.getNumInductionVars();
    }
  }
  return place;
}

Operation *LoopPartitioning::fill(Ring &ring, const ProducerBuilder &producer,
                                  Position at) {
  SmallVector<Operation *> clones;
  for (RingLoad &load : ring.loads)
    clones.push_back(producer.getClone(load.load));
  OpBuilder b(clones.front());
  Value before = arith::XOrIOp::create(b, loc, at.phase, constant(b, 1));
  Value empty = getBuffer(b, loc, ring.empty, at.stage);
  barriers.wait(b, loc, empty, before, /*buffers=*/{});
  Value full = getBuffer(b, loc, ring.full, at.stage);
  if (ring.hasBulkCopies()) {
    Value always = arith::ConstantIntOp::create(b, loc, 1, 1);
    barriers.announce(b, loc, full, ring.countBulkBytes(), always);
  }
  for (auto [load, clone, buffers] :
       llvm::zip(ring.loads, clones, ring.buffers)) {
    b.setInsertionPoint(clone);
    Value slot = getBuffer(b, clone->getLoc(), buffers, at.stage);
    load.strategy->start(b, clone, slot, full, load.contiguity);
  }
  b.setInsertionPoint(clones.back());
  if (ring.hasThreadCopies())
    barriers.arriveAfterCopies(b, loc, full);
  // What no asynchronous copy could do went through registers, and is there
  // now.
  return barriers.arrive(b, loc, full, /*count=*/1, /*predicate=*/Value(),
                         /*isShared=*/false);
}

void LoopPartitioning::chooseWarps(Region &partition) {
  bool copies = false;
  forEachOwnRing(
      [&](RingLoop &, Ring &ring) { copies |= ring.hasThreadCopies(); });
  producerWarps = std::min(numWarps, copies ? kWarpsForThreadCopies : 1);
  bool canChange = true;
  partition.walk([&](Operation *op) {
    canChange &= llvm::all_of(op->getResultTypes(), isBlocked) &&
                 llvm::all_of(op->getOperandTypes(), isBlocked);
  });
  if (!canChange)
    producerWarps = numWarps;
  specialize.setPartitionNumWarps({producerWarps});
  int registers = 0;
  int numThreads = producerWarps * lookupThreadsPerWarp(specialize);
  for (const RingLoop &in : ringLoops)
    registers = std::max(registers, countProducerRegisters(in, numThreads));
  specialize.setRequestedRegisters(ArrayRef<int32_t>{registers});
  if (producerWarps == numWarps)
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](BlockedEncodingAttr encoding) {
    return std::optional<Attribute>(withWarps(encoding, producerWarps));
  });
  replacer.addReplacement(
      [&](DenseElementsAttr elements)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        auto type = cast<ShapedType>(replacer.replace(elements.getType()));
        return std::pair(Attribute(elements.reshape(type)), WalkResult::skip());
      });
  partition.walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
  });
}

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

#include "../Pipeline/AsyncProducts.h"
#include "../Pipeline/Buffers.h"
#include "DelayedProducts.h"
#include "GroupPartition.h"
#include "Producer.h"
#include "ProducerRegisters.h"
#include "ProductPartition.h"
#include "Rings.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-partition-loops"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUPARTITIONLOOPS
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

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

class LoopPartitioning {
public:
  LoopPartitioning(scf::ForOp loop, const RingBarriers &barriers,
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

  void run() {
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

private:
  /// All that was copied to this block is there; but consumers of the others
  /// may still arrive at its barriers, as late as the kernel ends, if possible.
  void stopSharing() {
    if (isa<FunctionOpInterface>(specialize->getParentOp()))
      builder.setInsertionPoint(specialize->getBlock()->getTerminator());
    barriers.stopSharing(builder, loc);
  }

  /// The first loop whose rings the last one can use, too; itself if there is
  /// none. One position goes through all loops that share rings, one after the
  /// other: none of them is in another.
  unsigned findRingsToShare() const {
    unsigned last = ringLoops.size() - 1;
    for (unsigned first = 0; first < last; ++first) {
      auto surrounds = [&](unsigned other) {
        return sharesWith[other] == first &&
               ringLoops[last].getLoop()->isAncestor(
                   ringLoops[other].getLoop());
      };
      if (sharesWith[first] == first &&
          ringLoops[last].canShareWith(ringLoops[first]) &&
          llvm::none_of(llvm::seq(last), surrounds))
        return first;
    }
    return last;
  }

  /// Calls `visit` for the rings that no loop before has.
  void forEachOwnRing(function_ref<void(RingLoop &, Ring &)> visit) {
    for (auto [i, in] : llvm::enumerate(ringLoops))
      if (sharesWith[i] == i)
        for (Ring &ring : in.rings)
          visit(in, ring);
  }

  /// Makes `root` carry the positions in all rings; `getLoad` gives what stands
  /// there for a load. Returns the place of the position in each loop.
  SmallVector<unsigned>
  carryPositions(scf::ForOp &root,
                 function_ref<Operation *(Operation *)> getLoad) {
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

  Value constant(OpBuilder &b, int value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }

  void initialize(Value array, int arrivals) {
    builder.setInsertionPoint(specialize);
    barriers.initialize(builder, loc, array, arrivals);
  }

  //===--------------------------------------------------------------------===//
  // The producer
  //===--------------------------------------------------------------------===//

  void makeProducer() {
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

  /// Dots that run beside the threads arrive at the barriers of the last
  /// buffers even when all threads are done. The producer waits for that.
  void drain(scf::ForOp body, ProducerBuilder &producer) {
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

  /// Has each loop of the producer that makes descriptors wait for the copies
  /// of its iterations before.
  void awaitUsesOfDescriptors(ProducerBuilder &producer,
                              ArrayRef<unsigned> places) {
    llvm::SetVector<Operation *> makers;
    specialize.getPartitionRegions().front().walk([&](MakeTensorDescOp make) {
      makers.insert(make->getParentOfType<scf::ForOp>());
    });
    for (Operation *maker : makers)
      awaitCopies(cast<scf::ForOp>(maker), producer, places);
  }

  /// Has an iteration of `maker` start when the copies of those before are
  /// done. `places` are those of the positions in the loops that load.
  void awaitCopies(scf::ForOp maker, ProducerBuilder &producer,
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
          barriers.wait(b, loc,
                        getBuffer(b, loc, producer.bring(done), at.stage),
                        before, /*buffers=*/{});
        }
        at = getPositionAfter(b, loc, at, in.numStages);
      }
    }
  }

  /// Whether dots of the loop, or of one in it, read buffers of all blocks.
  bool isOfAllBlocks(RingLoop &in) const {
    return in.getLoop()
        ->walk([&](MatrixProductOpInterface product) {
          return barriers.isOfAllBlocks(product) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// The place among the arguments of `outer` of a position that `loop`, in it,
  /// carries.
  static unsigned findPlace(scf::ForOp outer, scf::ForOp loop, unsigned place) {
    while (loop != outer) {
      Value init = loop.getInitArgs()[place];
      if (auto result = dyn_cast<OpResult>(init)) {
        // A loop before this one has moved it on.
        loop = cast<scf::ForOp>(result.getOwner());
        place = result.getResultNumber();
      } else {
        loop = cast<scf::ForOp>(init.getParentBlock()->getParentOp());
        place = cast<BlockArgument>(init).getArgNumber() -
                loop.getNumInductionVars();
      }
    }
    return place;
  }

  /// How many warps of the producer say that they have filled a buffer. Where
  /// one thread starts all copies, its warp need not. But of several warps each
  /// has to. Else one that is late would find a buffer filled, freed, and wait
  /// for the next time that it is.
  int countWarpArrivals(const Ring &ring) const {
    return ring.hasThreadCopies() || producerWarps > 1 ? producerWarps : 0;
  }

  /// Waits until a buffer of `ring` is free, and starts the copies to it.
  /// Returns by what the warps say so.
  Operation *fill(Ring &ring, const ProducerBuilder &producer, Position at) {
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

  /// Gives the producer as many warps as its copies keep busy.
  void chooseWarps(Region &partition) {
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
          return std::pair(Attribute(elements.reshape(type)),
                           WalkResult::skip());
        });
    partition.walk([&](Operation *op) {
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                                 /*replaceLocs=*/false, /*replaceTypes=*/true);
    });
  }

  //===--------------------------------------------------------------------===//
  // The consumer
  //===--------------------------------------------------------------------===//

  void makeConsumer() {
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

  /// Has a loop take what it works on from its rings. `isWhole` if nothing
  /// takes anything from them after it.
  void consume(RingLoop &in, scf::ForOp &inner, unsigned place, bool isWhole) {
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

  /// Waits for the buffers of a ring and has the loop use them.
  RingUse takeFrom(Ring &ring, scf::ForOp inner, Position at) {
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

  /// Hands the buffers back when nothing reads them any more.
  Operation *release(const RingLoop &in, Ring &ring, scf::ForOp inner,
                     unsigned place, ArrayRef<Value> slots, bool isWhole) {
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
      pred =
          TripCount(inner, loc).hasPrevious(builder, inner.getInductionVar());
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

  /// Hands the buffers of the last iteration back behind the loop, where its
  /// dots are waited for.
  void releaseLast(const RingLoop &in, Ring &ring, scf::ForOp inner,
                   unsigned place) {
    Operation *wait = inner->getNextNode();
    assert(cast<MatrixProductWaitOpInterface>(wait).getMaxPendings() == 0 &&
           "products that run on after the loop");
    builder.setInsertionPointAfter(wait);
    Value hasRun = hasIterations(builder, loc, inner);
    Value stage =
        getStageBefore(builder, loc, inner.getResult(place), in.numStages);
    arriveAtEmpty(ring, stage, hasRun);
  }

  Operation *arriveAtEmpty(const Ring &ring, Value stage, Value pred) {
    Value empty = getBuffer(builder, loc, ring.empty, stage);
    return barriers.arrive(builder, loc, empty, numWarps, pred,
                           ring.isShared(barriers));
  }

  /// The wait of the body after which `product` is done: in its own iteration,
  /// or (late) in the next one.
  static Operation *findWait(scf::ForOp inner, Operation *product,
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
    for (Operation &op :
         llvm::make_range(body->begin(), product->getIterator()))
      if (isDone(op))
        return &op;
    // In a loop of one dot, its own wait is the next.
    for (Operation &op : llvm::make_range(product->getIterator(), body->end()))
      if (isDone(op))
        return &op;
    llvm_unreachable("a product that nobody waits for");
  }

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

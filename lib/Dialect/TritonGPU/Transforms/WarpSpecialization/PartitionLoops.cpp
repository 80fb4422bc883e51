//===-- PartitionLoops.cpp - Loops of several groups of warps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One partition copies what the loop loads into rings of buffers, the default
// group takes it from there. Each buffer has two mbarriers:
//
//   producer: wait(empty[stage], phase ^ 1); copy; full[stage] when it is there
//   consumer: wait(full[stage], phase); use; arrive(empty[stage])
//
// `phase` is the parity of the round. The wait for the phase before the first
// one, whose parity is 1, is over at once: the buffers are empty.
//
//===----------------------------------------------------------------------===//

#include "../Pipeline/AsyncProducts.h"
#include "../Pipeline/Buffers.h"
#include "Producer.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/IR/PatternMatch.h"
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

/// What a thread of a producer needs: of one that only starts bulk copies, and
/// of one that computes addresses for its own.
constexpr int kRegistersForBulkCopies = 40;
constexpr int kRegistersForThreadCopies = 104;
constexpr int kWarpsForThreadCopies = 4;

struct RingLoad {
  Operation *load = nullptr;
  const CopyStrategy *strategy = nullptr;
  unsigned contiguity = 1;
  Value buffers;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(load->getResult(0).getType());
  }
};

/// Loads whose buffers are filled and freed together.
struct Ring {
  SmallVector<RingLoad> loads;
  /// Arrays of barriers.
  Value full, empty;

  bool hasBulkCopies() const {
    return llvm::any_of(loads, [](const RingLoad &load) {
      return load.strategy->usesBarriers();
    });
  }
  bool hasThreadCopies() const {
    return llvm::any_of(loads, [](const RingLoad &load) {
      return !load.strategy->usesBarriers();
    });
  }
};

/// The place in the rings, as a loop carries it.
struct Position {
  Value stage, phase;
};

/// The first product of the body that a value leads to.
Operation *findProduct(Operation *load, Block *body) {
  llvm::SetVector<Operation *> work;
  work.insert(load);
  Operation *first = nullptr;
  for (size_t i = 0; i < work.size(); ++i)
    for (Operation *user : work[i]->getUsers()) {
      Operation *inBody = body->findAncestorOpInBlock(*user);
      if (!inBody || inBody == body->getTerminator())
        continue;
      if (!isa<MatrixProductOpInterface>(inBody))
        work.insert(inBody);
      else if (!first || inBody->isBeforeInBlock(first))
        first = inBody;
    }
  return first;
}

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
  LoopPartitioning(scf::ForOp loop, const ModuleAxisInfoAnalysis &axisInfo)
      : loop(loop), loc(loop.getLoc()), builder(loop),
        numStages(*getI32Attr(loop, kNumStagesAttr)),
        numWarps(lookupNumWarps(loop)) {
    llvm::MapVector<Operation *, Ring> ofProduct;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!op.hasAttr(kPartitionAttr))
        continue;
      loads.push_back(&op);
      RingLoad load{&op, CopyStrategy::find(&op, loop)};
      if (auto pointers = dyn_cast<LoadOp>(op)) {
        load.contiguity = axisInfo.getContiguity(pointers.getPtr());
        if (Value mask = pointers.getMask())
          load.contiguity =
              std::min(load.contiguity, axisInfo.getMaskAlignment(mask));
      }
      Operation *product = findProduct(&op, loop.getBody());
      ofProduct[product ? product : &op].loads.push_back(load);
    }
    for (auto &[product, ring] : ofProduct)
      rings.push_back(std::move(ring));
  }

  void run() {
    for (Ring &ring : rings) {
      for (RingLoad &load : ring.loads)
        load.buffers = allocateBuffers(
            builder, load.load->getLoc(), load.getType(),
            load.strategy->chooseEncoding(load.load), numStages);
      ring.full = allocateBarriers(builder, loc, numStages);
      ring.empty = allocateBarriers(builder, loc, numStages);
    }
    makeProducer();
    for (Ring &ring : rings) {
      // Threads whose copies arrive, and warps.
      int arrivals = ring.hasBulkCopies();
      if (ring.hasThreadCopies())
        arrivals += producerWarps * (1 + lookupThreadsPerWarp(specialize));
      initialize(ring.full, arrivals);
      initialize(ring.empty, numWarps);
    }
    makeConsumer();
    builder.setInsertionPointAfter(specialize);
    for (Ring &ring : rings) {
      freeBarriers(builder, loc, ring.full);
      freeBarriers(builder, loc, ring.empty);
      for (RingLoad &load : ring.loads)
        LocalDeallocOp::create(builder, loc, load.buffers);
    }
  }

private:
  Value constant(OpBuilder &b, int value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }

  void initialize(Value barriers, int count) {
    builder.setInsertionPoint(specialize);
    for (int i = 0; i < numStages; ++i)
      nvidia_gpu::InitBarrierOp::create(
          builder, loc, getBuffer(builder, loc, barriers, constant(builder, i)),
          count);
  }

  /// The position in the rings that a loop carries from argument `first` on.
  static Position getPosition(scf::ForOp from, unsigned first) {
    return {from.getRegionIterArg(first), from.getRegionIterArg(first + 1)};
  }

  /// Makes `from` carry the position in the rings.
  Position carryPosition(scf::ForOp &from) {
    OpBuilder outside(from);
    Value zero = constant(outside, 0), one = constant(outside, 1),
          end = constant(outside, numStages);
    IRRewriter rewriter(outside);
    auto advance = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> args) {
      Value next = arith::AddIOp::create(b, loc, args[0], one);
      Value wraps =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, end);
      Value other = arith::XOrIOp::create(b, loc, args[1], one);
      Value stage = arith::SelectOp::create(b, loc, wraps, zero, next);
      Value phase = arith::SelectOp::create(b, loc, wraps, other, args[1]);
      return SmallVector<Value>{stage, phase};
    };
    auto withPosition = cast<scf::ForOp>(*from.replaceWithAdditionalYields(
        rewriter, {zero, zero}, /*replaceInitOperandUsesInLoop=*/false,
        advance));
    from = withPosition;
    return getPosition(from, from.getNumRegionIterArgs() - 2);
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
    ProducerBuilder producer(slice, specialize, partition);
    scf::ForOp body = producer.build();
    struct Mine {
      Value full, empty;
      SmallVector<Value> buffers;
    };
    SmallVector<Mine> mine;
    for (Ring &ring : rings) {
      Mine &my = mine.emplace_back();
      my.full = producer.bring(ring.full);
      my.empty = producer.bring(ring.empty);
      for (RingLoad &load : ring.loads)
        my.buffers.push_back(producer.bring(load.buffers));
    }
    Position at = carryPosition(body);
    OpBuilder b(body.getContext());
    SmallVector<nvidia_gpu::ArriveBarrierOp> warpArrivals;
    for (auto [ring, my] : llvm::zip(rings, mine)) {
      SmallVector<Operation *> clones;
      for (RingLoad &load : ring.loads)
        clones.push_back(producer.getClone(load.load));
      b.setInsertionPoint(clones.front());
      Value one = constant(b, 1);
      Value before = arith::XOrIOp::create(b, loc, at.phase, one);
      Value empty = getBuffer(b, loc, my.empty, at.stage);
      nvidia_gpu::WaitBarrierOp::create(b, loc, empty, before);
      Value full = getBuffer(b, loc, my.full, at.stage);
      if (ring.hasBulkCopies())
        announce(b, ring, full);
      for (auto [load, clone, buffers] :
           llvm::zip(ring.loads, clones, my.buffers)) {
        b.setInsertionPoint(clone);
        Value slot = getBuffer(b, clone->getLoc(), buffers, at.stage);
        for (Operation *op :
             load.strategy->start(b, clone, slot, full, load.contiguity))
          // Nobody waits for groups of copies here.
          if (isa<AsyncCommitGroupOp>(op))
            op->erase();
      }
      b.setInsertionPoint(clones.back());
      if (!ring.hasThreadCopies())
        continue;
      nvidia_gpu::AsyncCopyMbarrierArriveOp::create(b, loc, full,
                                                    /*noIncrement=*/true);
      // What no asynchronous copy could do went through registers, and is
      // there now.
      warpArrivals.push_back(
          nvidia_gpu::ArriveBarrierOp::create(b, loc, full, /*count=*/1));
    }
    for (Operation *load : loads)
      producer.getClone(load)->erase();
    chooseWarps(partition);
    for (nvidia_gpu::ArriveBarrierOp arrival : warpArrivals)
      arrival.setCount(producerWarps);
  }

  /// Tells `full` how many bytes the copies of `ring` will bring.
  void announce(OpBuilder &b, const Ring &ring, Value full) {
    int64_t bytes = 0;
    for (const RingLoad &load : ring.loads)
      if (load.strategy->usesBarriers())
        bytes += load.getType().getNumElements() *
                 load.getType().getElementTypeBitWidth() / 8;
    Value always = arith::ConstantIntOp::create(b, loc, 1, 1);
    nvidia_gpu::BarrierExpectOp::create(b, loc, full, bytes, always);
  }

  /// Gives the producer as many warps as its copies keep busy.
  void chooseWarps(Region &partition) {
    bool copies = llvm::any_of(
        rings, [](const Ring &ring) { return ring.hasThreadCopies(); });
    producerWarps = std::min(numWarps, copies ? kWarpsForThreadCopies : 1);
    bool canChange = true;
    partition.walk([&](Operation *op) {
      canChange &= llvm::all_of(op->getResultTypes(), isBlocked) &&
                   llvm::all_of(op->getOperandTypes(), isBlocked);
    });
    if (!canChange)
      producerWarps = numWarps;
    specialize.setPartitionNumWarps({producerWarps});
    specialize.setRequestedRegisters(ArrayRef<int32_t>{
        copies ? kRegistersForThreadCopies : kRegistersForBulkCopies});
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
    loop.replaceAllUsesWith(specialize.getResults());
    loop->moveBefore(block, block->end());
    Position at = carryPosition(loop);
    unsigned position = loop.getNumRegionIterArgs() - 2;
    builder.setInsertionPointToEnd(block);
    WarpYieldOp::create(builder, loc, loop.getResults().drop_back(2));
    SmallVector<SmallVector<Value>> slots(rings.size());
    for (auto [ring, ringSlots] : llvm::zip(rings, slots))
      takeFrom(ring, at, ringSlots);
    // A product that runs on keeps its buffers for an iteration more.
    SmallVector<Value> buffers;
    if (numStages > 1)
      for (Ring &ring : rings)
        for (RingLoad &load : ring.loads)
          buffers.push_back(load.buffers);
    numProducts = makeProductsAsync(loop, buffers);
    // The loop may have been replaced by one that carries factors, too.
    at = getPosition(loop, position);
    for (auto [ring, ringSlots] : llvm::zip(rings, slots))
      release(ring, at, ringSlots);
    for (StringRef name :
         {StringRef(kWarpSpecializeAttr), StringRef(kNumStagesAttr)})
      loop->removeAttr(name);
  }

  /// Waits for the buffers of a ring and has the loop use them.
  void takeFrom(Ring &ring, Position at, SmallVector<Value> &slots) {
    Block *body = loop.getBody();
    Operation *first = body->getTerminator();
    for (RingLoad &load : ring.loads)
      for (Operation *user : load.load->getUsers())
        if (Operation *inBody = body->findAncestorOpInBlock(*user);
            inBody->isBeforeInBlock(first))
          first = inBody;
    builder.setInsertionPoint(first);
    Value full = getBuffer(builder, loc, ring.full, at.stage);
    SmallVector<Value> buffers;
    for (RingLoad &load : ring.loads)
      buffers.push_back(load.buffers);
    nvidia_gpu::WaitBarrierOp::create(builder, loc, full, at.phase,
                                      /*pred=*/Value(), buffers);
    // What threads wrote is there; products read it through another proxy.
    bool fence = llvm::any_of(ring.loads, [](const RingLoad &load) {
      return !load.strategy->usesBarriers() &&
             isa<NVMMASharedEncodingAttr>(
                 cast<MemDescType>(load.buffers.getType()).getEncoding());
    });
    if (fence)
      nvidia_gpu::FenceAsyncSharedOp::create(builder, loc, /*bCluster=*/false);
    for (RingLoad &load : ring.loads)
      slots.push_back(
          getBuffer(builder, load.load->getLoc(), load.buffers, at.stage));
    // The first user may go away with the load that it uses.
    for (auto [load, slot] : llvm::zip(ring.loads, slots)) {
      readBuffer(
          builder, load.load, *load.strategy, slot, /*token=*/Value(),
          [](Operation *) {}, [](Operation *) {});
      load.load->erase();
    }
  }

  /// Hands the buffers back when nothing reads them any more.
  void release(Ring &ring, Position at, ArrayRef<Value> slots) {
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
        Operation *done = loop.getBody()->findAncestorOpInBlock(*user);
        auto product = dyn_cast<MatrixProductOpInterface>(user);
        if (product && product.isAsync()) {
          bool isLate = false;
          done = findWait(user, isLate);
          if (isLate) {
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
      OpBuilder outside(loop);
      Value zero = constant(outside, 0), one = constant(outside, 1),
            last = constant(outside, numStages - 1);
      Value isFirst = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, stage, zero);
      Value before = arith::SubIOp::create(builder, loc, stage, one);
      stage = arith::SelectOp::create(builder, loc, isFirst, last, before);
      pred =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                loop.getInductionVar(), loop.getLowerBound());
    }
    Value empty = getBuffer(builder, loc, ring.empty, stage);
    nvidia_gpu::ArriveBarrierOp::create(builder, loc, empty, numWarps, pred);
  }

  /// The wait of the body after which `product` is done: in its own iteration,
  /// or (late) in the next one.
  Operation *findWait(Operation *product, bool &isLate) {
    unsigned started = 0;
    auto isDone = [&](Operation &op) {
      auto wait = dyn_cast<nvidia_gpu::WarpGroupDotWaitOp>(op);
      auto other = dyn_cast<MatrixProductOpInterface>(op);
      started += other && other.isAsync();
      return (wait && wait.getPendings() <= started) ||
             (other && other.canWaitInOrder() && !other.isAsync());
    };
    Block *body = loop.getBody();
    for (Operation &op :
         llvm::make_range(std::next(product->getIterator()), body->end()))
      if (isDone(op))
        return &op;
    isLate = true;
    for (Operation &op :
         llvm::make_range(body->begin(), product->getIterator()))
      if (isDone(op))
        return &op;
    // In a loop of one product, its own wait is the next.
    for (Operation &op : llvm::make_range(product->getIterator(), body->end()))
      if (isDone(op))
        return &op;
    llvm_unreachable("a product that nobody waits for");
  }

  scf::ForOp loop;
  Location loc;
  OpBuilder builder;
  int32_t numStages, numWarps;
  int32_t producerWarps = 0;
  SmallVector<Operation *> loads;
  SmallVector<Ring> rings;
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
      if (loop->hasAttr(kWarpSpecializeAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      LoopPartitioning partitioning(loop, axisInfo);
      partitioning.run();
      numProducts += partitioning.numProducts;
      ++numLoops;
    }
  }
};

} // namespace

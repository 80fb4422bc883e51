//===-- LowerAref.cpp - Rings become buffers and barriers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A slot has a barrier `full` and a barrier `empty`. At `full` arrive those
// that fill the slot, once for each way in which they do. At `empty` arrives
// each partition that reads it.
//
//===----------------------------------------------------------------------===//

#include "AssignStagePhase.h"
#include "PartitionUses.h"

#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::triton::nvws {
#define GEN_PASS_DEF_NVWSLOWERAREF
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvws

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

namespace {

constexpr int kAnswerBytes = 16;

/// How the work on a slot ends.
struct Arrivals {
  /// Threads arrive.
  bool byThreads = false;
  /// A commit arrives behind what tensor cores do.
  bool byTensorCores = false;
  /// Copies arrive, which announce their bytes.
  bool byCopies = false;

  int count() const { return byThreads + byTensorCores + byCopies; }
  bool operator==(const Arrivals &) const = default;
};

FailureOr<Arrivals> getArrivals(Operation *exit, ArrayAttr kinds) {
  Arrivals arrivals;
  for (Attribute kind : kinds)
    switch (cast<AsyncOpAttr>(kind).getValue()) {
    case AsyncOp::NONE:
      arrivals.byThreads = true;
      break;
    case AsyncOp::TC5MMA:
    case AsyncOp::TMEMCopy:
      arrivals.byTensorCores = true;
      break;
    case AsyncOp::TMALoad:
    case AsyncOp::CLC:
      arrivals.byCopies = true;
      break;
    case AsyncOp::CpAsync:
    case AsyncOp::WGMMA:
      return exit->emitOpError("expected work that arrives at a barrier when "
                               "it is done, found ")
             << kind;
    }
  if (arrivals.byCopies && isa<ArefGetExitOp>(exit))
    return exit->emitOpError("expected those that read a slot, found copies "
                             "that fill it");
  return arrivals;
}

/// Views are mutable where what they view is.
void makeMutable(Value view) {
  auto type = cast<gpu::MemDescType>(view.getType());
  if (type.getMutableMemory())
    return;
  view.setType(gpu::MemDescType::get(
      type.getShape(), type.getElementType(), type.getEncoding(),
      type.getMemorySpace(), /*mutableMemory=*/true, type.getAllocShape()));
  for (OpOperand &use : view.getUses()) {
    auto viewer = dyn_cast<ViewLikeOpInterface>(use.getOwner());
    if (viewer && viewer.getViewSource() == view)
      for (Value result : use.getOwner()->getResults())
        makeMutable(result);
  }
}

/// The partition of an nvws.warp_group that `op` is in, or null.
Region *getPartition(Operation *op) {
  Region *region = op->getParentRegion();
  while (region && !isa<WarpGroupOp>(region->getParentOp()))
    region = region->getParentRegion();
  return region;
}

class Ring {
public:
  explicit Ring(ArefCreateOp create)
      : create(create), barriers(nvidia_gpu::getMbarriers()) {}

  LogicalResult lower() {
    if (failed(collect()))
      return failure();
    OpBuilder builder(create);
    Location loc = create.getLoc();
    int64_t depth = getDepth(create);
    empty = barriers.allocate(builder, loc, depth);
    barriers.initialize(builder, loc, empty, numReaders);
    full = barriers.allocate(builder, loc, depth);
    // Behind barriers the order is clear without tokens.
    token = ub::PoisonOp::create(builder, loc,
                                 gpu::AsyncTokenType::get(create.getContext()));
    barriers.initialize(builder, loc, full, fills.count());
    SmallVector<Operation *> users(create->getUsers());
    // At the end of the ring nothing fills the slots that it takes.
    for (Operation *user : users)
      if (auto enter = dyn_cast<ArefPutEnterOp>(user))
        if (!enter.getToken().use_empty())
          filled.insert(user);
    free(users);
    for (Operation *user : users)
      if (failed(lower(user)))
        return failure();
    create.erase();
    if (token.use_empty())
      token.getDefiningOp()->erase();
    return success();
  }

private:
  /// Who arrives how often.
  LogicalResult collect() {
    llvm::SmallSetVector<int32_t, 4> readers;
    llvm::SmallSetVector<Region *, 4> regions;
    bool isFilled = false;
    std::optional<Arrivals> reads;
    for (Operation *user : create->getUsers()) {
      ArrayAttr kinds;
      if (auto exit = dyn_cast<ArefPutExitOp>(user))
        kinds = exit.getAsyncOps();
      else if (auto exit = dyn_cast<ArefGetExitOp>(user))
        kinds = exit.getAsyncOps();
      else
        continue;
      FailureOr<Arrivals> arrivals = getArrivals(user, kinds);
      if (failed(arrivals))
        return failure();
      bool puts = isa<ArefPutExitOp>(user);
      readByTensorCores |= !puts && arrivals->byTensorCores;
      std::optional<Arrivals> before =
          puts ? (isFilled ? std::make_optional(fills) : std::nullopt) : reads;
      if (before && before->count() != arrivals->count())
        return user->emitOpError(
                   "expected as many arrivals as at other exits, ")
               << before->count() << ", found " << arrivals->count();
      if (puts) {
        fills = *arrivals;
        isFilled = true;
        continue;
      }
      reads = *arrivals;
      if (auto in = dyn_cast_or_null<DenseI32ArrayAttr>(getPartitions(user)))
        readers.insert(in.asArrayRef().begin(), in.asArrayRef().end());
      else if (Region *partition = getPartition(user))
        regions.insert(partition);
    }
    if (!isFilled || !reads)
      return create.emitOpError(
          "expected a ring that somebody fills and somebody reads");
    numReaders =
        std::max<int>(readers.size() + regions.size(), 1) * reads->count();
    return success();
  }

  /// The barriers end behind the last access.
  void free(ArrayRef<Operation *> users) {
    Block *block = create->getBlock();
    Operation *last = create;
    for (Operation *user : users) {
      Operation *inBlock = block->findAncestorOpInBlock(*user);
      if (last->isBeforeInBlock(inBlock))
        last = inBlock;
    }
    OpBuilder builder(create.getContext());
    builder.setInsertionPointAfter(last);
    barriers.free(builder, create.getLoc(), empty);
    barriers.free(builder, create.getLoc(), full);
  }

  LogicalResult lower(Operation *op) {
    if (auto enter = dyn_cast<ArefPutEnterOp>(op))
      return lowerEnter(enter, empty);
    if (auto enter = dyn_cast<ArefGetEnterOp>(op))
      return lowerEnter(enter, full);
    if (auto exit = dyn_cast<ArefPutExitOp>(op)) {
      lowerExit(exit, full, exit.getStage(), exit.getAsyncOps());
    } else if (auto exit = dyn_cast<ArefGetExitOp>(op)) {
      lowerExit(exit, empty, exit.getStage(), exit.getAsyncOps());
    } else if (auto ask = dyn_cast<ArefBufferOp>(op)) {
      OpBuilder builder(op);
      for (auto [view, ring] : llvm::zip(ask.getBuffers(), create.getBuffers()))
        replaceView(builder, op, view, ring, ask.getStage());
    }
    op->erase();
    return success();
  }

  /// One slot of an array in shared or tensor memory.
  static Value getSlot(OpBuilder &builder, Operation *op, Value array,
                       Value slot) {
    auto type = cast<gpu::MemDescType>(array.getType());
    auto view = gpu::MemDescType::get(
        type.getShape().drop_front(), type.getElementType(), type.getEncoding(),
        type.getMemorySpace(), type.getMutableMemory());
    auto index =
        gpu::MemDescIndexOp::create(builder, op->getLoc(), view, array, slot);
    belongTo(index, op);
    return index;
  }

  /// `view` is of what the slot of `ring` has.
  static void replaceView(OpBuilder &builder, Operation *op, Value view,
                          Value ring, Value slot) {
    if (view.use_empty())
      return;
    if (cast<gpu::MemDescType>(ring.getType()).getMutableMemory())
      makeMutable(view);
    // A slot is a buffer of its own: no part of an array that lies otherwise.
    // Types of views follow that of the slot, and stay.
    auto type = cast<gpu::MemDescType>(view.getType());
    if (llvm::none_of(view.getUsers(), llvm::IsaPred<ViewLikeOpInterface>))
      type = gpu::MemDescType::get(type.getShape(), type.getElementType(),
                                   type.getEncoding(), type.getMemorySpace(),
                                   type.getMutableMemory());
    auto index =
        gpu::MemDescIndexOp::create(builder, op->getLoc(), type, ring, slot);
    belongTo(index, op);
    view.replaceAllUsesWith(index);
  }

  template <typename EnterOp>
  LogicalResult lowerEnter(EnterOp op, Value array) {
    OpBuilder builder(op);
    Value barrier = getSlot(builder, op, array, op.getStage());
    belongTo(barriers.wait(builder, op.getLoc(), barrier, op.getPhase(),
                           /*buffers=*/{}),
             op);
    if (isa<ArefPutEnterOp>(*op) && fills.byCopies && filled.contains(op) &&
        failed(lowerCopies(op, op.getBuffers(), op.getStage())))
      return failure();
    builder.setInsertionPoint(op);
    for (auto [view, ring] : llvm::zip(op.getBuffers(), create.getBuffers()))
      replaceView(builder, op, view, ring, op.getStage());
    op.getToken().replaceAllUsesWith(token);
    op.erase();
    return success();
  }

  /// Starts the copies to a slot: they arrive at its barrier.
  LogicalResult lowerCopies(Operation *enter, ValueRange views, Value slot) {
    SmallVector<Operation *> copies;
    int64_t bytes = 0;
    for (Value view : views)
      for (Operation *user : view.getUsers()) {
        if (auto load = dyn_cast<nvws::DescriptorLoadOp>(user))
          bytes += load.getTxCount();
        else if (isa<CLCTryCancelOp>(user))
          bytes += kAnswerBytes;
        else
          continue;
        copies.push_back(user);
      }
    if (copies.empty())
      return enter->emitOpError("expected copies that fill the slot, as its "
                                "exit says, found none");
    OpBuilder builder(enter->getContext());
    builder.setInsertionPointAfter(enter);
    Location loc = enter->getLoc();
    Value barrier = getSlot(builder, enter, full, slot);
    auto always = arith::ConstantIntOp::create(builder, loc, 1, 1);
    belongTo(always, enter);
    belongTo(barriers.announce(builder, loc, barrier, bytes, always), enter);
    for (Operation *copy : copies) {
      builder.setInsertionPoint(copy);
      Operation *start;
      if (auto load = dyn_cast<nvws::DescriptorLoadOp>(copy))
        start = nvidia_gpu::AsyncTMACopyGlobalToLocalOp::create(
            builder, copy->getLoc(), load.getDesc(), load.getIndices(),
            ValueRange(), barrier, load.getResult(), always,
            /*multicast=*/false, CacheModifier::NONE, EvictionPolicy::NORMAL,
            /*isVolatile=*/false);
      else
        start = nvidia_gpu::CLCTryCancelOp::create(
            builder, copy->getLoc(), cast<CLCTryCancelOp>(copy).getResult(),
            barrier, /*multicast=*/gpu::lookupNumCTAs(copy) > 1);
      belongTo(start, copy);
      copy->erase();
    }
    return success();
  }

  void lowerExit(Operation *op, Value array, Value slot, ArrayAttr kinds) {
    Arrivals arrivals = *getArrivals(op, kinds);
    if (!arrivals.byThreads && !arrivals.byTensorCores)
      return;
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (arrivals.byThreads && isa<ArefPutExitOp>(op) && readByTensorCores) {
      SmallVector<Value> buffers(create.getBuffers());
      if (Operation *fence = barriers.fenceForProducts(builder, loc, buffers))
        belongTo(fence, op);
    }
    // One thread commits for all. Another warp might still wait for a phase,
    // and the other side then ends one more. And it might still access the
    // slot.
    if (!arrivals.byThreads)
      belongTo(gpu::BarrierOp::create(builder, loc, gpu::AddrSpace::Local), op);
    Value barrier = getSlot(builder, op, array, slot);
    if (arrivals.byTensorCores)
      belongTo(nvidia_gpu::TCGen5CommitOp::create(builder, loc, barrier), op);
    if (arrivals.byThreads)
      belongTo(barriers.arrive(builder, loc, barrier, /*count=*/1,
                               /*predicate=*/Value(),
                               /*isShared=*/false),
               op);
  }

  ArefCreateOp create;
  const gpu::RingBarriers &barriers;
  Value empty, full, token;
  llvm::SmallPtrSet<Operation *, 4> filled;
  Arrivals fills;
  int numReaders = 0;
  bool readByTensorCores = false;
};

/// Gives a ring of one slot, which copies fill, as many as `count`: so copies
/// run ahead.
void addSlots(ArefCreateOp create, int64_t count) {
  bool byCopies = false;
  for (Operation *user : create->getUsers())
    if (auto exit = dyn_cast<ArefPutExitOp>(user)) {
      FailureOr<Arrivals> arrivals = getArrivals(exit, exit.getAsyncOps());
      if (failed(arrivals) || !arrivals->byCopies || arrivals->byThreads)
        return;
      byCopies = true;
    }
  if (!byCopies || getDepth(create) != 1)
    return;
  auto isOnlyForRing = [&](Value buffer) {
    auto alloc = buffer.getDefiningOp<gpu::LocalAllocOp>();
    return alloc && !alloc.getSrc() &&
           llvm::all_of(alloc->getUsers(), [&](Operation *user) {
             return user == create || isa<gpu::LocalDeallocOp>(user);
           });
  };
  if (!llvm::all_of(create.getBuffers(), isOnlyForRing))
    return;
  SmallVector<Type> types;
  for (Value buffer : create.getBuffers()) {
    auto type = cast<gpu::MemDescType>(buffer.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.front() = count;
    buffer.setType(
        gpu::MemDescType::get(shape, type.getElementType(), type.getEncoding(),
                              type.getMemorySpace(), type.getMutableMemory()));
    types.push_back(buffer.getType());
  }
  create.getResult().setType(ArefType::get(create.getContext(), types));
}

/// A tensor core that has read a slot says so later. The end of a ring waits
/// for that, as its barriers end there: it takes each slot once more.
void waitForReaders(ArefCreateOp create) {
  ArefDestroyOp destroy;
  bool byTensorCores = false, inGroups = false;
  for (Operation *user : create->getUsers()) {
    if (auto op = dyn_cast<ArefDestroyOp>(user))
      destroy = op;
    if (auto exit = dyn_cast<ArefGetExitOp>(user)) {
      FailureOr<Arrivals> arrivals = getArrivals(exit, exit.getAsyncOps());
      byTensorCores |= succeeded(arrivals) && arrivals->byTensorCores;
    }
    inGroups |= getPartition(user) != nullptr;
  }
  // How far the partitions of an nvws.warp_group got, nobody knows behind it.
  if (!destroy || !byTensorCores || inGroups)
    return;
  OpBuilder builder(destroy);
  SmallVector<Type> views;
  for (Value buffer : create.getBuffers()) {
    auto type = cast<gpu::MemDescType>(buffer.getType());
    views.push_back(gpu::MemDescType::get(
        type.getShape().drop_front(), type.getElementType(), type.getEncoding(),
        type.getMemorySpace(), type.getMutableMemory()));
  }
  for (int64_t i = 0; i < getDepth(create); ++i) {
    auto enter = ArefPutEnterOp::create(
        builder, destroy.getLoc(), views,
        gpu::AsyncTokenType::get(builder.getContext()), create.getResult(),
        /*stage=*/Value(), /*phase=*/Value());
    belongTo(enter, destroy);
  }
}

class LowerArefPass : public nvws::impl::NVWSLowerArefBase<LowerArefPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ArefCreateOp> rings;
    getOperation().walk([&](ArefCreateOp ring) { rings.push_back(ring); });
    for (ArefCreateOp ring : rings) {
      addSlots(ring, numStages);
      waitForReaders(ring);
      if (failed(assignStageAndPhase(ring)) || failed(Ring(ring).lower()))
        return signalPassFailure();
      ++numRings;
    }
  }
};

} // namespace

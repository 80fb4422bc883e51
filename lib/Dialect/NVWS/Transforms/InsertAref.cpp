//===-- InsertAref.cpp - Rings for what goes to other partitions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tensor that one partition makes, and another one uses, goes through a ring.
// So does a buffer in shared memory. The one that makes it fills a slot. Each
// of the others takes it from there, from its first use on, and gives the slot
// back behind its last use.
//
// A block that a descriptor loads goes to the slot without threads. Its own
// partition has no tensor then, and takes it from the ring as the others do.
//
//===----------------------------------------------------------------------===//

#include "PartitionUses.h"
#include "RingSlots.h"

#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::triton::nvws {
#define GEN_PASS_DEF_NVWSINSERTAREF
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvws

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

namespace {

gpu::MemDescType getBuffer(ArrayRef<int64_t> shape, Type element,
                           Attribute encoding, bool isMutable) {
  return gpu::MemDescType::get(
      shape, element, encoding,
      gpu::SharedMemorySpaceAttr::get(element.getContext()), isMutable);
}

/// What goes through one ring.
class Passage {
public:
  explicit Passage(Value value)
      : value(value), def(value.getDefiningOp()),
        users(getUsesOfPartitions(value)) {
    own = getPartitions(def);
  }

  /// Whether another partition uses it.
  bool isNeeded() const {
    return own && llvm::any_of(users, [&](const auto &entry) {
             return entry.first && entry.first != own;
           });
  }

  LogicalResult insert(llvm::DenseSet<Operation *> &erased) {
    if (failed(findPlaces()))
      return failure();
    makeRing();
    fill();
    for (auto &[partitions, span] : places)
      take(partitions, span);
    for (Operation *op : llvm::reverse(views)) {
      if (!op->use_empty())
        continue;
      erased.insert(op);
      op->erase();
    }
    for (Operation *op : llvm::reverse(dead)) {
      erased.insert(op);
      op->erase();
    }
    return success();
  }

private:
  /// The copy that fills the slot; null if threads do.
  triton::DescriptorLoadOp getCopy() const {
    Value source = value;
    if (auto alloc = dyn_cast<gpu::LocalAllocOp>(def))
      source = alloc.getSrc();
    auto load = source.getDefiningOp<triton::DescriptorLoadOp>();
    if (!load || getPartitions(load) != own ||
        load->getBlock() != def->getBlock())
      return {};
    auto desc = cast<TensorDescType>(load.getDesc().getType()).getBlockType();
    bool isAsLoaded = desc.getEncoding() == getEncoding() &&
                      desc.getShape() == load.getType().getShape();
    return isAsLoaded && (source == value || load->hasOneUse())
               ? load
               : triton::DescriptorLoadOp();
  }

  /// How it lies in the ring: as its users want it, if they say.
  Attribute getEncoding() const {
    if (auto alloc = dyn_cast<gpu::LocalAllocOp>(def))
      return alloc.getType().getEncoding();
    for (const auto &[partitions, uses] : users)
      for (OpOperand *use : uses)
        if (auto alloc = dyn_cast<gpu::LocalAllocOp>(use->getOwner()))
          return alloc.getType().getEncoding();
    if (auto load = dyn_cast<triton::DescriptorLoadOp>(def))
      if (Attribute encoding = cast<TensorDescType>(load.getDesc().getType())
                                   .getBlockType()
                                   .getEncoding())
        return encoding;
    auto type = cast<RankedTensorType>(value.getType());
    return gpu::SwizzledSharedEncodingAttr::get(
        type.getContext(), /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1,
        gpu::getOrder(type), gpu::getCTALayout(type.getEncoding()));
  }

  /// Whether the ring has the only copy of it.
  bool goesAway() const { return copy || isa<gpu::LocalAllocOp>(def); }

  bool takesFromRing(Attribute partitions) const {
    return partitions != own || goesAway();
  }

  LogicalResult findPlaces() {
    copy = getCopy();
    for (auto &[partitions, uses] : users) {
      if (!partitions && goesAway())
        return def->emitOpError("expected all that uses it to be in "
                                "partitions, as it goes to others by a ring");
      if (!partitions || !takesFromRing(partitions))
        continue;
      FailureOr<Span> span = getSpan(def->getBlock(), value, uses);
      if (failed(span))
        return def->emitOpError("expected other partitions to use what it "
                                "makes in the same iteration");
      places[partitions] = *span;
    }
    return success();
  }

  void makeRing() {
    auto type = cast<ShapedType>(value.getType());
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape, type.getShape());
    OpBuilder builder(getOutermostDivided(def));
    Attribute encoding = getEncoding();
    auto array = getBuffer(shape, type.getElementType(), encoding, true);
    slot = getBuffer(type.getShape(), type.getElementType(), encoding, true);
    Value buffers =
        gpu::LocalAllocOp::create(builder, def->getLoc(), array).getResult();
    ring = ArefCreateOp::create(
        builder, def->getLoc(),
        ArefType::get(builder.getContext(), {Type(array)}), buffers);
  }

  void fill() {
    Location loc = def->getLoc();
    OpBuilder builder(def);
    if (!copy)
      builder.setInsertionPointAfter(def);
    auto enter = enterSlot<ArefPutEnterOp>(builder, loc, ring, slot);
    runWith(enter, def);
    Value buffer = enter.getBuffers().front();
    Operation *filling;
    if (copy) {
      int64_t bits =
          llvm::product_of(slot.getShape()) * slot.getElementTypeBitWidth();
      filling = nvws::DescriptorLoadOp::create(
          builder, loc, copy.getDesc(), copy.getIndices(), bits / 8, buffer);
    } else {
      Value source = value;
      if (auto alloc = dyn_cast<gpu::LocalAllocOp>(def))
        source = alloc.getSrc();
      filling = gpu::LocalStoreOp::create(builder, loc, source, buffer);
    }
    runWith(filling, def);
    runWith(exitSlot<ArefPutExitOp>(builder, loc, ring, enter.getToken(),
                                    {copy ? AsyncOp::TMALoad : AsyncOp::NONE}),
            def);
    if (copy)
      dead.insert(copy);
    if (goesAway())
      dead.insert(def);
  }

  /// One partition takes what it uses from the ring.
  void take(Attribute partitions, Span span) {
    Location loc = span.first->getLoc();
    OpBuilder builder(span.first);
    auto inRing = getBuffer(slot.getShape(), slot.getElementType(),
                            slot.getEncoding(), /*isMutable=*/false);
    auto enter = enterSlot<ArefGetEnterOp>(builder, loc, ring, inRing);
    runWith(enter, span.first);
    setPartitions(enter, partitions);
    Value buffer = enter.getBuffers().front(), tensor;
    IRMapping taken;
    taken.map(value, buffer);
    for (OpOperand *use : users[partitions]) {
      auto alloc = dyn_cast<gpu::LocalAllocOp>(use->getOwner());
      if (alloc && alloc.getType() == inRing) {
        alloc.getResult().replaceAllUsesWith(buffer);
        dead.insert(alloc);
        continue;
      }
      if (isa<gpu::MemDescType>(use->get().getType())) {
        use->set(view(use->get(), taken, partitions));
        continue;
      }
      if (!tensor) {
        tensor =
            gpu::LocalLoadOp::create(builder, loc, value.getType(), buffer);
        runWith(tensor.getDefiningOp(), enter);
      }
      use->set(tensor);
    }
    leave(enter, span, partitions);
  }

  /// The slot, or a view of it, in place of `whole`. Each partition makes its
  /// views.
  Value view(Value whole, IRMapping &taken, Attribute partitions) {
    if (Value known = taken.lookupOrNull(whole))
      return known;
    Operation *op = whole.getDefiningOp();
    view(op->getOperand(0), taken, partitions);
    OpBuilder builder(op);
    Operation *mine = builder.clone(*op, taken);
    setPartitions(mine, partitions);
    views.insert(op);
    return mine->getResult(0);
  }

  /// Says that a slot is empty, behind all that reads it.
  void leave(ArefGetEnterOp enter, Span span, Attribute partitions) {
    llvm::SmallSetVector<AsyncOp, 2> kinds;
    Block *block = def->getBlock();
    for (auto &[where, uses] : getUsesOfPartitions(enter.getBuffers().front()))
      for (OpOperand *use : uses) {
        kinds.insert(isa<nvidia_gpu::MMAv5OpInterface>(use->getOwner())
                         ? AsyncOp::TC5MMA
                         : AsyncOp::NONE);
        span.add(block->findAncestorOpInBlock(*use->getOwner()));
      }
    OpBuilder builder(enter.getContext());
    builder.setInsertionPointAfter(span.last);
    Operation *exit = exitSlot<ArefGetExitOp>(
        builder, enter.getLoc(), ring, enter.getToken(), kinds.getArrayRef());
    runWith(exit, span.last);
    setPartitions(exit, partitions);
  }

  Value value;
  Operation *def;
  UsesOfPartitions users;
  Attribute own;
  triton::DescriptorLoadOp copy;
  llvm::MapVector<Attribute, Span> places;
  gpu::MemDescType slot;
  Value ring;
  /// Users come behind what they use.
  llvm::SetVector<Operation *> dead, views;
};

class InsertArefPass : public nvws::impl::NVWSInsertArefBase<InsertArefPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> makers;
    getOperation().walk([&](Operation *op) {
      if (!getPartitions(op) || isa<LoopLikeOpInterface>(op) ||
          op->getNumResults() != 1)
        return;
      Value value = op->getResult(0);
      auto alloc = dyn_cast<gpu::LocalAllocOp>(op);
      if (isa<RankedTensorType>(value.getType()) || (alloc && alloc.getSrc()))
        makers.push_back(op);
    });
    llvm::DenseSet<Operation *> erased;
    for (Operation *op : makers) {
      if (erased.contains(op))
        continue;
      Passage passage(op->getResult(0));
      if (!passage.isNeeded())
        continue;
      if (failed(passage.insert(erased)))
        return signalPassFailure();
      ++numRings;
    }
  }
};

} // namespace

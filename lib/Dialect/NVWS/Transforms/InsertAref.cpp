//===-- InsertAref.cpp - Rings for what goes to other partitions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tensor or a number that one partition has, and another one uses, goes
// through a ring. So does a buffer in shared memory. The one that has it fills
// a slot: where it is made, or at the start of the iteration to which a loop
// hands it on. Each of the others takes it from there before its first use. It
// gives the slot back behind its last access of the slot.
//
// A block that a descriptor loads goes to the slot without threads, and so does
// an answer of launch control. Its own partition has no tensor then, and takes
// it from the ring as the others do.
//
// One operation may run in the partition that has a value, and in others. Each
// of them has its own value there (`nvws.aref.phi`).
//
//===----------------------------------------------------------------------===//

#include "PartitionUses.h"
#include "RingSlots.h"
#include "SharedTensors.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::triton::nvws {
#define GEN_PASS_DEF_NVWSINSERTAREF
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvws

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

namespace {

/// The answer of launch control is asked for while the one before is in use.
constexpr int64_t kAnswerSlots = 2;

gpu::MemDescType getBuffer(ArrayRef<int64_t> shape, Type element,
                           Attribute encoding, bool isMutable,
                           ArrayRef<int64_t> allocated = {}) {
  auto space = gpu::SharedMemorySpaceAttr::get(element.getContext());
  if (allocated.empty())
    return gpu::MemDescType::get(shape, element, encoding, space, isMutable);
  return gpu::MemDescType::get(shape, element, encoding, space, isMutable,
                               allocated);
}

using Partitions = llvm::SmallSetVector<int32_t, 4>;

Partitions getList(Attribute partitions) {
  Partitions list;
  if (auto array = dyn_cast_if_present<DenseI32ArrayAttr>(partitions))
    list.insert(array.asArrayRef().begin(), array.asArrayRef().end());
  else if (auto one = dyn_cast_if_present<IntegerAttr>(partitions))
    list.insert(one.getInt());
  return list;
}

Attribute getAttribute(MLIRContext *context, const Partitions &partitions) {
  SmallVector<int32_t> list(partitions.begin(), partitions.end());
  llvm::sort(list);
  return DenseI32ArrayAttr::get(context, list);
}

/// Those that take the value together. Each partition is in one group: it
/// arrives once for each slot.
struct Readers {
  Partitions partitions;
  SmallVector<OpOperand *> uses;
  Span span;
};

/// What goes through one ring.
class Passage {
public:
  explicit Passage(Value value)
      : value(value), def(value.getDefiningOp()), block(value.getParentBlock()),
        owner(getPartitionsOf(value)), own(getList(owner)),
        users(getUsesOfPartitions(value)) {
    if (isa<ShapedType>(value.getType()))
      return;
    // Of what nobody assigned, each partition runs what it has operands for.
    for (auto &[partitions, uses] : users)
      llvm::erase_if(uses, [](OpOperand *use) {
        Operation *user = use->getOwner();
        return !getPartitions(user) && user->getNumRegions() == 0 &&
               !user->hasTrait<mlir::OpTrait::IsTerminator>();
      });
    users.remove_if([](const auto &entry) { return entry.second.empty(); });
  }

  /// Whether another partition uses it.
  bool isNeeded() const {
    return !own.empty() && llvm::any_of(users, [&](const auto &entry) {
      return llvm::any_of(getList(entry.first), [&](int32_t partition) {
        return !own.contains(partition);
      });
    });
  }

  LogicalResult insert(llvm::DenseSet<Operation *> &erased) {
    copy = getCopy();
    if (failed(findReaders()))
      return failure();
    makeRing();
    fill();
    for (Readers &group : readers)
      take(group);
    for (Operation *op : llvm::reverse(views))
      if (op->use_empty())
        erase(op, erased);
    for (Operation *op : llvm::reverse(dead))
      erase(op, erased);
    endRing(ring);
    return success();
  }

private:
  static void erase(Operation *op, llvm::DenseSet<Operation *> &erased) {
    erased.insert(op);
    op->erase();
  }

  InFlightDiagnostic emitError() const {
    return def ? def->emitOpError() : block->getParentOp()->emitOpError();
  }

  gpu::LocalAllocOp getAlloc() const {
    return dyn_cast_if_present<gpu::LocalAllocOp>(def);
  }

  /// The copy, or the question, that fills the slot; null if threads do.
  Operation *getCopy() const {
    if (!def)
      return nullptr;
    Value source = value;
    if (gpu::LocalAllocOp alloc = getAlloc())
      source = alloc.getSrc();
    Operation *from = source.getDefiningOp();
    if (!from || getPartitions(from) != owner || from->getBlock() != block ||
        (source != value && !source.hasOneUse()))
      return nullptr;
    if (isa<nvidia_gpu::CLCTryCancelSyncOp>(from))
      return source != value ? from : nullptr;
    auto load = dyn_cast<triton::DescriptorLoadOp>(from);
    if (!load)
      return nullptr;
    auto desc = getBlockType(load);
    bool isAsLoaded =
        desc.getShape() == load.getType().getShape() &&
        (desc.getEncoding() == getEncoding() || liesAsLoaded(load));
    return isAsLoaded ? from : nullptr;
  }

  static RankedTensorType getBlockType(triton::DescriptorLoadOp load) {
    return cast<TensorDescType>(load.getDesc().getType()).getBlockType();
  }

  /// Whether the buffer lies as the copy writes it, by another name. Views may
  /// be of either.
  bool liesAsLoaded(triton::DescriptorLoadOp load) const {
    RankedTensorType desc = getBlockType(load);
    gpu::LocalAllocOp alloc = getAlloc();
    if (!alloc || !desc.getEncoding() ||
        !llvm::all_of(alloc->getUsers(), llvm::IsaPred<ViewLikeOpInterface>))
      return false;
    auto asLoaded = getBuffer(desc.getShape(), desc.getElementType(),
                              desc.getEncoding(), /*isMutable=*/false);
    return gpu::toLinearLayout(asLoaded) ==
           gpu::toLinearLayout(alloc.getType());
  }

  /// How it lies in the ring: as its users want it, if they say.
  Attribute getEncoding() const {
    auto load = dyn_cast_if_present<triton::DescriptorLoadOp>(copy);
    if (load && getBlockType(load).getEncoding() && getAlloc())
      return getBlockType(load).getEncoding();
    if (gpu::LocalAllocOp alloc = getAlloc())
      return alloc.getType().getEncoding();
    for (const auto &[partitions, uses] : users)
      for (OpOperand *use : uses)
        if (auto alloc = dyn_cast<gpu::LocalAllocOp>(use->getOwner()))
          return alloc.getType().getEncoding();
    if (auto load = dyn_cast_if_present<triton::DescriptorLoadOp>(def))
      if (Attribute encoding = getBlockType(load).getEncoding())
        return encoding;
    RankedTensorType type = getTensorType();
    return gpu::SwizzledSharedEncodingAttr::get(
        type.getContext(), /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1,
        gpu::getOrder(type), gpu::getCTALayout(type.getEncoding()));
  }

  /// The type of the tensor that goes through the ring: that of a number has
  /// one element.
  RankedTensorType getTensorType() const {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type : getTensorOfOne(value.getType(), block->getParentOp());
  }

  /// Whether the ring has the only copy of it.
  bool goesAway() const { return copy || getAlloc(); }

  LogicalResult findReaders() {
    for (auto &[partitions, uses] : users) {
      if (!partitions && goesAway())
        return emitError() << "expected all that uses it to be in partitions, "
                              "as it goes to others by a ring";
      Readers found;
      for (int32_t partition : getList(partitions))
        if (goesAway() || !own.contains(partition))
          found.partitions.insert(partition);
      if (found.partitions.empty())
        continue;
      FailureOr<Span> span = getSpan(block, value, uses);
      // A loop or branch that hands on a slot would have it too long.
      bool handsOn = llvm::any_of(uses, [](OpOperand *use) {
        return isa<gpu::MemDescType>(use->get().getType()) &&
               isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface>(
                   use->getOwner());
      });
      if (failed(span) || handsOn)
        return emitError() << "expected other partitions to use what it makes "
                              "in the same iteration";
      found.uses = uses;
      found.span = *span;
      // Groups with a partition in common become one.
      llvm::erase_if(readers, [&](const Readers &other) {
        if (llvm::none_of(other.partitions, [&](int32_t partition) {
              return found.partitions.contains(partition);
            }))
          return false;
        found.partitions.insert_range(other.partitions);
        found.uses.insert(found.uses.begin(), other.uses.begin(),
                          other.uses.end());
        found.span.add(other.span.first);
        found.span.add(other.span.last);
        return true;
      });
      readers.push_back(found);
    }
    return success();
  }

  void makeRing() {
    bool isAnswer = isa_and_nonnull<nvidia_gpu::CLCTryCancelSyncOp>(copy);
    auto type = dyn_cast<gpu::MemDescType>(value.getType());
    ArrayRef<int64_t> shape =
        type ? type.getShape() : getTensorType().getShape();
    Type element =
        type ? type.getElementType() : getTensorType().getElementType();
    SmallVector<int64_t> all{isAnswer ? kAnswerSlots : 1};
    llvm::append_range(all, shape);
    OpBuilder builder(getOutermostDivided(def ? def : block->getParentOp()));
    Location loc = value.getLoc();
    Attribute encoding = getEncoding();
    auto array = getBuffer(all, element, encoding, /*isMutable=*/true);
    slot = getBuffer(shape, element, encoding, /*isMutable=*/true,
                     isAnswer ? ArrayRef(all) : ArrayRef<int64_t>());
    auto buffers = gpu::LocalAllocOp::create(builder, loc, array);
    if (isAnswer && getAlloc().getAlignmentAttr())
      buffers.setAlignmentAttr(getAlloc().getAlignmentAttr());
    ring = ArefCreateOp::create(
        builder, loc, ArefType::get(builder.getContext(), {Type(array)}),
        buffers.getResult());
  }

  /// Of what a loop hands on: what makes it says when it is there.
  Operation *getMaker() const {
    if (def)
      return def;
    auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
    if (!loop)
      return nullptr;
    unsigned number = cast<BlockArgument>(value).getArgNumber() - 1;
    Value next = loop.getBody()->getTerminator()->getOperand(number);
    return next.getParentBlock() == block ? next.getDefiningOp() : nullptr;
  }

  void fill() {
    Location loc = value.getLoc();
    OpBuilder builder(value.getContext());
    if (copy)
      builder.setInsertionPoint(copy);
    else
      builder.setInsertionPointAfterValue(value);
    // One of those that have it is enough.
    Partitions first;
    first.insert(own.front());
    Attribute filler = getAttribute(value.getContext(), first);
    Operation *maker = copy ? copy : getMaker();
    auto place = [&](Operation *op) {
      if (maker)
        belongTo(op, maker);
      setPartitions(op, filler);
      return op;
    };
    auto enter = enterSlot<ArefPutEnterOp>(builder, loc, ring, slot);
    place(enter);
    Value buffer = enter.getBuffers().front();
    AsyncOp kind = AsyncOp::NONE;
    if (auto load = dyn_cast_if_present<triton::DescriptorLoadOp>(copy)) {
      int64_t bits =
          llvm::product_of(slot.getShape()) * slot.getElementTypeBitWidth();
      place(nvws::DescriptorLoadOp::create(
          builder, loc, load.getDesc(), load.getIndices(), bits / 8, buffer));
      kind = AsyncOp::TMALoad;
    } else if (copy) {
      place(nvws::CLCTryCancelOp::create(builder, loc, buffer));
      kind = AsyncOp::CLC;
    } else {
      Value source = getAlloc() ? getAlloc().getSrc() : value;
      if (!isa<RankedTensorType>(source.getType())) {
        source = SplatOp::create(builder, loc, getTensorType(), source);
        place(source.getDefiningOp());
      }
      place(gpu::LocalStoreOp::create(builder, loc, source, buffer));
    }
    place(
        exitSlot<ArefPutExitOp>(builder, loc, ring, enter.getToken(), {kind}));
    if (copy)
      dead.insert(copy);
    if (goesAway())
      dead.insert(def);
  }

  /// One group of partitions takes what it uses from the ring.
  void take(Readers &group) {
    MLIRContext *context = value.getContext();
    Attribute partitions = getAttribute(context, group.partitions);
    Operation *first = group.span.first;
    Location loc = first->getLoc();
    OpBuilder builder(first);
    auto inRing =
        getBuffer(slot.getShape(), slot.getElementType(), slot.getEncoding(),
                  /*isMutable=*/false);
    // A loop without a schedule has no places for what it runs.
    auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
    auto place = [&](Operation *op) {
      if (!loop || gpu::LoopSchedule::isOn(loop))
        belongTo(op, first);
      setPartitions(op, partitions);
    };
    auto enter = enterSlot<ArefGetEnterOp>(builder, loc, ring, inRing);
    place(enter);
    Value buffer = enter.getBuffers().front(), tensor, either;
    IRMapping taken;
    taken.map(value, buffer);
    Span accesses;
    for (OpOperand *use : group.uses) {
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
            gpu::LocalLoadOp::create(builder, loc, getTensorType(), buffer);
        place(tensor.getDefiningOp());
        accesses.add(tensor.getDefiningOp());
        if (tensor.getType() != value.getType()) {
          tensor = UnsplatOp::create(builder, loc, tensor);
          place(tensor.getDefiningOp());
        }
      }
      use->set(isOfAll(*use, group) ? tensor
                                    : choose(builder, group, tensor, either));
    }
    leave(enter, accesses, partitions);
  }

  /// Whether all that run the user have the value from the ring.
  bool isOfAll(OpOperand &use, const Readers &group) const {
    for (const auto &[partitions, uses] : users)
      if (llvm::is_contained(uses, &use))
        return llvm::all_of(getList(partitions), [&](int32_t partition) {
          return group.partitions.contains(partition);
        });
    return true;
  }

  /// The value of those that have it, and what the others took.
  Value choose(OpBuilder &builder, const Readers &group, Value tensor,
               Value &either) const {
    if (either)
      return either;
    auto phi = ArefPhiOp::create(builder, tensor.getLoc(), value.getType(),
                                 value, tensor);
    Partitions all = own;
    all.insert_range(group.partitions);
    belongTo(phi, group.span.first);
    setPartitions(phi, getAttribute(value.getContext(), all));
    return either = phi;
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
  void leave(ArefGetEnterOp enter, Span accesses, Attribute partitions) {
    llvm::SmallSetVector<AsyncOp, 2> kinds;
    for (auto &[where, uses] : getUsesOfPartitions(enter.getBuffers().front()))
      for (OpOperand *use : uses) {
        kinds.insert(isa<nvidia_gpu::MMAv5OpInterface>(use->getOwner())
                         ? AsyncOp::TC5MMA
                         : AsyncOp::NONE);
        accesses.add(block->findAncestorOpInBlock(*use->getOwner()));
      }
    OpBuilder builder(enter.getContext());
    builder.setInsertionPointAfter(accesses.last);
    Operation *exit = exitSlot<ArefGetExitOp>(
        builder, enter.getLoc(), ring, enter.getToken(), kinds.getArrayRef());
    belongTo(exit, accesses.last);
    setPartitions(exit, partitions);
  }

  Value value;
  /// Null for what a loop hands on.
  Operation *def;
  Block *block;
  Attribute owner;
  Partitions own;
  UsesOfPartitions users;
  Operation *copy = nullptr;
  SmallVector<Readers> readers;
  gpu::MemDescType slot;
  ArefCreateOp ring;
  /// Users come behind what they use.
  llvm::SetVector<Operation *> dead, views;
};

class InsertArefPass : public nvws::impl::NVWSInsertArefBase<InsertArefPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    // Buffers come first: what they are made of may go through a ring, too.
    SmallVector<std::pair<Operation *, Value>> values, others;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!getPartitions(op))
        return;
      for (Value result : op->getResults())
        if (canPass(result))
          (isa<gpu::LocalAllocOp>(op) ? values : others)
              .push_back({op, result});
      SmallVector<BlockArgument> arguments;
      if (auto loop = dyn_cast<scf::ForOp>(op))
        llvm::append_range(arguments, loop.getRegionIterArgs());
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        llvm::append_range(arguments, loop.getAfterArguments());
      for (BlockArgument argument : arguments)
        if (canPass(argument))
          others.push_back({nullptr, argument});
    });
    llvm::append_range(values, others);
    llvm::DenseSet<Operation *> erased;
    for (auto [op, value] : values) {
      if (erased.contains(op))
        continue;
      Passage passage(value);
      if (!passage.isNeeded())
        continue;
      if (failed(passage.insert(erased)))
        return signalPassFailure();
      ++numRings;
    }
  }

private:
  static bool canPass(Value value) {
    Type type = value.getType();
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return bool(tensor.getEncoding());
    // Bits have no place of their own in shared memory.
    if (type.isIntOrFloat())
      return type.getIntOrFloatBitWidth() >= 8;
    auto alloc = value.getDefiningOp<gpu::LocalAllocOp>();
    return alloc && alloc.getSrc();
  }
};

} // namespace

//===-- InsertTMEMAref.cpp - Rings for buffers of tensor memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two partitions take rounds with a buffer. The one that has it first fills the
// ring, the other one takes from it. A round ends where the other partition
// needs the buffer. Loops and branches hand on whose round it is: at their
// ends, the same partition has the buffer, whichever way was taken.
//
// All warps may access it in front of the loop that is divided, and behind it.
// Then nobody waits in front: the partitions start later. Behind it, all warps
// take the round that is not that of the last partition.
//
// A ring has two slots where each round of the one that fills it begins with a
// write of all of the buffer. Otherwise it has one slot, so that a round finds
// what the round before has left.
//
//===----------------------------------------------------------------------===//

#include "PartitionUses.h"
#include "RingSlots.h"
#include "SplitBranch.h"
#include "TMEMChain.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/PartitionAttributes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#define DEBUG_TYPE "nvws-insert-tmem-aref"

namespace mlir::triton::nvws {
#define GEN_PASS_DEF_NVWSINSERTTMEMAREF
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvws

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;
using nvidia_gpu::TMEMAllocOp;

namespace {

/// Whether partitions run `loop`.
bool isDivided(Operation *loop) {
  return isa<LoopLikeOpInterface>(loop) &&
         (getPartitions(loop) || loop->hasAttr(gpu::kWarpSpecializeTagAttr) ||
          gpu::LoopPlan(loop).isWarpSpecialized());
}

/// Whether all warps run `op`, in front of loops that are divided, or behind.
bool isOutside(Operation *op) {
  for (Operation *loop = op->getParentOp(); loop; loop = loop->getParentOp())
    if (isDivided(loop))
      return false;
  return true;
}

/// Whose round it is at a place of the program.
struct Round {
  /// Of the ring, for its slot. Null while rounds are planned.
  Value token;
  bool isHeld = false;
  /// Of the one that has the buffer, or that had it last.
  bool fills = false;
  /// Null stands for all warps.
  Attribute owner;
  /// A tensor core may have been the last in this round.
  bool byTensorCore = false;
  /// Nobody has written to this slot since it was taken to be filled.
  bool isFresh = false;
  /// Where the round can end: behind an operation, or at the start of a block.
  /// Behind a loop that is divided, that is for the partitions of its tag.
  Operation *behind = nullptr;
  Block *start = nullptr;
  Attribute tag;
};

/// Puts a buffer into a ring. All is planned first, in the same steps.
class RingOfBuffer {
public:
  RingOfBuffer(TMEMAllocOp alloc, const TMEMSteps &steps)
      : alloc(alloc), steps(steps) {}

  /// Who takes rounds. False if nobody else needs the buffer.
  bool findOwners() {
    bool isNeeded = false, anyInside = false;
    walkAccesses(steps, [&](const TMEMStep &access, bool inLoop) {
      if (!access.owner) {
        // Behind a partition, which may be the one of the last iteration.
        isNeeded |= anyInside || inLoop;
        return;
      }
      anyInside = true;
      hasOwner |= isOutside(access.op);
      if (!filler)
        filler = access.owner;
      else if (access.owner != filler && !taker)
        taker = access.owner;
      else if (access.owner != filler && access.owner != taker)
        hasMore = true;
    });
    return anyInside && (isNeeded || taker);
  }

  /// Says why there can be no ring.
  StringRef plan() {
    if (hasMore)
      return "more than two partitions access it";
    if (hasOwner)
      return "a partition accesses it outside of its loop";
    run();
    return why;
  }

  void insert() {
    depth = reenters && !keepsContents && isOutside(alloc) && mayHaveTwo() &&
                    fitsTwice()
                ? 2
                : 1;
    makeRing();
    run();
    endRing(ring);
    if (alloc.getToken())
      alloc.getToken().replaceAllUsesWith(getPoison());
    alloc.erase();
    if (poison && poison.use_empty())
      poison.getDefiningOp()->erase();
  }

private:
  //===--------------------------------------------------------------------===//
  // The ring
  //===--------------------------------------------------------------------===//

  bool mayHaveTwo() const {
    bool may = true;
    walkAccesses(steps, [&](const TMEMStep &access, bool) {
      for (Operation *op = access.op; op; op = op->getParentOp())
        may &= !op->hasAttr(gpu::kDisallowMultiBufferAttr);
    });
    return may;
  }

  /// Whether tensor memory has room for one more buffer of this kind.
  bool fitsTwice() {
    auto count = [](TMEMAllocOp op) -> unsigned {
      auto footprint =
          nvidia_gpu::getTensorMemoryFootprint(op.getResult().getType());
      return succeeded(footprint) ? footprint->columns
                                  : nvidia_gpu::kTensorMemoryColumns;
    };
    unsigned columns = count(alloc);
    alloc->getParentOfType<FunctionOpInterface>()->walk(
        [&](TMEMAllocOp other) { columns += count(other); });
    return columns <= nvidia_gpu::kTensorMemoryColumns;
  }

  void makeRing() {
    gpu::MemDescType type = alloc.getResult().getType();
    SmallVector<int64_t> shape{depth};
    llvm::append_range(shape, type.getShape());
    auto array = gpu::MemDescType::get(
        shape, type.getElementType(), type.getEncoding(), type.getMemorySpace(),
        /*mutableMemory=*/true);
    OpBuilder builder(getOutermostDivided(alloc));
    Location loc = alloc.getLoc();
    Value buffers = TMEMAllocOp::create(builder, loc, array, /*token=*/Type(),
                                        /*src=*/Value())
                        .getResult();
    ring = ArefCreateOp::create(
        builder, loc, ArefType::get(builder.getContext(), {Type(array)}),
        buffers);
    slot = gpu::MemDescType::get(type.getShape(), type.getElementType(),
                                 type.getEncoding(), type.getMemorySpace(),
                                 /*mutableMemory=*/true);
  }

  Value getPoison() {
    if (!poison) {
      OpBuilder builder(ring);
      poison =
          ub::PoisonOp::create(builder, alloc.getLoc(),
                               gpu::AsyncTokenType::get(builder.getContext()));
    }
    return poison;
  }

  //===--------------------------------------------------------------------===//
  // Turns begin and end
  //===--------------------------------------------------------------------===//

  /// Has a new operation belong to the partitions `owner`, with the schedule of
  /// what they access the buffer with.
  static void assign(Operation *op, Attribute owner, Operation *like,
                     Attribute tag = {}) {
    if (like && owner)
      runWith(op, like);
    if (owner)
      setPartitions(op, owner);
    if (tag)
      op->setAttr(gpu::kWarpSpecializeTagAttr, tag);
  }

  void enter(Round &round, Attribute owner, bool fills, OpBuilder &builder,
             Attribute tag = {}) {
    if (owner && fills != (owner == filler))
      why = "one partition would have to fill the ring and to take from it";
    Operation *place = &*builder.getInsertionPoint();
    reenters |= fills && !isOutside(place);
    round.isHeld = true;
    round.fills = fills;
    round.owner = owner;
    round.byTensorCore = wasByTensorCore[fills];
    round.isFresh |= fills;
    round.start = nullptr;
    round.tag = tag;
    if (!ring)
      return;
    auto take = [&](auto op) {
      assign(op, owner, last[fills], tag);
      round.token = op.getToken();
      round.behind = op;
    };
    if (fills)
      take(enterSlot<ArefPutEnterOp>(builder, alloc.getLoc(), ring, slot));
    else
      take(enterSlot<ArefGetEnterOp>(builder, alloc.getLoc(), ring, slot));
  }

  Operation *exit(Round &round) {
    round.isHeld = false;
    if (!ring)
      return nullptr;
    OpBuilder builder(ring.getContext());
    if (round.start)
      builder.setInsertionPointToStart(round.start);
    else
      builder.setInsertionPointAfter(round.behind);
    AsyncOp kind = round.byTensorCore ? AsyncOp::TC5MMA : AsyncOp::NONE;
    Operation *op = round.fills
                        ? exitSlot<ArefPutExitOp>(builder, alloc.getLoc(), ring,
                                                  round.token, {kind})
                              .getOperation()
                        : exitSlot<ArefGetExitOp>(builder, alloc.getLoc(), ring,
                                                  round.token, {kind})
                              .getOperation();
    assign(op, round.owner, last[round.fills], round.tag);
    return op;
  }

  /// Makes it the round of `owner`.
  void hold(Round &round, Attribute owner, bool fills, Operation *before) {
    if (round.isHeld && round.fills == fills && round.owner == owner)
      return;
    if (round.isHeld)
      exit(round);
    OpBuilder builder(before);
    if (round.fills == fills) {
      // Sides alternate: the other one has a round in which it does nothing.
      enter(round, owner, !fills, builder);
      exit(round);
      builder.setInsertionPoint(before);
    }
    enter(round, owner, fills, builder);
  }

  /// The side of all warps, behind `round`.
  static bool getSide(const Round &round) {
    return round.isHeld && !round.owner ? round.fills : !round.fills;
  }

  bool getSide(const Round &round, Attribute owner) const {
    return owner ? owner == filler : getSide(round);
  }

  /// Each filled slot is taken, so that the ring is empty at the end.
  void finish(Round &round) {
    if (!round.isHeld)
      return;
    Round end = round;
    Operation *left = exit(round);
    if (!end.fills)
      return;
    // All warps take it where they have filled it.
    bool isShared = !end.owner && isOutside(alloc);
    Attribute owner = isShared ? Attribute() : taker;
    OpBuilder builder(alloc);
    if (left)
      builder.setInsertionPointAfter(left);
    enter(round, owner, /*fills=*/false, builder,
          owner ? end.tag : Attribute());
    exit(round);
  }

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  void run() {
    last[0] = last[1] = nullptr;
    wasByTensorCore[0] = wasByTensorCore[1] = false;
    views.clear();
    Round round;
    if (alloc.getToken() && !alloc.getSrc() && isOutside(alloc))
      hold(round, {}, /*fills=*/true, alloc);
    run(steps, round);
    finish(round);
  }

  void run(const TMEMSteps &of, Round &round) {
    for (const TMEMStep &step : of)
      if (step.isAccess())
        access(step, round);
      else if (isa<scf::IfOp>(step.op))
        branch(step, round);
      else
        loop(step, round);
  }

  void access(const TMEMStep &step, Round &round) {
    bool fills = getSide(round, step.owner);
    last[fills] = step.op;
    hold(round, step.owner, fills, step.op);
    keepsContents |= round.isFresh && !step.overwrites();
    round.isFresh = false;
    round.byTensorCore = step.getKind() != AsyncOp::NONE;
    wasByTensorCore[fills] = round.byTensorCore;
    round.behind = step.op;
    round.start = nullptr;
    round.tag = {};
    if (!ring)
      return;
    Value view = getView(round, step);
    if (step.op == alloc) {
      OpBuilder builder(alloc);
      auto always = arith::ConstantIntOp::create(builder, alloc.getLoc(), 1, 1);
      runWith(always, alloc);
      auto store = nvidia_gpu::TMEMStoreOp::create(
          builder, alloc.getLoc(), view, alloc.getSrc(), always);
      runWith(store, alloc);
      assign(store, step.owner, nullptr);
      last[fills] = round.behind = store;
      return;
    }
    for (OpOperand *use : step.uses)
      use->set(view);
    dropDependency(step.op);
  }

  static void dropDependency(Operation *op) {
    if (auto load = dyn_cast<nvidia_gpu::TMEMLoadOp>(op))
      load.getDepMutable().clear();
    else if (auto store = dyn_cast<nvidia_gpu::TMEMStoreOp>(op))
      store.getDepMutable().clear();
    else if (auto mma = dyn_cast<nvidia_gpu::MMAv5OpInterface>(op))
      mma.setAccumulatorDependency({});
  }

  /// The buffer of this round, once in a block.
  Value getView(const Round &round, const TMEMStep &step) {
    Value &view = views[{round.token, step.op->getBlock()}];
    if (!view) {
      OpBuilder builder(step.op);
      auto op = ArefBufferOp::create(builder, alloc.getLoc(), TypeRange(slot),
                                     ring, /*stage=*/Value(), round.token);
      assign(op, step.owner, step.op);
      view = op.getBuffers().front();
    }
    return view;
  }

  static const TMEMStep *findFirst(const TMEMSteps &of) {
    const TMEMStep *first = nullptr;
    walkAccesses(of, [&](const TMEMStep &access, bool) {
      first = first ? first : &access;
    });
    return first;
  }

  /// Who has the buffer where a loop or branch begins or ends.
  Attribute getOwnerInside(Operation *op, Attribute owner) const {
    return isOutside(op) && !isDivided(op) ? Attribute() : owner;
  }

  void loop(const TMEMStep &step, Round &round) {
    const TMEMSteps &body = step.bodies.front();
    const TMEMStep *first = findFirst(body);
    auto init = [&]() -> OpOperand & {
      unsigned skipped = isa<scf::ForOp>(step.op)
                             ? cast<scf::ForOp>(step.op).getNumControlOperands()
                             : 0;
      return step.op->getOpOperand(skipped + step.operand);
    };
    if (!first) {
      if (ring)
        init().set(round.isHeld ? round.token : getPoison());
      return;
    }
    bool fills = getSide(round, first->owner);
    Attribute inside = getOwnerInside(step.op, first->owner);
    bool isOut = isOutside(step.op);
    // Nothing of a loop runs before what is in front of it is done.
    bool follows = isOut && round.isHeld && round.fills == fills &&
                   (isDivided(step.op) || !round.owner);
    if (!follows)
      hold(round, isOut ? Attribute() : inside, fills, step.op);

    Block *block = getBlocks(step).front();
    Operation *end = block->getTerminator();
    Round start = round;
    start.owner = inside;
    start.behind = nullptr;
    start.start = block;
    start.tag = {};
    auto follow = [&](Round in) {
      run(body, in);
      hold(in, inside, fills, end);
      return in;
    };
    if (!ring) {
      start.isFresh |= follow(start).isFresh;
    } else {
      init().set(round.token);
      start.token = getArgument(step);
    }
    Round done = follow(start);
    if (ring) {
      end->setOperand(getYielded(step), done.token);
      round.token = step.op->getResult(step.result);
    }
    round.isHeld = true;
    round.fills = fills;
    round.owner = inside;
    round.byTensorCore |= done.byTensorCore;
    round.isFresh |= done.isFresh;
    round.behind = step.op;
    round.start = nullptr;
    round.tag = isOut && inside ? step.op->getAttr(gpu::kWarpSpecializeTagAttr)
                                : Attribute();
  }

  static Value getArgument(const TMEMStep &step) {
    if (auto loop = dyn_cast<scf::ForOp>(step.op))
      return loop.getRegionIterArg(step.operand);
    return cast<scf::WhileOp>(step.op).getAfterArguments()[step.result];
  }

  /// Who is to have the buffer behind a branch.
  Attribute getOwnerBehind(const TMEMStep &step, const Round &round) const {
    auto lists = step.op->getAttrOfType<ArrayAttr>(gpu::kPartitionOutputsAttr);
    Attribute said =
        lists && step.result < lists.size() ? lists[step.result] : Attribute();
    if (said && (said == filler || said == taker))
      return said;
    if (round.isHeld)
      return round.owner;
    for (const TMEMSteps &body : step.bodies)
      if (const TMEMStep *first = findFirst(body))
        return first->owner;
    return {};
  }

  void branch(const TMEMStep &step, Round &round) {
    Attribute owner = getOwnerInside(step.op, getOwnerBehind(step, round));
    // Behind a loop, its partitions cannot wait for a branch of all warps.
    if (!owner && round.isHeld && round.owner)
      hold(round, {}, !round.fills, step.op);
    bool fills = owner ? owner == filler : !round.isHeld || round.fills;
    Round merged = round;
    merged.isFresh = merged.byTensorCore = false;
    SmallVector<Block *, 2> blocks = getBlocks(step);
    for (auto [body, block] : llvm::zip(step.bodies, blocks)) {
      Round in = round;
      in.behind = nullptr;
      in.start = block;
      Operation *end = block->getTerminator();
      run(body, in);
      hold(in, owner, fills, end);
      if (ring)
        end->setOperand(getYielded(step), in.token);
      merged.isFresh |= in.isFresh;
      merged.byTensorCore |= in.byTensorCore;
    }
    round = merged;
    round.isHeld = true;
    round.owner = owner;
    round.fills = fills;
    round.start = nullptr;
    round.tag = {};
    round.behind = step.op;
    if (!ring)
      return;
    round.token = step.op->getResult(step.result);
    if (scf::IfOp behind =
            splitBranch(cast<scf::IfOp>(step.op), step.result, owner, ring)) {
      round.behind = behind;
      round.token = behind.getResult(0);
    }
  }

  TMEMAllocOp alloc;
  const TMEMSteps &steps;
  /// The partition that fills the ring, and the other one, if there is one.
  Attribute filler, taker;
  bool hasMore = false, hasOwner = false;
  StringRef why;
  /// A round to fill the ring begins in a loop; one of them keeps something of
  /// what was in the buffer.
  bool reenters = false, keepsContents = false;

  int64_t depth = 1;
  ArefCreateOp ring;
  gpu::MemDescType slot;
  Value poison;
  /// By side: the last access, and whether a tensor core did it.
  Operation *last[2];
  bool wasByTensorCore[2];
  llvm::DenseMap<std::pair<Value, Block *>, Value> views;
};

class InsertTMEMArefPass
    : public nvws::impl::NVWSInsertTMEMArefBase<InsertTMEMArefPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<TMEMAllocOp> allocs;
    getOperation().walk([&](TMEMAllocOp alloc) { allocs.push_back(alloc); });
    for (TMEMAllocOp alloc : allocs) {
      if (!isShared(alloc))
        continue;
      TMEMSteps steps;
      StringRef why = findSteps(alloc, steps);
      RingOfBuffer buffer(alloc, steps);
      if (why.empty() && !buffer.findOwners())
        continue;
      if (why.empty())
        why = buffer.plan();
      if (!why.empty()) {
        remark::missed(alloc.getLoc(),
                       remark::RemarkOpts::name("no-ring").category(DEBUG_TYPE))
            << StringRef(
                   ("no ring hands this buffer to other partitions: " + why)
                       .str());
        continue;
      }
      buffer.insert();
      ++numRings;
    }
  }

private:
  /// Whether a partition accesses it, and somebody else does, too.
  static bool isShared(TMEMAllocOp alloc) {
    UsesOfPartitions users = getUsesOfPartitions(alloc.getResult());
    bool anyPartition = llvm::any_of(
        users, [](const auto &entry) { return bool(entry.first); });
    bool isStored =
        alloc.getSrc() && !users.contains(getPartitionsAround(alloc));
    return anyPartition && users.size() + isStored > 1;
  }
};

} // namespace

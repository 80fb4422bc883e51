//===-- PartitionLoops.cpp - Loops whose operations say who runs them -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each partition gets a copy of the loop, with what it runs. Of the values that
// a loop or a branch hands on, it has those that it is to have
// (`ttg.partition.outputs`). Operations in front of the loop and behind it may
// belong to partitions of the same loop (`ttg.warp_specialize.tag`).
//
// What one partition makes, no other one can use: rings hand it on, and are
// there already.
//
//===----------------------------------------------------------------------===//

#include "SharedTensors.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/PartitionAttributes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::triton::nvws {
#define GEN_PASS_DEF_NVWSPARTITIONLOOPS
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvws

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

namespace {
std::optional<ArrayRef<int32_t>> getList(Operation *op) {
  auto list = dyn_cast_if_present<DenseI32ArrayAttr>(getPartitions(op));
  return list ? std::optional(list.asArrayRef()) : std::nullopt;
}

std::optional<int64_t> getTag(Operation *op) {
  auto tag = op->getAttrOfType<IntegerAttr>(gpu::kWarpSpecializeTagAttr);
  return tag ? std::optional(tag.getInt()) : std::nullopt;
}

/// The part of one partition of a loop and of what is around it.
class Part {
public:
  Part(Operation *loop, int32_t partition, OpBuilder &builder)
      : loop(loop), partition(partition), builder(builder) {}

  LogicalResult clone(ArrayRef<Operation *> ops) {
    for (Operation *op : ops)
      if (failed(cloneOp(op)))
        return failure();
    return success();
  }

  /// The value of this partition; null if it has none.
  Value lookup(Value value) const { return mapping.lookupOrNull(value); }

  static bool isIn(int32_t partition, Operation *op) {
    std::optional<ArrayRef<int32_t>> list = getList(op);
    return !list || llvm::is_contained(*list, partition);
  }

  /// Whether `partition` has a result of a loop or branch.
  static bool hasOutput(int32_t partition, Operation *op, unsigned number) {
    auto lists = op->getAttrOfType<ArrayAttr>(gpu::kPartitionOutputsAttr);
    if (!lists || number >= lists.size())
      return isIn(partition, op);
    auto list = dyn_cast<DenseI32ArrayAttr>(lists[number]);
    return !list || llvm::is_contained(list.asArrayRef(), partition);
  }

private:
  SmallVector<unsigned> getKept(Operation *op) const {
    SmallVector<unsigned> kept;
    for (unsigned i : llvm::seq(op->getNumResults()))
      if (hasOutput(partition, op, i))
        kept.push_back(i);
    return kept;
  }

  /// Whether `value` is made in what is divided.
  bool isDivided(Value value) const {
    Operation *around = value.getParentRegion()->getParentOp();
    if (loop->isAncestor(around))
      return true;
    Operation *def = value.getDefiningOp();
    return def &&
           (def == loop || (getTag(def) == getTag(loop) && getList(def)));
  }

  /// The value of this partition for an operand; null if there is none.
  Value get(Value value) const {
    if (Value own = lookup(value))
      return own;
    return isDivided(value) ? Value() : value;
  }

  FailureOr<SmallVector<Value>> getAll(Operation *user, ValueRange values,
                                       ArrayRef<unsigned> kept) const {
    SmallVector<Value> result;
    for (unsigned i : kept) {
      Value own = get(values[i]);
      if (!own)
        return refuse(user, values[i]);
      result.push_back(own);
    }
    return result;
  }

  LogicalResult refuse(Operation *user, Value value) const {
    Operation *def = value.getDefiningOp();
    InFlightDiagnostic error = user->emitOpError("expected partition ")
                               << partition << " to have what it uses there";
    if (def)
      error.attachNote(def->getLoc()) << "other partitions make it here";
    return error;
  }

  LogicalResult cloneOp(Operation *op) {
    if (!isIn(partition, op))
      return success();
    if (auto phi = dyn_cast<ArefPhiOp>(op)) {
      Value own = lookup(phi.getLhs());
      if (!own)
        own = get(phi.getRhs());
      if (!own)
        return refuse(op, phi.getRhs());
      mapping.map(phi.getResult(), own);
      return success();
    }
    if (auto forOp = dyn_cast<scf::ForOp>(op))
      return cloneFor(forOp);
    if (auto whileOp = dyn_cast<scf::WhileOp>(op))
      return cloneWhile(whileOp);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return cloneIf(branch);
    WalkResult usesOthers = op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentRegion()->getParentOp()) &&
            !get(operand)) {
          // What nobody assigned is left out where it cannot be.
          if (!getList(op) && isPure(op))
            return WalkResult::interrupt();
          (void)refuse(op, operand);
          isRefused = true;
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (isRefused)
      return failure();
    if (!usesOthers.wasInterrupted())
      unmark(builder.clone(*op, mapping));
    return success();
  }

  LogicalResult cloneFor(scf::ForOp op) {
    SmallVector<unsigned> kept = getKept(op);
    auto bounds = getAll(
        op, {op.getLowerBound(), op.getUpperBound(), op.getStep()}, {0, 1, 2});
    auto inits = getAll(op, op.getInitArgs(), kept);
    if (failed(bounds) || failed(inits))
      return failure();
    auto made = scf::ForOp::create(
        builder, op.getLoc(), (*bounds)[0], (*bounds)[1], (*bounds)[2], *inits,
        /*bodyBuilder=*/nullptr, op.getUnsignedCmp());
    copyAttributes(op, made);
    mapping.map(op.getInductionVar(), made.getInductionVar());
    for (auto [i, number] : llvm::enumerate(kept)) {
      mapping.map(op.getRegionIterArg(number), made.getRegionIterArg(i));
      mapping.map(op.getResult(number), made.getResult(i));
    }
    return cloneBody(op.getBody(), made.getBody(), kept);
  }

  /// Fills a block, and yields what this partition has.
  LogicalResult cloneBody(Block *from, Block *to, ArrayRef<unsigned> kept) {
    OpBuilder::InsertionGuard guard(builder);
    if (!to->empty())
      to->clear();
    builder.setInsertionPointToEnd(to);
    for (Operation &op : from->without_terminator())
      if (failed(cloneOp(&op)))
        return failure();
    Operation *end = from->getTerminator();
    auto values = getAll(end, end->getOperands(), kept);
    if (failed(values))
      return failure();
    scf::YieldOp::create(builder, end->getLoc(), *values);
    return success();
  }

  LogicalResult cloneIf(scf::IfOp op) {
    SmallVector<unsigned> kept = getKept(op);
    Value condition = get(op.getCondition());
    if (!condition)
      return refuse(op, op.getCondition());
    SmallVector<Type> types;
    for (unsigned i : kept)
      types.push_back(op.getResult(i).getType());
    auto made = scf::IfOp::create(builder, op.getLoc(), types, condition,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/op.elseBlock() != nullptr);
    copyAttributes(op, made);
    for (auto [i, number] : llvm::enumerate(kept))
      mapping.map(op.getResult(number), made.getResult(i));
    if (failed(cloneBody(op.thenBlock(), made.thenBlock(), kept)))
      return failure();
    return op.elseBlock() ? cloneBody(op.elseBlock(), made.elseBlock(), kept)
                          : success();
  }

  LogicalResult cloneWhile(scf::WhileOp op) {
    SmallVector<unsigned> results = getKept(op), arguments;
    // The results are arguments of the body. It hands those on that it has.
    auto hasAtEnd = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (argument && argument.getOwner() == op.getAfterBody())
        return hasOutput(partition, op, argument.getArgNumber());
      Operation *def = value.getDefiningOp();
      if (def && op->isAncestor(def))
        return isa<scf::IfOp, scf::ForOp, scf::WhileOp>(def)
                   ? hasOutput(partition, def,
                               cast<OpResult>(value).getResultNumber())
                   : isIn(partition, def);
      return bool(get(value));
    };
    Operation *yield = op.getYieldOp();
    for (OpOperand &operand : yield->getOpOperands())
      if (hasAtEnd(operand.get()))
        arguments.push_back(operand.getOperandNumber());
    auto inits = getAll(op, op.getInits(), arguments);
    if (failed(inits))
      return failure();
    SmallVector<Type> types;
    for (unsigned i : results)
      types.push_back(op.getResult(i).getType());
    auto made = scf::WhileOp::create(builder, op.getLoc(), types, *inits,
                                     /*beforeBuilder=*/nullptr,
                                     /*afterBuilder=*/nullptr);
    copyAttributes(op, made);
    for (auto [i, number] : llvm::enumerate(results)) {
      mapping.map(op.getResult(number), made.getResult(i));
      mapping.map(op.getAfterArguments()[number], made.getAfterArguments()[i]);
    }
    for (auto [i, number] : llvm::enumerate(arguments))
      mapping.map(op.getBeforeArguments()[number],
                  made.getBeforeArguments()[i]);
    {
      OpBuilder::InsertionGuard guard(builder);
      made.getBeforeBody()->clear();
      builder.setInsertionPointToEnd(made.getBeforeBody());
      for (Operation &inner : op.getBeforeBody()->without_terminator())
        if (failed(cloneOp(&inner)))
          return failure();
      scf::ConditionOp end = op.getConditionOp();
      Value condition = get(end.getCondition());
      if (!condition)
        return refuse(end, end.getCondition());
      auto values = getAll(end, end.getArgs(), results);
      if (failed(values))
        return failure();
      scf::ConditionOp::create(builder, end.getLoc(), condition, *values);
    }
    return cloneBody(op.getAfterBody(), made.getAfterBody(), arguments);
  }

  static void copyAttributes(Operation *from, Operation *to) {
    for (NamedAttribute attribute : from->getDiscardableAttrs())
      to->setDiscardableAttr(attribute.getName(), attribute.getValue());
    unmark(to);
  }

  static void unmark(Operation *op) {
    op->walk([](Operation *inner) {
      erasePartitions(inner);
      inner->removeDiscardableAttr(gpu::kPartitionOutputsAttr);
      inner->removeDiscardableAttr(gpu::kPartitionStagesAttr);
      if (isa<LoopLikeOpInterface>(inner))
        gpu::LoopPlan(inner).eraseWarpSpecialized();
      else
        inner->removeDiscardableAttr(gpu::kWarpSpecializeTagAttr);
    });
  }

  Operation *loop;
  int32_t partition;
  OpBuilder &builder;
  IRMapping mapping;
  bool isRefused = false;
};

/// A loop with what belongs to its partitions in front of it and behind it.
class DividedLoop {
public:
  explicit DividedLoop(Operation *loop) : loop(loop) {
    ArrayRef<int32_t> list = *getList(loop);
    numPartitions = *llvm::max_element(list) + 1;
    for (Operation &op : *loop->getBlock())
      if (&op == loop || (getTag(&op) == getTag(loop) && getList(&op)))
        ops.push_back(&op);
  }

  LogicalResult run() {
    OpBuilder builder(loop);
    if (failed(findResults(builder)))
      return failure();
    int32_t numWarps = gpu::lookupNumWarps(loop);
    SmallVector<Type> types;
    for (unsigned i : yielded)
      types.push_back(loop->getResult(i).getType());
    auto group = WarpGroupOp::create(
        builder, loop->getLoc(), types,
        SmallVector<int32_t>(numPartitions, numWarps), numPartitions);
    for (int32_t partition : llvm::seq(numPartitions))
      if (failed(fill(builder, group, partition)))
        return failure();
    builder.setInsertionPointAfter(group);
    for (auto [i, number] : llvm::enumerate(yielded))
      loop->getResult(number).replaceAllUsesWith(group.getResult(i));
    for (auto [number, buffer] : buffers) {
      Value result = loop->getResult(number);
      RankedTensorType type = getTensorType(result);
      Value whole =
          gpu::LocalLoadOp::create(builder, loop->getLoc(), type, buffer)
              .getResult();
      gpu::LocalDeallocOp::create(builder, loop->getLoc(), buffer);
      if (type != result.getType())
        whole = UnsplatOp::create(builder, loop->getLoc(), whole);
      result.replaceAllUsesWith(whole);
    }
    for (Operation *op : llvm::reverse(ops)) {
      op->dropAllUses();
      op->erase();
    }
    return success();
  }

private:
  bool isOutside(Operation *user) const {
    return llvm::none_of(ops,
                         [&](Operation *op) { return op->isAncestor(user); });
  }

  /// As what a result goes through shared memory; null if it cannot.
  RankedTensorType getTensorType(Value result) const {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    return type ? type : getTensorOfOne(result.getType(), loop);
  }

  /// Results that others need come from the first partition. Those of other
  /// partitions pass through shared memory.
  LogicalResult findResults(OpBuilder &builder) {
    for (Operation *op : ops)
      for (OpResult result : op->getResults()) {
        if (llvm::none_of(result.getUsers(),
                          [&](Operation *user) { return isOutside(user); }))
          continue;
        unsigned number = result.getResultNumber();
        if (op == loop && Part::hasOutput(0, loop, number)) {
          yielded.push_back(number);
          continue;
        }
        RankedTensorType type = getTensorType(result);
        if (op != loop || !type || !type.getEncoding())
          return op->emitOpError("expected the first partition to have result ")
                 << number << ", which others use";
        buffers.push_back(
            {number, gpu::LocalAllocOp::create(
                         builder, loop->getLoc(),
                         getSharedType(type, /*isMutable=*/true), Value())});
      }
    return success();
  }

  LogicalResult fill(OpBuilder &builder, WarpGroupOp group,
                     int32_t partition) const {
    Location loc = loop->getLoc();
    builder.createBlock(&group.getPartitions()[partition]);
    Part part(loop, partition, builder);
    if (failed(part.clone(ops)))
      return failure();
    SmallVector<Value> values;
    for (unsigned i : yielded)
      values.push_back(part.lookup(loop->getResult(i)));
    for (auto [number, buffer] : buffers) {
      Value own = part.lookup(loop->getResult(number));
      bool isFirst = own && llvm::none_of(llvm::seq(partition), [&](int32_t p) {
                       return Part::hasOutput(p, loop, number);
                     });
      if (!isFirst)
        continue;
      RankedTensorType type = getTensorType(own);
      if (type != own.getType())
        own = SplatOp::create(builder, loc, type, own);
      gpu::LocalStoreOp::create(builder, loc, own, buffer);
    }
    if (partition == 0)
      WarpGroupYieldOp::create(builder, loc, values);
    else
      WarpGroupReturnOp::create(builder, loc);
    return success();
  }

  Operation *loop;
  int32_t numPartitions;
  SmallVector<Operation *> ops;
  SmallVector<unsigned> yielded;
  SmallVector<std::pair<unsigned, Value>> buffers;
};

struct PartitionLoopsPass
    : nvws::impl::NVWSPartitionLoopsBase<PartitionLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> loops;
    getOperation().walk<WalkOrder::PreOrder>([&](LoopLikeOpInterface loop) {
      std::optional<ArrayRef<int32_t>> list = getList(loop);
      if (!getTag(loop) || !list || !isa<scf::ForOp, scf::WhileOp>(loop))
        return WalkResult::advance();
      if (llvm::any_of(*list, [](int32_t partition) { return partition > 0; }))
        loops.push_back(loop);
      return WalkResult::skip();
    });
    for (Operation *loop : loops) {
      if (failed(DividedLoop(loop).run()))
        return signalPassFailure();
      ++numLoops;
    }
  }
};
} // namespace

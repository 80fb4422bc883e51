//===-- OperandCopies.cpp - Operands straight into LDS --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// New bodies wait for the copies that the iteration needs, start those of a
// later one, into the buffers that the iteration before has read, read the
// operands, and multiply.
//
//===----------------------------------------------------------------------===//

#include "OperandCopies.h"
#include "OperandEncodings.h"

#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
enum Cluster { Waits, Copies, Reads, Rest };

/// Where an operand is copied to, and what stands for the copy.
struct Copy {
  amd::OperandLoad &operand;
  Value ring;
  AsyncCommitGroupOp group;
};

class CopyBuilder {
public:
  CopyBuilder(scf::ForOp loop, const LoopSchedule &old, int distance,
              const amd::TargetModel &model)
      : loop(loop), model(model), distance(distance),
        copyStage(old.getMaxStage() - 1), lastStage(copyStage + distance),
        schedule(lastStage), builder(loop) {
    for (Operation &op : loop.getBody()->without_terminator()) {
      int stage = old.get(&op).stage;
      schedule.set(&op, stage <= copyStage
                            ? LoopSchedule::Place{stage, Copies}
                            : LoopSchedule::Place{lastStage, Rest});
    }
  }

  LoopSchedule build(MutableArrayRef<amd::OperandLoad> operands) {
    SmallVector<Copy> copies;
    for (amd::OperandLoad &operand : operands)
      copies.push_back(start(operand));
    SmallVector<Value> waits = wait(copies);
    for (auto [copy, token] : llvm::zip_equal(copies, waits))
      read(copy, token);
    // What the last iterations started, with masks that are false, is done when
    // the buffers are.
    builder.setInsertionPointAfter(loop);
    AsyncWaitOp::create(builder, loop.getLoc(), ValueRange(), /*num=*/0);
    for (Copy &copy : copies)
      LocalDeallocOp::create(builder, loop.getLoc(), copy.ring);
    return std::move(schedule);
  }

private:
  template <typename OpT> OpT put(OpT op, LoopSchedule::Place place) {
    schedule.set(op, place);
    return op;
  }

  /// The number of an iteration.
  Value getNumber(LoopSchedule::Place place) {
    Operation *next = &*builder.getInsertionPoint();
    Operation *before = next->getPrevNode();
    Value number = TripCount(loop).getNumber(builder, loop.getInductionVar());
    Block::iterator first =
        before ? std::next(before->getIterator()) : loop.getBody()->begin();
    for (Operation &op : llvm::make_range(first, next->getIterator()))
      schedule.set(&op, place);
    return number;
  }

  /// The buffer of an iteration, which its number chooses.
  Value getSlot(Location loc, Value ring, LoopSchedule::Place place) {
    Type type = loop.getInductionVar().getType(), i32 = builder.getI32Type();
    Value count = getNumber(place);
    Value size =
        put(arith::ConstantOp::create(
                builder, loc, builder.getIntegerAttr(type, distance + 1)),
            place);
    Value index = put(arith::RemUIOp::create(builder, loc, count, size), place);
    if (type.isIndex())
      index = put(arith::IndexCastOp::create(builder, loc, i32, index), place);
    else if (!type.isInteger(32))
      index = put(arith::TruncIOp::create(builder, loc, i32, index), place);
    Value slot = getBuffer(builder, loc, ring, index);
    put(slot.getDefiningOp(), place);
    return slot;
  }

  Copy start(amd::OperandLoad &operand) {
    LoadOp load = operand.load;
    RankedTensorType type = operand.getType();
    LoopSchedule::Place place{copyStage, Copies};
    builder.setInsertionPoint(loop);
    Value ring = allocateBuffers(
        builder, load.getLoc(), type,
        amd::getOperandSharedEncoding(type, operand.getOperandType(), model,
                                      amd::kCopiedBytes),
        /*count=*/distance + 1);
    builder.setInsertionPoint(load);
    Value slot = getSlot(load.getLoc(), ring, place);
    auto copy =
        put(AsyncCopyGlobalToLocalOp::create(
                builder, load.getLoc(), load.getPtr(), slot, load.getMask(),
                /*other=*/Value(), load.getCache(), load.getEvict()),
            place);
    auto group =
        put(AsyncCommitGroupOp::create(builder, load.getLoc(), copy.getToken()),
            place);
    return {operand, ring, group};
  }

  /// The token of the wait for each copy: one for all, unless something is read
  /// before another copy starts.
  SmallVector<Value> wait(MutableArrayRef<Copy> copies) {
    auto isBefore = [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    };
    SmallVector<Value> groups;
    SmallVector<Operation *> starts, reads;
    for (Copy &copy : copies) {
      groups.push_back(copy.group);
      starts.push_back(copy.group);
      llvm::append_range(reads, copy.operand.reads);
    }
    auto waitFor = [&](Operation *last, ValueRange tokens) -> Value {
      builder.setInsertionPointAfter(last);
      return put(AsyncWaitOp::create(builder, loop.getLoc(), tokens, /*num=*/0),
                 {lastStage, Waits});
    };
    Operation *last = *llvm::max_element(starts, isBefore);
    if (isBefore(last, *llvm::min_element(reads, isBefore)))
      return SmallVector<Value>(copies.size(), waitFor(last, groups));
    return llvm::map_to_vector(
        copies, [&](Copy &copy) { return waitFor(copy.group, {copy.group}); });
  }

  /// Has the products read the buffer behind the wait that `token` stands for.
  void read(Copy &copy, Value token) {
    LoopSchedule::Place place{lastStage, Reads};
    for (ConvertLayoutOp convert : copy.operand.reads) {
      builder.setInsertionPoint(convert);
      Value slot = getSlot(convert.getLoc(), copy.ring, place);
      auto load = put(LocalLoadOp::create(builder, convert.getLoc(),
                                          convert.getType(), slot, token),
                      place);
      schedule.remove(convert);
      convert.replaceAllUsesWith(load.getResult());
      convert.erase();
    }
    schedule.remove(copy.operand.load);
    copy.operand.load.erase();
  }

  scf::ForOp loop;
  const amd::TargetModel &model;
  int distance, copyStage, lastStage;
  LoopSchedule schedule;
  OpBuilder builder;
};
} // namespace

LoopSchedule amd::copyOperands(scf::ForOp loop, const LoopSchedule &schedule,
                               MutableArrayRef<OperandLoad> operands,
                               int distance, const TargetModel &model) {
  return CopyBuilder(loop, schedule, distance, model).build(operands);
}

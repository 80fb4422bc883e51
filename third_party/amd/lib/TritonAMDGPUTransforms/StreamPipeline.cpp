//===-- StreamPipeline.cpp - Loads ahead, through registers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandEncodings.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/LoopSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUSTREAMPIPELINE
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// A load of which matrix products are all that uses it.
struct OperandLoad {
  LoadOp load;
  SmallVector<ConvertLayoutOp> reads;
  /// The first stage that reads.
  int useStage = 0;

  RankedTensorType getType() { return cast<RankedTensorType>(load.getType()); }
  int64_t getBytes() {
    return getType().getNumElements() * getType().getElementTypeBitWidth() / 8;
  }
  RankedTensorType getOperandType() { return reads.front().getType(); }
};

std::optional<OperandLoad> findOperandLoad(Operation &op, scf::ForOp loop,
                                           const LoopSchedule &schedule) {
  OperandLoad result;
  result.load = dyn_cast<LoadOp>(op);
  if (!result.load || !isa<RankedTensorType>(result.load.getType()) ||
      !getElementTypeOrSelf(result.load.getType()).isIntOrFloat())
    return std::nullopt;
  for (Operation *user : op.getUsers()) {
    auto convert = dyn_cast<ConvertLayoutOp>(user);
    if (!convert || convert->getBlock() != loop.getBody())
      return std::nullopt;
    auto operand =
        dyn_cast<DotOperandEncodingAttr>(convert.getType().getEncoding());
    if (!operand ||
        !isa<AMDMfmaEncodingAttr, AMDWmmaEncodingAttr>(operand.getParent()))
      return std::nullopt;
    int stage = schedule.get(convert).stage;
    result.useStage =
        result.reads.empty() ? stage : std::min(result.useStage, stage);
    result.reads.push_back(convert);
  }
  if (result.reads.empty() || result.useStage <= schedule.get(&op).stage)
    return std::nullopt;
  return result;
}

/// The registers of a thread that hold its part of a tensor.
int64_t countRegisters(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return llvm::divideCeil(
      getTotalElemsPerThread(type) * type.getElementTypeBitWidth(), 32);
}

/// The first of several products of a loop, if beside what they take and make
/// there are too few registers to hold what is loaded ahead for a whole
/// iteration. Operands that are read from LDS come in pieces and do not count.
DotOp findProductBeforeLoads(scf::ForOp loop, ArrayRef<OperandLoad> operands) {
  auto dots = llvm::to_vector(loop.getBody()->getOps<DotOp>());
  if (dots.size() < 2)
    return {};
  int64_t used = 0;
  llvm::SmallDenseSet<Value> inPieces;
  for (OperandLoad operand : operands) {
    used += countRegisters(operand.load.getResult());
    for (ConvertLayoutOp read : operand.reads)
      inPieces.insert(read.getResult());
  }
  for (DotOp dot : dots) {
    used += countRegisters(dot.getD());
    for (Value factor : {dot.getA(), dot.getB()})
      if (!inPieces.contains(factor))
        used += countRegisters(factor);
  }
  unsigned threads = lookupNumWarps(loop) * lookupThreadsPerWarp(loop);
  int64_t registers = getTargetModel(loop).getRegistersPerThread(threads);
  return 3 * used > 2 * registers ? dots.front() : DotOp();
}

struct StreamPipeline
    : amd::impl::TritonAMDGPUStreamPipelineBase<StreamPipeline> {
  using Base::Base;

  void runOnOperation() override {
    auto machine = amd::TargetModel::get(getOperation());
    if (failed(machine))
      return signalPassFailure();
    model = *machine;
    std::optional<ModuleAxisInfoAnalysis> ofModule;
    if (useAsyncCopy && model->getFacts().directLoadBytes >= kCopiedBytes)
      axisInfo = &ofModule.emplace(getOperation());
    getOperation().walk([&](scf::ForOp loop) {
      std::optional<LoopSchedule> schedule = LoopSchedule::read(loop);
      if (schedule)
        stream(loop, *schedule);
    });
  }

private:
  void stream(scf::ForOp loop, const LoopSchedule &schedule) {
    LoopSchedule streamed(schedule.getMaxStage());
    SmallVector<OperandLoad> operands;
    for (Operation &op : loop.getBody()->without_terminator()) {
      // With it, it would become an asynchronous copy.
      if (!op.removeAttr(kLatencyAttr))
        continue;
      ++numLoads;
      if (auto operand = findOperandLoad(op, loop, schedule))
        operands.push_back(std::move(*operand));
    }
    if (copyOperands(loop, schedule, streamed, operands))
      return streamed.write(loop);
    // Early stages first: what they load has the whole body to arrive in, or
    // what follows the first product.
    DotOp product = findProductBeforeLoads(loop, operands);
    int lastStage = schedule.getMaxStage(), firstCluster = product ? 1 : 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      int stage = schedule.get(&op).stage;
      bool isBefore = product && stage == lastStage &&
                      (&op == product || op.isBeforeInBlock(product));
      streamed.set(&op,
                   {stage, /*cluster=*/isBefore ? 0 : stage + firstCluster});
    }
    int64_t left = model->getMaxSharedMemory();
    for (OperandLoad &operand : operands)
      if (left >= operand.getBytes()) {
        left -= operand.getBytes();
        bufferOperand(operand, loop, streamed, lastStage + firstCluster + 1);
        ++numBuffers;
      }
    streamed.write(loop);
  }

  /// Bytes of a lane that such loads have together.
  static constexpr int64_t kCopiedBytes = 16;

  bool mayCopy(OperandLoad &operand, const LoopSchedule &schedule) const {
    LoadOp load = operand.load;
    int64_t bytes = operand.getType().getElementTypeBitWidth() / 8;
    int64_t run = axisInfo->getAlignment(load.getPtr());
    if (Value mask = load.getMask())
      run = std::min<int64_t>(run, axisInfo->getMaskAlignment(mask));
    return bytes && run * bytes >= kCopiedBytes && !isFreshRead(load) &&
           (!load.getOther() || matchPattern(load.getOther(), m_Zero()) ||
            matchPattern(load.getOther(), m_AnyZeroFloat())) &&
           operand.useStage == schedule.get(load).stage + 1 &&
           operand.useStage == schedule.getMaxStage();
  }

  /// How many iterations ahead copies start: what the stages are for, as long
  /// as LDS has a buffer for each of these iterations and one that products
  /// read.
  int getCopyDistance(scf::ForOp loop, ArrayRef<OperandLoad> operands) const {
    int64_t bytes = 0;
    for (OperandLoad operand : operands)
      bytes += operand.getBytes();
    int stages = getI32Attr(loop, kNumStagesAttr).value_or(numStages);
    return std::min<int64_t>(std::max(stages - 1, 1),
                             model->getMaxSharedMemory() / bytes - 1);
  }

  /// Loads all operands straight into LDS, if that is possible, so many
  /// iterations ahead that each has one buffer more than that. New bodies wait
  /// for the copies that the iteration needs, start those of a later one, into
  /// the buffers that the iteration before has read, read the operands, and
  /// multiply.
  bool copyOperands(scf::ForOp loop, const LoopSchedule &schedule,
                    LoopSchedule &streamed,
                    MutableArrayRef<OperandLoad> operands) {
    if (!axisInfo || operands.empty() ||
        !llvm::all_of(operands, [&](OperandLoad &operand) {
          return mayCopy(operand, schedule);
        }))
      return false;
    int distance = getCopyDistance(loop, operands);
    if (distance < 1)
      return false;
    constexpr int kWaits = 0, kCopies = 1, kReads = 2, kRest = 3;
    int copyStage = schedule.getMaxStage() - 1;
    int lastStage = copyStage + distance;
    streamed = LoopSchedule(lastStage);
    for (Operation &op : loop.getBody()->without_terminator()) {
      int stage = schedule.get(&op).stage;
      streamed.set(&op, stage <= copyStage
                            ? LoopSchedule::Place{stage, kCopies}
                            : LoopSchedule::Place{lastStage, kRest});
    }
    // Which of the buffers, by the number of the iteration.
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    auto getBuffer = [&](Value ring, LoopSchedule::Place place) -> Value {
      auto at = [&](Operation *op) {
        streamed.set(op, place);
        return op->getResult(0);
      };
      Location loc = ring.getLoc();
      Type type = loop.getInductionVar().getType();
      Value step = at(arith::SubIOp::create(
          builder, loc, loop.getInductionVar(), loop.getLowerBound()));
      Value count =
          at(arith::DivUIOp::create(builder, loc, step, loop.getStep()));
      Value buffers = at(arith::ConstantOp::create(
          builder, loc, builder.getIntegerAttr(type, distance + 1)));
      Value index = at(arith::RemUIOp::create(builder, loc, count, buffers));
      if (type.isIndex())
        index = at(arith::IndexCastOp::create(builder, loc,
                                              builder.getI32Type(), index));
      else if (!type.isInteger(32))
        index = at(
            arith::TruncIOp::create(builder, loc, builder.getI32Type(), index));
      auto rings = cast<MemDescType>(ring.getType());
      auto buffer = MemDescType::get(
          rings.getShape().drop_front(), rings.getElementType(),
          rings.getEncoding(), rings.getMemorySpace(), /*mutableMemory=*/true);
      return at(MemDescIndexOp::create(builder, loc, buffer, ring, index));
    };

    SmallVector<Value> groups, rings;
    for (OperandLoad &operand : operands) {
      RankedTensorType type = operand.getType();
      Location loc = operand.load.getLoc();
      SmallVector<int64_t> shape{distance + 1};
      llvm::append_range(shape, type.getShape());
      builder.setInsertionPoint(loop);
      Value ring = LocalAllocOp::create(
          builder, loc,
          MemDescType::get(
              shape, type.getElementType(),
              amd::getOperandSharedEncoding(type, operand.getOperandType(),
                                            *model, kCopiedBytes),
              SharedMemorySpaceAttr::get(&getContext()),
              /*mutableMemory=*/true));
      rings.push_back(ring);
      LoopSchedule::Place place{copyStage, kCopies};
      builder.setInsertionPoint(operand.load);
      auto copy = AsyncCopyGlobalToLocalOp::create(
          builder, loc, operand.load.getPtr(), getBuffer(ring, place),
          operand.load.getMask(), /*other=*/Value(), operand.load.getCache(),
          operand.load.getEvict());
      streamed.set(copy, place);
      auto group = AsyncCommitGroupOp::create(builder, loc, copy.getToken());
      streamed.set(group, place);
      groups.push_back(group);
      ++numCopies;
    }
    // One wait for all, unless something is read before another copy starts.
    auto isBefore = [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    };
    SmallVector<Operation *> starts, reads;
    for (Value group : groups)
      starts.push_back(group.getDefiningOp());
    for (OperandLoad &operand : operands)
      llvm::append_range(reads, operand.reads);
    Operation *last = *llvm::max_element(starts, isBefore);
    bool together = isBefore(last, *llvm::min_element(reads, isBefore));
    LoopSchedule::Place place{lastStage, kReads};
    AsyncWaitOp wait;
    // What the last iterations started, with masks that are false, is done when
    // the buffers are.
    builder.setInsertionPointAfter(loop);
    auto end = AsyncWaitOp::create(builder, loop.getLoc(), ValueRange(), 0);
    for (auto [operand, ring, group] : llvm::zip(operands, rings, groups)) {
      if (!wait || !together) {
        builder.setInsertionPointAfter(together ? last : group.getDefiningOp());
        wait = AsyncWaitOp::create(
            builder, loop.getLoc(),
            together ? ValueRange(groups) : ValueRange(group), /*num=*/0);
        streamed.set(wait, {lastStage, kWaits});
      }
      for (ConvertLayoutOp convert : operand.reads) {
        builder.setInsertionPoint(convert);
        auto read =
            LocalLoadOp::create(builder, convert.getLoc(), convert.getType(),
                                getBuffer(ring, place), wait);
        streamed.set(read, place);
        streamed.remove(convert);
        convert.replaceAllUsesWith(read.getResult());
        convert.erase();
      }
      streamed.remove(operand.load);
      operand.load.erase();
      builder.setInsertionPointAfter(end);
      LocalDeallocOp::create(builder, loop.getLoc(), ring);
    }
    return true;
  }

  /// Has the products read `operand` from a buffer, which is written in
  /// `writeCluster`, at the end of the iteration before.
  void bufferOperand(OperandLoad &operand, scf::ForOp loop,
                     LoopSchedule &schedule, int writeCluster) {
    OpBuilder builder(loop);
    MLIRContext *context = builder.getContext();
    Location loc = operand.load.getLoc();
    RankedTensorType type = operand.getType();
    Attribute encoding =
        amd::getOperandSharedEncoding(type, operand.getOperandType(), *model);
    Value buffer = LocalAllocOp::create(
        builder, loc,
        MemDescType::get(type.getShape(), type.getElementType(), encoding,
                         SharedMemorySpaceAttr::get(context),
                         /*mutableMemory=*/true));
    for (ConvertLayoutOp convert : operand.reads) {
      builder.setInsertionPoint(convert);
      auto read = LocalLoadOp::create(builder, loc, convert.getType(), buffer);
      schedule.set(read, schedule.get(convert));
      schedule.remove(convert);
      convert.replaceAllUsesWith(read.getResult());
      convert.erase();
    }
    builder.setInsertionPointAfter(operand.load);
    auto write =
        LocalStoreOp::create(builder, loc, operand.load.getResult(), buffer);
    write->setAttr(kUnguardedAttr, builder.getUnitAttr());
    schedule.set(write, {operand.useStage - 1, writeCluster});
    builder.setInsertionPointAfter(loop);
    LocalDeallocOp::create(builder, loc, buffer);
  }

  const amd::TargetModel *model = nullptr;
  /// Where loads straight into LDS are wanted.
  const ModuleAxisInfoAnalysis *axisInfo = nullptr;
};
} // namespace

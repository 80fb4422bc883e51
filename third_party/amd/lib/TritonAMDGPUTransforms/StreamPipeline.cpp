//===-- StreamPipeline.cpp - Loads ahead, through registers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandCopies.h"
#include "OperandEncodings.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/RegisterPressure.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

#include "mlir/IR/Matchers.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUSTREAMPIPELINE
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using amd::OperandLoad;

namespace {

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

int64_t countRegisters(Value value) {
  return triton::countRegisters(cast<RankedTensorType>(value.getType()));
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
  int64_t budget =
      getTargetModel(loop).getBudget(RegisterPurpose::LoadsAhead, threads);
  return used > budget ? dots.front() : DotOp();
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
    if (useAsyncCopy && model->getFacts().directLoadBytes >= amd::kCopiedBytes)
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
    if (int distance = getCopyDistance(loop, operands, schedule)) {
      numCopies += operands.size();
      return amd::copyOperands(loop, schedule, operands, distance, *model)
          .write(loop);
    }
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

  bool mayCopy(OperandLoad &operand, const LoopSchedule &schedule) const {
    LoadOp load = operand.load;
    int64_t bytes = operand.getType().getElementTypeBitWidth() / 8;
    int64_t run = axisInfo->getAlignment(load.getPtr());
    if (Value mask = load.getMask())
      run = std::min<int64_t>(run, axisInfo->getMaskAlignment(mask));
    return bytes && run * bytes >= amd::kCopiedBytes && !isFreshRead(load) &&
           (!load.getOther() || matchPattern(load.getOther(), m_Zero()) ||
            matchPattern(load.getOther(), m_AnyZeroFloat())) &&
           operand.useStage == schedule.get(load).stage + 1 &&
           operand.useStage == schedule.getMaxStage();
  }

  /// How many iterations ahead all operands are loaded straight into LDS, zero
  /// if that is not possible: what the stages are for, as long as LDS has a
  /// buffer for each of these iterations and one that products read.
  int getCopyDistance(scf::ForOp loop, MutableArrayRef<OperandLoad> operands,
                      const LoopSchedule &schedule) const {
    if (!axisInfo || operands.empty() ||
        !llvm::all_of(operands, [&](OperandLoad &operand) {
          return mayCopy(operand, schedule);
        }))
      return 0;
    int64_t bytes = 0;
    for (OperandLoad &operand : operands)
      bytes += operand.getBytes();
    int stages = getI32Attr(loop, kNumStagesAttr).value_or(numStages);
    int64_t most = model->getMaxSharedMemory() / bytes - 1;
    int64_t distance =
        std::max<int64_t>(std::min<int64_t>(std::max(stages - 1, 1), most), 0);
    // Numbers of iterations choose the buffers, also of copies that write only
    // zeros, for iterations that do not exist.
    int64_t ahead = schedule.getMaxStage() - 1 + distance;
    return TripCount(loop).isNumberExact(ahead) ? distance : 0;
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

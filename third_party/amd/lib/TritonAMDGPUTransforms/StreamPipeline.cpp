//===-- StreamPipeline.cpp - How loads get ahead of their use -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules the loop. The copies themselves are made by `tritongpu-pipeline`,
// with the strategies of CopyEngines.h. A load keeps its latency if it is to be
// copied to LDS; others stay in registers.
//
//===----------------------------------------------------------------------===//

#include "amd/IR/AttributeNames.h"
#include "amd/TargetModel.h"
#include "amd/TritonAMDGPUTransforms/CopyEngines.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/RegisterPressure.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"

#include "mlir/IR/Matchers.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUSTREAMPIPELINE
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// A load that may be copied to LDS.
struct AheadLoad {
  Operation *op = nullptr;
  /// The first stage that reads it.
  int useStage = 0;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(op->getResult(0).getType());
  }
  int64_t getBytes() const {
    return getType().getNumElements() * getType().getElementTypeBitWidth() / 8;
  }
};

/// The load with its first use, if that is in a later stage of the same
/// iteration.
std::optional<AheadLoad> findAheadLoad(Operation &op, scf::ForOp loop,
                                       const LoopSchedule &schedule) {
  std::optional<int> useStage;
  for (Operation *user : op.getUsers()) {
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*user);
    if (!inBody || inBody == loop.getBody()->getTerminator())
      return std::nullopt;
    int stage = schedule.get(inBody).stage;
    useStage = useStage ? std::min(*useStage, stage) : stage;
  }
  if (!useStage || *useStage <= schedule.get(&op).stage)
    return std::nullopt;
  return AheadLoad{&op, *useStage};
}

int64_t countRegisters(Value value) {
  return triton::countRegisters(cast<RankedTensorType>(value.getType()));
}

/// The first of several dots of a loop, if beside what they take and make
/// there are too few registers to hold what is loaded ahead for a whole
/// iteration. Operands that are read from LDS come in pieces and do not count.
DotOp findProductBeforeLoads(scf::ForOp loop, ArrayRef<AheadLoad> operands) {
  auto dots = llvm::to_vector(loop.getBody()->getOps<DotOp>());
  if (dots.size() < 2)
    return {};
  int64_t used = 0;
  llvm::SmallDenseSet<Value> inPieces;
  for (const AheadLoad &operand : operands) {
    used += countRegisters(operand.op->getResult(0));
    for (Operation *read : operand.op->getUsers())
      inPieces.insert(read->getResult(0));
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
    if (useAsyncCopy && model->getFacts().directLoadBytes >= amd::kDirectBytes)
      axisInfo = &ofModule.emplace(getOperation());
    // The other half is for what is converted, or copied at once.
    leftForBlocks = model->getMaxSharedMemory() / 2;
    getOperation().walk([&](LocalAllocOp alloc) {
      MemDescType type = alloc.getType();
      leftForBlocks -=
          type.getNumElements() * type.getElementTypeBitWidth() / 8;
    });
    getOperation().walk([&](scf::ForOp loop) {
      std::optional<LoopSchedule> schedule = LoopSchedule::read(loop);
      if (schedule)
        stream(loop, *schedule).write(loop);
    });
  }

private:
  LoopSchedule stream(scf::ForOp loop, const LoopSchedule &schedule) {
    SmallVector<AheadLoad> operands, blocks;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!PlannedOp(op).getLatency())
        continue;
      ++numLoads;
      auto load = findAheadLoad(op, loop, schedule);
      const CopyStrategy *engine =
          load ? CopyStrategy::find(&op, loop) : nullptr;
      if (engine == &amd::getTensorDataMover() && isRoomFor(*load, schedule))
        blocks.push_back(*load);
      else if (engine == &amd::getRegisterCopies())
        operands.push_back(*load);
      else
        PlannedOp(op).eraseLatency();
    }
    if (blocks.empty())
      if (int distance = getDirectDistance(loop, operands, schedule))
        return copyDirectly(loop, schedule, operands, distance);
    keepWhatFits(operands);
    return loadFirst(loop, schedule, operands);
  }

  /// Whether LDS has room for the buffers of a block.
  bool isRoomFor(const AheadLoad &load, const LoopSchedule &schedule) {
    int buffers = load.useStage - schedule.get(load.op).stage + 1;
    // With gaps, of up to an eighth.
    int64_t bytes = buffers * load.getBytes() * 9 / 8;
    if (bytes > leftForBlocks)
      return false;
    leftForBlocks -= bytes;
    return true;
  }

  /// Operands have a buffer each, as far as LDS goes.
  void keepWhatFits(ArrayRef<AheadLoad> operands) {
    int64_t left = model->getMaxSharedMemory();
    for (const AheadLoad &operand : operands)
      if (left >= operand.getBytes()) {
        left -= operand.getBytes();
        ++numBuffers;
      } else {
        PlannedOp(operand.op).eraseLatency();
      }
  }

  /// Early stages first: what they load has the whole body to arrive in, or
  /// what follows the first dot. A block that is not copied ahead stays in
  /// its iteration.
  LoopSchedule loadFirst(scf::ForOp loop, const LoopSchedule &schedule,
                         ArrayRef<AheadLoad> operands) {
    LoopSchedule streamed(schedule.getMaxStage());
    DotOp product = findProductBeforeLoads(loop, operands);
    int lastStage = schedule.getMaxStage(), firstCluster = product ? 1 : 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      int stage = schedule.get(&op).stage;
      if (isa<DescriptorLoadOp>(op) && !PlannedOp(op).getLatency())
        stage = lastStage;
      bool isBefore = product && stage == lastStage &&
                      (&op == product || op.isBeforeInBlock(product));
      streamed.set(&op,
                   {stage, /*cluster=*/isBefore ? 0 : stage + firstCluster});
    }
    return streamed;
  }

  bool mayLoadDirectly(const AheadLoad &operand,
                       const LoopSchedule &schedule) const {
    auto load = cast<LoadOp>(operand.op);
    int64_t bytes = operand.getType().getElementTypeBitWidth() / 8;
    int64_t run = axisInfo->getAlignment(load.getPtr());
    if (Value mask = load.getMask())
      run = std::min<int64_t>(run, axisInfo->getMaskAlignment(mask));
    return bytes && run * bytes >= amd::kDirectBytes && !isFreshRead(load) &&
           amd::getDirectCopies().isComplete(load) &&
           operand.useStage == schedule.get(load).stage + 1 &&
           operand.useStage == schedule.getMaxStage();
  }

  /// How many iterations ahead all operands are loaded straight into LDS, zero
  /// if that is not possible. It is what the stages are for, as long as LDS has
  /// a buffer for each of these iterations and one that dots read.
  int getDirectDistance(scf::ForOp loop, ArrayRef<AheadLoad> operands,
                        const LoopSchedule &schedule) const {
    if (!axisInfo || operands.empty() ||
        !llvm::all_of(operands, [&](const AheadLoad &operand) {
          return mayLoadDirectly(operand, schedule);
        }))
      return 0;
    int64_t bytes = 0;
    for (const AheadLoad &operand : operands)
      bytes += operand.getBytes();
    int stages = LoopPlan(loop).getNumStages().value_or(numStages);
    int64_t most = model->getMaxSharedMemory() / bytes - 1;
    return std::max<int64_t>(std::min<int64_t>(std::max(stages - 1, 1), most),
                             0);
  }

  /// New bodies start the copies of a later iteration, into the buffers that
  /// the iteration before has read, then read the operands, and multiply.
  LoopSchedule copyDirectly(scf::ForOp loop, const LoopSchedule &schedule,
                            ArrayRef<AheadLoad> operands, int distance) {
    enum Cluster { Copies, Reads, Rest };
    int copyStage = schedule.getMaxStage() - 1,
        lastStage = copyStage + distance;
    LoopSchedule streamed(lastStage);
    for (Operation &op : loop.getBody()->without_terminator()) {
      int stage = schedule.get(&op).stage;
      streamed.set(&op, stage <= copyStage
                            ? LoopSchedule::Place{stage, Copies}
                            : LoopSchedule::Place{lastStage, Rest});
    }
    UnitAttr unit = UnitAttr::get(&getContext());
    for (const AheadLoad &operand : operands) {
      operand.op->setAttr(amd::kDirectCopyAttrName, unit);
      for (Operation *read : operand.op->getUsers())
        streamed.set(read, {lastStage, Reads});
    }
    numCopies += operands.size();
    return streamed;
  }

  const amd::TargetModel *model = nullptr;
  /// Where loads straight into LDS are wanted.
  const ModuleAxisInfoAnalysis *axisInfo = nullptr;
  /// Bytes of LDS.
  int64_t leftForBlocks = 0;
};
} // namespace

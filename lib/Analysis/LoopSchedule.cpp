//===-- LoopSchedule.cpp - What is decided about loops
//---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/OpPartitions.h"

#include "tile/Support/AttributeNames.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::triton::gpu;

static std::optional<int> getI32(Operation *op, StringRef name) {
  if (auto attr = op->getAttrOfType<IntegerAttr>(name))
    return attr.getInt();
  return std::nullopt;
}

static void setI32Attr(Operation *op, StringRef name, int value) {
  op->setAttr(name, Builder(op->getContext()).getI32IntegerAttr(value));
}

static void setUnitAttr(Operation *op, StringRef name) {
  op->setAttr(name, UnitAttr::get(op->getContext()));
}

//===----------------------------------------------------------------------===//
// LoopPlan
//===----------------------------------------------------------------------===//

std::optional<int> LoopPlan::getNumStages() const {
  std::optional<int> stages = getI32(loop, kNumStagesAttr);
  // None under way at once is the same as one.
  return stages ? std::optional(std::max(*stages, 1)) : std::nullopt;
}
void LoopPlan::setNumStages(int numStages) {
  setI32Attr(loop, kNumStagesAttr, numStages);
}
void LoopPlan::eraseNumStages() { loop->removeAttr(kNumStagesAttr); }

std::optional<int> LoopPlan::getUnrollFactor() const {
  return getI32(loop, kUnrollFactorAttr);
}
void LoopPlan::eraseUnrollFactor() { loop->removeAttr(kUnrollFactorAttr); }

bool LoopPlan::isFlattened() const { return loop->hasAttr(kFlattenAttr); }
void LoopPlan::eraseFlattened() { loop->removeAttr(kFlattenAttr); }

bool LoopPlan::isWarpSpecialized() const {
  return loop->hasAttr(kWarpSpecializeAttr);
}
bool LoopPlan::isInWarpSpecialized() const {
  for (Operation *op = loop; op; op = op->getParentOp())
    if (LoopPlan(op).isWarpSpecialized())
      return true;
  return false;
}
void LoopPlan::setWarpSpecialized() { setUnitAttr(loop, kWarpSpecializeAttr); }
void LoopPlan::eraseWarpSpecialized() { loop->removeAttr(kWarpSpecializeAttr); }

//===----------------------------------------------------------------------===//
// PlannedOp
//===----------------------------------------------------------------------===//

std::optional<int> PlannedOp::getLatency() const {
  return getI32(op, kLatencyAttr);
}
void PlannedOp::setLatency(int latency) {
  setI32Attr(op, kLatencyAttr, latency);
}
void PlannedOp::eraseLatency() { op->removeAttr(kLatencyAttr); }

bool PlannedOp::isInPartition() const { return op->hasAttr(kPartitionAttr); }
void PlannedOp::setPartition(int partition) {
  setI32Attr(op, kPartitionAttr, partition);
}

Attribute mlir::triton::getPartitions(Operation *op) {
  return op->getAttr(kPartitionAttr);
}
void mlir::triton::setPartitions(Operation *op, Attribute partitions) {
  op->setAttr(kPartitionAttr, partitions);
}
void mlir::triton::erasePartitions(Operation *op) {
  op->removeAttr(kPartitionAttr);
}
void mlir::triton::runWith(Operation *op, Operation *other) {
  for (StringRef name : {kPartitionAttr, kStageAttr, kClusterAttr})
    if (Attribute value = other->getAttr(name))
      op->setAttr(name, value);
}

bool PlannedOp::isUnguarded() const { return op->hasAttr(kUnguardedAttr); }
void PlannedOp::setUnguarded() { setUnitAttr(op, kUnguardedAttr); }

bool PlannedOp::isSelectOfExisting() const { return op->hasAttr(kSelectAttr); }
void PlannedOp::setSelectOfExisting() { setUnitAttr(op, kSelectAttr); }
void PlannedOp::eraseSelectOfExisting() { op->removeAttr(kSelectAttr); }

//===----------------------------------------------------------------------===//
// LoopSchedule
//===----------------------------------------------------------------------===//

bool LoopSchedule::isOn(scf::ForOp loop) {
  return loop->hasAttr(kMaxStageAttr);
}

std::optional<LoopSchedule> LoopSchedule::read(scf::ForOp loop) {
  std::optional<int> maxStage = getI32(loop, kMaxStageAttr);
  if (!maxStage || *maxStage <= 0)
    return std::nullopt;
  LoopSchedule schedule(*maxStage);
  for (Operation &op : loop.getBody()->without_terminator()) {
    std::optional<int> stage = getI32(&op, kStageAttr);
    std::optional<int> cluster = getI32(&op, kClusterAttr);
    if (!stage || !cluster || *stage < 0 || *stage > *maxStage)
      return std::nullopt;
    schedule.set(&op, {*stage, *cluster});
  }
  return schedule;
}

FailureOr<LoopSchedule> LoopSchedule::require(scf::ForOp loop) {
  if (std::optional<LoopSchedule> schedule = read(loop))
    return *schedule;
  return loop.emitError("expected every operation of a loop with '")
         << kMaxStageAttr << "' to have '" << kStageAttr << "' (up to it) and '"
         << kClusterAttr << "'";
}

void LoopSchedule::write(scf::ForOp loop) const {
  setI32Attr(loop, kMaxStageAttr, maxStage);
  for (Operation &op : loop.getBody()->without_terminator()) {
    Place place = get(&op);
    setI32Attr(&op, kStageAttr, place.stage);
    setI32Attr(&op, kClusterAttr, place.cluster);
  }
}

void LoopSchedule::erase(scf::ForOp loop) {
  loop->removeAttr(kMaxStageAttr);
  for (Operation &op : loop.getBody()->without_terminator())
    for (StringRef name : {kLatencyAttr, kStageAttr, kClusterAttr})
      op.removeAttr(name);
}

std::vector<std::pair<Operation *, unsigned>>
LoopSchedule::getOrder(scf::ForOp loop) const {
  std::vector<Operation *> ops;
  for (Operation &op : loop.getBody()->without_terminator())
    ops.push_back(&op);
  llvm::sort(ops, [&](Operation *lhs, Operation *rhs) {
    int left = get(lhs).cluster, right = get(rhs).cluster;
    return left != right ? left < right : lhs->isBeforeInBlock(rhs);
  });
  std::vector<std::pair<Operation *, unsigned>> order;
  for (Operation *op : ops)
    order.emplace_back(op, get(op).stage);
  return order;
}

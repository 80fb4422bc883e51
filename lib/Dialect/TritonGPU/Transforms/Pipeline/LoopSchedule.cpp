//===-- LoopSchedule.cpp - Stages of a loop's operations ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/LoopSchedule.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::triton::gpu;

std::optional<int> mlir::triton::gpu::getI32Attr(Operation *op,
                                                 StringRef name) {
  if (auto attr = op->getAttrOfType<IntegerAttr>(name))
    return attr.getInt();
  return std::nullopt;
}

void mlir::triton::gpu::setI32Attr(Operation *op, StringRef name, int value) {
  op->setAttr(name, Builder(op->getContext()).getI32IntegerAttr(value));
}

std::optional<LoopSchedule> LoopSchedule::read(scf::ForOp loop) {
  std::optional<int> maxStage = getI32Attr(loop, kMaxStageAttr);
  if (!maxStage || *maxStage <= 0)
    return std::nullopt;
  LoopSchedule schedule(*maxStage);
  for (Operation &op : loop.getBody()->without_terminator()) {
    std::optional<int> stage = getI32Attr(&op, kStageAttr);
    std::optional<int> cluster = getI32Attr(&op, kClusterAttr);
    if (!stage || !cluster || *stage < 0 || *stage > *maxStage)
      return std::nullopt;
    schedule.set(&op, {*stage, *cluster});
  }
  return schedule;
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

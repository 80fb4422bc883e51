//===-- PartitionUses.cpp - Which partitions use a value ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PartitionUses.h"

#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/TritonGPU/IR/PartitionAttributes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

Attribute nvws::getPartitionsAround(Operation *op) {
  for (; op; op = op->getParentOp())
    if (Attribute partitions = getPartitions(op))
      return partitions;
  return {};
}

void nvws::belongTo(Operation *op, Operation *other) {
  runWith(op, other);
  Attribute tag = other->getAttr(gpu::kWarpSpecializeTagAttr);
  if (tag && !isa<LoopLikeOpInterface>(other))
    op->setAttr(gpu::kWarpSpecializeTagAttr, tag);
}

/// Who uses a value: what a loop or branch hands on is for those that are to
/// have it, whoever runs the end of it.
static Attribute getUsers(OpOperand &use) {
  Operation *user = use.getOwner();
  auto lists =
      isa<scf::YieldOp>(user) && !isa<scf::WhileOp>(user->getParentOp())
          ? user->getParentOp()->getAttrOfType<ArrayAttr>(
                gpu::kPartitionOutputsAttr)
          : ArrayAttr();
  return lists && use.getOperandNumber() < lists.size()
             ? lists[use.getOperandNumber()]
             : getPartitionsAround(user);
}

UsesOfPartitions nvws::getUsesOfPartitions(Value value) {
  UsesOfPartitions result;
  llvm::SetVector<Value> views;
  views.insert(value);
  for (size_t i = 0; i < views.size(); ++i)
    for (OpOperand &use : views[i].getUses()) {
      if (isa<ViewLikeOpInterface>(use.getOwner()))
        views.insert(use.getOwner()->getResult(0));
      else
        result[getUsers(use)].push_back(&use);
    }
  // Lists of uses are in no useful order.
  for (auto &[partitions, uses] : result)
    std::reverse(uses.begin(), uses.end());
  return result;
}

FailureOr<Span> nvws::getSpan(Block *block, Value value,
                              ArrayRef<OpOperand *> uses) {
  Span span;
  for (OpOperand *use : uses) {
    Operation *inBlock = block->findAncestorOpInBlock(*use->getOwner());
    if (!inBlock || inBlock->hasTrait<mlir::OpTrait::IsTerminator>())
      return failure();
    span.add(inBlock);
    for (Value view = use->get(); view != value;
         view = view.getDefiningOp()->getOperand(0)) {
      inBlock = block->findAncestorOpInBlock(*view.getDefiningOp());
      if (!inBlock)
        return failure();
      span.add(inBlock);
    }
  }
  return span;
}

Operation *nvws::getOutermostDivided(Operation *op) {
  Operation *outermost = op;
  for (; op; op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op))
      outermost = op;
  return outermost;
}

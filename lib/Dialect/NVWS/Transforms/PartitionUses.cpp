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

/// Who has result `number` of a loop or branch.
static Attribute getOutput(Operation *op, unsigned number) {
  auto lists = op->getAttrOfType<ArrayAttr>(gpu::kPartitionOutputsAttr);
  return lists && number < lists.size() ? lists[number] : getPartitions(op);
}

Attribute nvws::getPartitionsOf(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    return getOutput(result.getOwner(), result.getResultNumber());
  auto argument = cast<BlockArgument>(value);
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return argument == loop.getInductionVar()
               ? getPartitions(loop)
               : getOutput(loop, argument.getArgNumber() - 1);
  auto loop = dyn_cast<scf::WhileOp>(parent);
  return loop && argument.getOwner() == loop.getAfterBody()
             ? getOutput(loop, argument.getArgNumber())
             : Attribute();
}

/// Who uses argument `number` of a loop that decides at its start: those that
/// have it behind that, or all if it decides by it.
static Attribute getUsersAtStart(scf::WhileOp loop, unsigned number) {
  Attribute only;
  for (OpOperand &use : loop.getBeforeArguments()[number].getUses()) {
    bool isHandedOn =
        use.getOwner() == loop.getConditionOp() && use.getOperandNumber() > 0;
    Attribute users =
        isHandedOn ? getOutput(loop, use.getOperandNumber() - 1) : Attribute();
    if (!users || (only && only != users))
      return getPartitionsAround(loop);
    only = users;
  }
  return only ? only : getPartitionsAround(loop);
}

/// Who uses a value: what a loop or branch takes and hands on is for those that
/// are to have it, whoever runs it.
static Attribute getUsers(OpOperand &use) {
  Operation *user = use.getOwner();
  unsigned number = use.getOperandNumber();
  Operation *parent = user->getParentOp();
  bool isEnd = isa<scf::YieldOp>(user);
  if (auto loop = dyn_cast<scf::WhileOp>(isEnd ? parent : user))
    return getUsersAtStart(loop, number);
  if (auto loop = dyn_cast<scf::ForOp>(user))
    return number < loop.getNumControlOperands()
               ? getPartitionsAround(user)
               : getOutput(user, number - loop.getNumControlOperands());
  Attribute users = isEnd ? getOutput(parent, number) : Attribute();
  return users ? users : getPartitionsAround(user);
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
    if (!inBlock)
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

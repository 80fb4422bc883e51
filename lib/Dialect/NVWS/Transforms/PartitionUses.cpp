//===-- PartitionUses.cpp - Which partitions use a value ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PartitionUses.h"

#include "tile/Analysis/OpPartitions.h"

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

UsesOfPartitions nvws::getUsesOfPartitions(Value value) {
  UsesOfPartitions result;
  llvm::SetVector<Value> views;
  views.insert(value);
  for (size_t i = 0; i < views.size(); ++i)
    for (OpOperand &use : views[i].getUses()) {
      if (isa<ViewLikeOpInterface>(use.getOwner()))
        views.insert(use.getOwner()->getResult(0));
      else
        result[getPartitionsAround(use.getOwner())].push_back(&use);
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

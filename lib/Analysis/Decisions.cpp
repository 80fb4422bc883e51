//===-- Decisions.cpp - What decides branches and addresses ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/Decisions.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Dialect/Debug/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton;

using Values = llvm::SetVector<Value>;

/// Adds what decides where `op` goes, or which memory it accesses.
static void addDecisions(Operation *op, Values &values) {
  if (isa<scf::IfOp, scf::IndexSwitchOp, scf::ConditionOp, cf::CondBranchOp,
          cf::SwitchOp>(op)) {
    values.insert(op->getOperand(0));
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    values.insert_range(
        ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    return;
  }
  // What is stored or printed decides nothing.
  if (isa<LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp>(op)) {
    values.insert(op->getOperand(0));
    return;
  }
  // Nor does what a debugger shows.
  if (isa<RegionBranchOpInterface, PrintOp, debug::ValueOp>(op) ||
      isMemoryEffectFree(op))
    return;
  for (Value operand : op->getOperands()) {
    Type type = operand.getType();
    // Coordinates of descriptors and of buffers, too.
    if (isa<PointerType>(getElementTypeOrSelf(type)) || type.isInteger(32))
      values.insert(operand);
  }
}

/// Adds what a value is computed from. What decides whether it is that is a
/// decision of its own.
static void addOrigins(Value value, Values &values) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op =
      argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    RegionBranchInverseSuccessorMapping handedOver;
    branch.getSuccessorInputOperandMapping(handedOver);
    for (OpOperand *operand : handedOver.lookup(value))
      values.insert(operand->get());
    return;
  }
  if (argument)
    return;
  if (isa<ReduceOp>(op)) {
    // Threads that have copies of all elements have results of their own.
    for (Value operand : op->getOperands())
      if (repeatsAcrossThreads(cast<RankedTensorType>(operand.getType())))
        values.insert(operand);
  } else if (op->getNumRegions() == 0 && isMemoryEffectFree(op)) {
    values.insert_range(op->getOperands());
  }
}

bool triton::isLoadedOnce(LoadOp load) {
  return isFreshRead(load) || load->hasAttr(kLoadedOnceAttrName);
}

Values triton::findDecidingValues(Operation *root) {
  Values values;
  root->walk([&](Operation *op) { addDecisions(op, values); });
  // The set grows while it is read.
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    addOrigins(value, values);
  }
  return values;
}

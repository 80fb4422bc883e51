//===-- ForwardedValues.cpp - Values that are others again ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/ForwardedValues.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::triton;

static void
forEachForwardedByRegions(RegionBranchOpInterface op,
                          function_ref<void(ValueRange, ValueRange)> pass) {
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (RegionSuccessor &successor : successors)
    pass(op.getEntrySuccessorOperands(successor),
         successor.getSuccessorInputs());
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (block.empty())
        continue;
      auto terminator =
          dyn_cast<RegionBranchTerminatorOpInterface>(block.back());
      if (!terminator)
        continue;
      SmallVector<RegionSuccessor> next;
      op.getSuccessorRegions(terminator, next);
      for (RegionSuccessor &successor : next)
        pass(terminator.getSuccessorOperands(successor),
             successor.getSuccessorInputs());
    }
}

void triton::forEachForwarded(Operation *op,
                              function_ref<void(ValueRange, ValueRange)> pass) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    pass(select.getTrueValue(), op->getResults());
    pass(select.getFalseValue(), op->getResults());
  }
  if (auto branch = dyn_cast<BranchOpInterface>(op))
    for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i) {
      SuccessorOperands operands = branch.getSuccessorOperands(i);
      pass(operands.getForwardedOperands(),
           op->getSuccessor(i)->getArguments().drop_front(
               operands.getProducedOperandCount()));
    }
  if (auto region = dyn_cast<RegionBranchOpInterface>(op))
    forEachForwardedByRegions(region, pass);
  // Partitions do not see values of their surroundings: captures come in as
  // arguments.
  if (auto specialize = dyn_cast<gpu::WarpSpecializeOp>(op))
    for (Region &partition : specialize.getPartitionRegions())
      pass(specialize.getExplicitCaptures(), partition.getArguments());
}

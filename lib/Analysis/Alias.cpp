//===-- Alias.cpp - Which buffers a memory descriptor may be --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/Alias.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
bool isMemDesc(Value value) { return isa<gpu::MemDescType>(value.getType()); }

/// Calls `edge(from, to)` for every way a memdesc passes from value to value.
void forEachEdge(Operation *root, function_ref<void(Value, Value)> edge) {
  auto pass = [&](ValueRange from, ValueRange to) {
    for (auto [f, t] : llvm::zip(from, to))
      if (isMemDesc(t) && isMemDesc(f))
        edge(f, t);
  };
  root->walk([&](Operation *op) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
      pass(view.getViewSource(), op->getResults());
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      pass(select.getTrueValue(), op->getResults());
      pass(select.getFalseValue(), op->getResults());
    } else if (isa<MatrixProductWaitOpInterface>(op)) {
      // Hands its operands on.
      pass(op->getOperands(), op->getResults());
    }
    if (auto branch = dyn_cast<BranchOpInterface>(op))
      for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i) {
        SuccessorOperands operands = branch.getSuccessorOperands(i);
        pass(operands.getForwardedOperands(),
             op->getSuccessor(i)->getArguments().drop_front(
                 operands.getProducedOperandCount()));
      }
    if (auto region = dyn_cast<RegionBranchOpInterface>(op)) {
      SmallVector<RegionSuccessor> successors;
      region.getSuccessorRegions(RegionBranchPoint::parent(), successors);
      for (RegionSuccessor &successor : successors)
        pass(region.getEntrySuccessorOperands(successor),
             successor.getSuccessorInputs());
      for (Region &body : op->getRegions())
        for (Block &block : body) {
          if (block.empty())
            continue;
          auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(
              block.getTerminator());
          if (!terminator)
            continue;
          SmallVector<RegionSuccessor> next;
          region.getSuccessorRegions(terminator, next);
          for (RegionSuccessor &successor : next)
            pass(terminator.getSuccessorOperands(successor),
                 successor.getSuccessorInputs());
        }
    }
    // Partitions do not see values of their surroundings: captures come in as
    // arguments.
    if (auto specialize = dyn_cast<gpu::WarpSpecializeOp>(op))
      for (Region &partition : specialize.getPartitionRegions())
        pass(specialize.getExplicitCaptures(), partition.getArguments());
  });
}
} // namespace

SharedMemoryAliasAnalysis::SharedMemoryAliasAnalysis(Operation *function) {
  llvm::DenseMap<Value, SmallVector<Value>> users;
  SmallVector<Value> worklist;
  auto addRoot = [&](Value value) {
    rootsOf[value].insert(value);
    worklist.push_back(value);
  };
  if (auto funcOp = dyn_cast<FunctionOpInterface>(function))
    for (BlockArgument argument : funcOp.getArguments())
      if (isMemDesc(argument))
        addRoot(argument);
  function->walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isMemDesc(result) &&
          !isa<ViewLikeOpInterface, arith::SelectOp, BranchOpInterface,
               RegionBranchOpInterface, MatrixProductWaitOpInterface>(op))
        addRoot(result);
  });
  forEachEdge(function,
              [&](Value from, Value to) { users[from].push_back(to); });

  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Roots roots = rootsOf[value];
    for (Value user : users[value]) {
      Roots &into = rootsOf[user];
      size_t before = into.size();
      into.insert(roots.begin(), roots.end());
      if (into.size() != before)
        worklist.push_back(user);
    }
  }
}

const SharedMemoryAliasAnalysis::Roots &
SharedMemoryAliasAnalysis::getRoots(Value memdesc) const {
  auto it = rootsOf.find(memdesc);
  return it == rootsOf.end() ? none : it->second;
}

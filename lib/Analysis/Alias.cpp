//===-- Alias.cpp - Which buffers a memory descriptor may be --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/Alias.h"
#include "tile/Analysis/ForwardedValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
bool isMemDesc(Value value) { return isa<gpu::MemDescType>(value.getType()); }

/// The memdescs among the arguments of `call` that `result` may be a view of. A
/// function returns parts of its own arguments alone, and which ones is not
/// looked up: other threads may be changing it.
SmallVector<Value> getViewedArguments(CallOpInterface call, Value result) {
  SmallVector<Value> arguments;
  auto type = dyn_cast<gpu::MemDescType>(result.getType());
  for (Value argument : call.getArgOperands())
    if (auto of = dyn_cast<gpu::MemDescType>(argument.getType());
        type && of && of.getMemorySpace() == type.getMemorySpace())
      arguments.push_back(argument);
  return arguments;
}

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
    } else if (isa<MatrixProductWaitOpInterface>(op)) {
      // Hands its operands on.
      pass(op->getOperands(), op->getResults());
    } else if (auto call = dyn_cast<CallOpInterface>(op)) {
      for (Value result : op->getResults())
        for (Value argument : getViewedArguments(call, result))
          edge(argument, result);
    }
    forEachForwarded(op, pass);
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
    auto call = dyn_cast<CallOpInterface>(op);
    for (Value result : op->getResults())
      if (isMemDesc(result) &&
          !(call && !getViewedArguments(call, result).empty()) &&
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

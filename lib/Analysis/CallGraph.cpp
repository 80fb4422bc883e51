//===-- CallGraph.cpp - Who calls whom ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/CallGraph.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;

ModuleCallGraph::ModuleCallGraph(ModuleOp module) {
  SymbolTableCollection symbols;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.isExternal())
      continue;
    llvm::SetVector<Operation *> found;
    function->walk([&](CallOpInterface call) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(
          call.resolveCallableInTable(&symbols));
      if (callee && !callee.isExternal())
        found.insert(callee);
    });
    for (Operation *callee : found) {
      callees[function].push_back(cast<FunctionOpInterface>(callee));
      if (callee != function)
        called.insert(callee);
    }
  }
  llvm::DenseSet<Operation *> visited;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!function.isExternal())
      visit(function, visited);
}

void ModuleCallGraph::visit(FunctionOpInterface function,
                            llvm::DenseSet<Operation *> &visited) {
  if (!visited.insert(function).second)
    return;
  for (FunctionOpInterface callee : getCallees(function))
    visit(callee, visited);
  order.push_back(function);
}

ArrayRef<FunctionOpInterface>
ModuleCallGraph::getCallees(FunctionOpInterface function) const {
  auto it = callees.find(function);
  if (it == callees.end())
    return {};
  return it->second;
}

bool ModuleCallGraph::isRecursive(FunctionOpInterface function) const {
  llvm::SetVector<Operation *> reached;
  auto addCallees = [&](FunctionOpInterface caller) {
    for (FunctionOpInterface callee : getCallees(caller))
      reached.insert(callee);
  };
  addCallees(function);
  for (size_t i = 0; i < reached.size(); ++i)
    addCallees(cast<FunctionOpInterface>(reached[i]));
  return reached.contains(function);
}

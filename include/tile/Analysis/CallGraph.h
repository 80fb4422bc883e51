//===-- CallGraph.h - Who calls whom ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_ANALYSIS_CALLGRAPH_H
#define TILE_ANALYSIS_CALLGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::triton {

/// The functions of a module and the calls between them. Memory that belongs to
/// a function is a part of that of its callers, so analyses of memory go from
/// callees to callers.
class ModuleCallGraph {
public:
  explicit ModuleCallGraph(ModuleOp module);

  /// The functions that have a body, callees before callers. On a cycle, which
  /// has no such order, they come in the order in which a search ends there.
  ArrayRef<FunctionOpInterface> getFunctions() const { return order; }
  /// The functions with a body that a function calls, each once.
  ArrayRef<FunctionOpInterface> getCallees(FunctionOpInterface function) const;
  /// True if a function calls itself, be it through others.
  bool isRecursive(FunctionOpInterface function) const;
  /// True if no other function calls it.
  bool isRoot(FunctionOpInterface function) const {
    return !called.contains(function);
  }

private:
  void visit(FunctionOpInterface function,
             llvm::DenseSet<Operation *> &visited);

  SmallVector<FunctionOpInterface> order;
  llvm::DenseMap<Operation *, SmallVector<FunctionOpInterface>> callees;
  llvm::DenseSet<Operation *> called;
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_CALLGRAPH_H

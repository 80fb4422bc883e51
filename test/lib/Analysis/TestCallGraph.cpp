//===-- TestCallGraph.cpp - Print who calls whom --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestPasses.h"

#include "tile/Analysis/CallGraph.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::triton;

namespace {

/// "order = 1, calls = [a, b]", and "root" or "recursive", for each function.
struct TestCallGraph : PassWrapper<TestCallGraph, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestCallGraph)

  StringRef getArgument() const final { return "test-print-call-graph"; }
  StringRef getDescription() const final {
    return "Print the place of every function among callers and callees as a "
           "remark";
  }

  void runOnOperation() override {
    ModuleCallGraph graph(getOperation());
    for (auto [i, function] : llvm::enumerate(graph.getFunctions())) {
      InFlightDiagnostic remark = emitRemark(function->getLoc());
      remark << "order = " << i << ", calls = [";
      llvm::interleave(
          graph.getCallees(function),
          [&](FunctionOpInterface callee) { remark << callee.getName(); },
          [&] { remark << ", "; });
      remark << "]";
      if (graph.isRoot(function))
        remark << ", root";
      if (graph.isRecursive(function))
        remark << ", recursive";
    }
  }
};

} // namespace

void mlir::triton::test::registerTestCallGraphPass() {
  PassRegistration<TestCallGraph>();
}

//===-- TestAxisInfo.cpp - Print axis info as remarks ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestPasses.h"

#include "tile/Analysis/AxisInfo.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include <string>

using namespace mlir;
using namespace mlir::triton;

namespace {

/// One remark per result of each operation in a function; values that are never
/// computed have none.
struct TestAxisInfo : PassWrapper<TestAxisInfo, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestAxisInfo)

  StringRef getArgument() const final { return "test-print-alignment"; }
  StringRef getDescription() const final {
    return "Print the axis info of every result as a remark";
  }

  void runOnOperation() override {
    ModuleAxisInfoAnalysis analysis(getOperation());
    getOperation().walk([&](FunctionOpInterface func) {
      func.walk([&](Operation *op) {
        for (Value result : op->getResults()) {
          const AxisInfo *info = analysis.getAxisInfo(result);
          if (!info)
            continue;
          std::string text;
          llvm::raw_string_ostream os(text);
          info->print(os);
          emitRemark(op->getLoc(), text);
        }
      });
    });
  }
};

} // namespace

void mlir::triton::test::registerTestAxisInfoPass() {
  PassRegistration<TestAxisInfo>();
}

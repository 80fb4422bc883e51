//===-- FailOnErrorsTest.cpp - Passes that report errors fail -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/FailOnErrors.h"
#include "tile/Pipeline/VerifyChanges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <functional>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::triton;

namespace {

/// Reports what it is told to, and says nothing of success.
template <typename OpT>
struct Reports : PassWrapper<Reports<OpT>, OperationPass<OpT>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Reports)
  std::function<void(Operation *)> report;
  explicit Reports(std::function<void(Operation *)> report)
      : report(std::move(report)) {}
  void runOnOperation() override { report(this->getOperation()); }
};

/// How a context is prepared, and whether it has threads.
using Preparation = std::pair<void (*)(MLIRContext &), bool>;

struct FailOnErrors : testing::TestWithParam<Preparation> {
  MLIRContext context{GetParam().second ? MLIRContext::Threading::ENABLED
                                        : MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  unsigned seen = 0;

  FailOnErrors() {
    context.loadDialect<func::FuncDialect>();
    GetParam().first(context);
    module = parseSourceString<ModuleOp>("func.func private @f()\n"
                                         "func.func private @g()\n"
                                         "func.func private @h()\n",
                                         &context);
    EXPECT_TRUE(module);
  }

  LogicalResult run(std::function<void(Operation *)> report, bool nested) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &) {
      ++seen;
      return success();
    });
    PassManager passes(&context);
    passes.enableVerifier(false);
    if (nested)
      passes.addNestedPass<func::FuncOp>(
          std::make_unique<Reports<func::FuncOp>>(report));
    else
      passes.addPass(std::make_unique<Reports<ModuleOp>>(report));
    return passes.run(*module);
  }
};

TEST_P(FailOnErrors, AnErrorFailsThePass) {
  auto error = [](Operation *op) { op->emitError("wrong"); };
  for (bool nested : {false, true}) {
    seen = 0;
    EXPECT_TRUE(failed(run(error, nested)));
    EXPECT_GE(seen, 1u) << "it is shown, too";
  }
}

TEST_P(FailOnErrors, OneOfManyFunctions) {
  EXPECT_TRUE(failed(run(
      [](Operation *op) {
        if (cast<func::FuncOp>(op).getName() == "g")
          op->emitError("wrong");
      },
      /*nested=*/true)));
}

TEST_P(FailOnErrors, OtherReportsDoNot) {
  auto others = [](Operation *op) {
    op->emitWarning("strange");
    op->emitRemark("slow");
  };
  for (bool nested : {false, true})
    EXPECT_TRUE(succeeded(run(others, nested)));
  EXPECT_EQ(seen, 8u);
}

TEST_P(FailOnErrors, ErrorsThatSomebodyTookDoNot) {
  // To try something, say.
  auto tries = [](Operation *op) {
    ScopedDiagnosticHandler handler(op->getContext(),
                                    [](Diagnostic &) { return success(); });
    op->emitError("not this way");
  };
  EXPECT_TRUE(succeeded(run(tries, /*nested=*/false)));
  EXPECT_EQ(seen, 0u);
}

TEST_P(FailOnErrors, ErrorsBesidePassesDoNot) {
  auto none = [](Operation *) {};
  EXPECT_TRUE(succeeded(run(none, false)));
  {
    ScopedDiagnosticHandler handler(&context,
                                    [](Diagnostic &) { return success(); });
    module->emitError("before");
  }
  EXPECT_TRUE(succeeded(run(none, false)));
}

INSTANTIATE_TEST_SUITE_P(Contexts, FailOnErrors,
                         testing::Values(Preparation{failOnErrors, false},
                                         Preparation{failOnErrors, true},
                                         Preparation{verifyOnlyChanges, false}),
                         [](const auto &info) {
                           return "Way" + std::to_string(info.index);
                         });

} // namespace

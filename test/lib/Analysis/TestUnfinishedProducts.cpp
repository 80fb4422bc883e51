//===-- TestUnfinishedProducts.cpp - Verify sums that are not there yet ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestPasses.h"

#include "tile/Analysis/UnfinishedProducts.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::triton;

namespace {

struct TestUnfinishedProducts
    : PassWrapper<TestUnfinishedProducts, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestUnfinishedProducts)

  TestUnfinishedProducts() = default;
  TestUnfinishedProducts(const TestUnfinishedProducts &other)
      : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-unfinished-products"; }
  StringRef getDescription() const final {
    return "Verify that nothing reads the sum of a product that may still run";
  }

  void runOnOperation() override {
    if (failed(verifyUnfinishedProducts(
            getOperation(), betweenPasses ? Selects::Forward : Selects::Read)))
      signalPassFailure();
  }

  Option<bool> betweenPasses{*this, "between-passes",
                             llvm::cl::desc("Selects may forward sums"),
                             llvm::cl::init(false)};
};

} // namespace

void mlir::triton::test::registerTestUnfinishedProductsPass() {
  PassRegistration<TestUnfinishedProducts>();
}

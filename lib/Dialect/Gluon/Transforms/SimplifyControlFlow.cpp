//===-- SimplifyControlFlow.cpp - Branches and loops, nothing else --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Gluon/Transforms/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::triton::gluon {
#define GEN_PASS_DEF_GLUONSIMPLIFYCONTROLFLOW
#include "tile/Dialect/Gluon/Transforms/Passes.h.inc"
} // namespace mlir::triton::gluon

using namespace mlir;
using namespace mlir::triton;

namespace {
struct SimplifyControlFlow
    : gluon::impl::GluonSimplifyControlFlowBase<SimplifyControlFlow> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (StringRef space = name.getDialectNamespace();
          space == scf::SCFDialect::getDialectNamespace() ||
          space == cf::ControlFlowDialect::getDialectNamespace())
        name.getCanonicalizationPatterns(set, context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    // Nothing else: constants may have open layouts of their own.
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};
} // namespace

std::unique_ptr<Pass> gluon::createGluonInline() {
  return createInlinerPass(/*opPipelines=*/{}, [](OpPassManager &pm) {
    pm.addPass(createGluonSimplifyControlFlow());
  });
}

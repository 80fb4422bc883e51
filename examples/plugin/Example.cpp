//===-- Example.cpp - A plugin with a dialect and two passes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#include "ExampleDialect.h.inc"
#define GET_OP_CLASSES
#include "ExampleOps.h.inc"

#include "ExampleDialect.cpp.inc"
#define GET_OP_CLASSES
#include "ExampleOps.cpp.inc"

using namespace mlir;

void example::ExampleDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ExampleOps.cpp.inc"
      >();
}

namespace {
/// `example.square` becomes a multiplication.
struct LowerSquare : OpRewritePattern<example::SquareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(example::SquareOp op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    Value x = op.getX();
    if (isa<FloatType>(element))
      rewriter.replaceOpWithNewOp<arith::MulFOp>(op, x, x);
    else if (isa<IntegerType>(element))
      rewriter.replaceOpWithNewOp<arith::MulIOp>(op, x, x);
    else
      return op.emitError("squares numbers, not ") << element;
    return success();
  }
};

struct LowerPass : PassWrapper<LowerPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerPass)
  StringRef getArgument() const final { return "example-lower"; }
  StringRef getDescription() const final { return "example to arith"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect>();
  }
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerSquare>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

/// Counts what kernels read and write: tile's own operations are known here.
struct CountAccesses : PassWrapper<CountAccesses, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountAccesses)
  StringRef getArgument() const final { return "example-count-accesses"; }
  StringRef getDescription() const final { return "Count loads and stores"; }
  void runOnOperation() final {
    int64_t loads = 0, stores = 0;
    getOperation().walk([&](Operation *op) {
      loads += isa<triton::LoadOp>(op);
      stores += isa<triton::StoreOp>(op);
    });
    Builder b(&getContext());
    getOperation()->setAttr("example.loads", b.getI64IntegerAttr(loads));
    getOperation()->setAttr("example.stores", b.getI64IntegerAttr(stores));
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "tile-example", "1", [] {
            PassRegistration<LowerPass>();
            PassRegistration<CountAccesses>();
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "tile-example", "1",
          [](DialectRegistry *registry) {
            registry->insert<example::ExampleDialect>();
          }};
}

//===-- DebugOps.cpp - Assertions and prints ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/PatternMatch.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// AssertOp
//===----------------------------------------------------------------------===//

// What stops the kernel is observable, like a write.
void AssertOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

namespace {

struct AssertOfTrue : public OpRewritePattern<AssertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AssertOp op,
                                PatternRewriter &rewriter) const override {
    if (!isConstantOne(op.getCondition()))
      return rewriter.notifyMatchFailure(op, "condition is not known to hold");
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void AssertOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<AssertOfTrue>(context);
}

//===----------------------------------------------------------------------===//
// PrintOp
//===----------------------------------------------------------------------===//

void PrintOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

LogicalResult PrintOp::verify() {
  if (getArgs().size() != getIsSigned().size())
    return emitOpError("expected ")
           << getArgs().size()
           << " entries in isSigned, one per operand, found "
           << getIsSigned().size();
  return success();
}

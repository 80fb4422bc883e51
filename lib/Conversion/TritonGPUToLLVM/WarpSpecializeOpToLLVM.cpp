//===-- WarpSpecializeOpToLLVM.cpp - Types of warp specialisation ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operation keeps its regions, because what is in them is lowered for the
// warps that run it. A later pass of the backend makes control flow of it.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

namespace {
struct WarpSpecializePattern : TargetPattern<ttg::WarpSpecializeOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttg::WarpSpecializeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    for (Type type : op.getOperandTypes())
      if (isa<RankedTensorType>(type))
        return decline(op, "captures a tensor, whose elements are in the "
                           "registers of other warps: put it into shared "
                           "memory and capture that");
    SmallVector<Type> results;
    if (failed(getConverter().convertTypes(op.getResultTypes(), results)))
      return decline(op, "result has no LLVM type");
    OperationState state(op.getLoc(), op->getName());
    state.addOperands(adaptor.getExplicitCaptures());
    state.addTypes(results);
    state.addAttributes(op->getAttrs());
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    auto converted = cast<ttg::WarpSpecializeOp>(rewriter.create(state));
    // What the rewriter does not see move it cannot take back, where another
    // operation is refused.
    for (auto [from, to] : llvm::zip(op->getRegions(), converted->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    for (Region &partition : converted.getPartitionRegions())
      if (failed(rewriter.convertRegionTypes(&partition, getConverter())))
        return decline(op, "argument of a partition has no LLVM type");
    rewriter.replaceOp(op, converted.getResults());
    return success();
  }
};

struct WarpYieldPattern : TargetPattern<ttg::WarpYieldOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttg::WarpYieldOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(adaptor.getValues()); });
    return success();
  }
};
} // namespace

void triton::populateWarpSpecializePatterns(const LoweringContext &context) {
  context.add<WarpSpecializePattern, WarpYieldPattern>();
}

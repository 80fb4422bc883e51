//===-- ConvertLayoutOpToLLVM.cpp - Moving tensors between layouts --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Analysis/ConvertLayoutPlan.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-triton-gpu-to-llvm"

using namespace mlir;
using namespace mlir::triton;

namespace {
struct ConvertLayoutPattern : TargetPattern<gpu::ConvertLayoutOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(gpu::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    auto resultType = cast<RankedTensorType>(op.getType());
    ConvertLayoutPlan plan(sourceType, resultType);
    SmallVector<Value> values =
        unpackElements(b, adaptor.getSrc(), sourceType);
    SmallVector<Value> results;
    if (plan.route == ConvertLayoutPlan::Route::Registers) {
      for (int32_t r : plan.registerSources)
        results.push_back(values[r]);
    } else {
      if (!op->hasAttr("allocation.offset"))
        return rewriter.notifyMatchFailure(op, "no scratch memory allocated");
      results = throughSharedMemory(b, op, plan, values);
    }
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, resultType));
    return success();
  }

private:
  SmallVector<Value> throughSharedMemory(const LLVMBuilder &b,
                                         gpu::ConvertLayoutOp op,
                                         const ConvertLayoutPlan &plan,
                                         ArrayRef<Value> values) const {
    ThreadIndex index = getThreadIndex(b, target, op);
    Value base = getScratchBase(b, target, op);
    Type element = values.front().getType();
    auto offsets = [&](const LinearLayout &layout) {
      return layout.invertAndCompose(plan.shared);
    };
    SharedAccess write{target, offsets(plan.source), base, element};
    write.store(b, index, values);
    if (gpu::lookupNumWarps(op) == 1)
      target.warpBarrier(b);
    else
      target.barrier(b);
    SharedAccess read{target, offsets(plan.result), base, element};
    return read.load(b, index);
  }
};
} // namespace

void triton::populateConvertLayoutPatterns(const LoweringContext &context) {
  context.add<ConvertLayoutPattern>();
}

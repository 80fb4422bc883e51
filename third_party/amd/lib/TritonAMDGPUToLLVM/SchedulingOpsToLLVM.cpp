//===-- SchedulingOpsToLLVM.cpp - Who comes to a barrier
//-------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amdgpu;

namespace {
struct CondBarrierPattern : TargetPattern<CondBarrierOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(CondBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    // A branch on a scalar: the machine executes s_barrier without lanes, too.
    Value word = b.intrinsic(b.intTy(32), "llvm.amdgcn.readfirstlane",
                             b.zext(b.intTy(32), adaptor.getPred()));
    underPredicate(b, b.ne(word, b.i32(0)),
                   [&] { b.intrinsic({}, "llvm.amdgcn.s.barrier", {}); });
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void amd::populateSchedulingPatterns(const LoweringContext &context) {
  context.add<CondBarrierPattern>();
}

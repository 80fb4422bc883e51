//===-- HistogramOpToLLVM.cpp - Counting values ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bins in shared memory: cleared, counted into with atomic additions, read.
// Values outside the bins are not counted.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
struct HistogramPattern : TargetPattern<HistogramOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(HistogramOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr(kAllocationOffsetAttrName))
      return this->decline(op, "no scratch memory allocated");
    if (gpu::lookupNumCTAs(op) > 1)
      return this->decline(op, "not across blocks of a cluster");
    LLVMBuilder b(op.getLoc(), rewriter);
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    auto resultType = cast<RankedTensorType>(op.getType());
    Type i32 = b.intTy(32);
    Value base = getScratchBase(b, target, op);
    ThreadIndex index = getThreadIndex(b, target, op);
    int64_t bins = resultType.getNumElements();
    int64_t threads = gpu::lookupNumWarps(op) * index.threadsPerWarp;

    for (int64_t start = 0; start < bins; start += threads) {
      Value bin = b.add(index.thread, b.i32(start));
      Value pred = start + threads > bins ? b.ult(bin, b.i32(bins)) : Value();
      target.storeShared(b, b.gep(base, i32, bin), {b.i32(0)}, pred);
    }
    blockBarrier(b, op);

    SmallVector<Value> values = unpackElements(b, adaptor.getSrc(), sourceType);
    SmallVector<Value> masks;
    if (op.getMask())
      masks = unpackElements(b, adaptor.getMask(), op.getMask().getType());
    LinearLayout source = toLinearLayout(sourceType);
    Value owner = emitUniqueThreadPredicate(b, source, index);
    int32_t repeated = source.getFreeVariableMask(kRegister);
    for (auto [r, value] : llvm::enumerate(values)) {
      if (r & repeated)
        continue;
      unsigned bits = value.getType().getIntOrFloatBitWidth();
      Value inRange = bits < 63 && (int64_t(1) << bits) <= bins
                          ? Value()
                          : b.ult(value, b.intVal(bits, bins));
      Value bin = bits > 32   ? b.trunc(i32, value)
                  : bits < 32 ? b.zext(i32, value)
                              : value;
      Value pred = b.andPred(b.andPred(inRange, owner),
                             masks.empty() ? Value() : masks[r]);
      target.atomicAddShared(b, b.gep(base, i32, bin), b.i32(1), pred);
    }
    blockBarrier(b, op);

    LinearLayout result =
        toLinearLayout(resultType).renameOutDim(kDim(0), kOffset);
    SmallVector<Value> counts =
        SharedAccess{target, result, base, i32}.load(b, index);
    Type element = getConverter().convertType(resultType.getElementType());
    for (Value &count : counts)
      count = element.getIntOrFloatBitWidth() > 32 ? b.zext(element, count)
                                                   : b.trunc(element, count);
    rewriter.replaceOp(op, packElements(b, getConverter(), counts, resultType));
    return success();
  }
};
} // namespace

void triton::populateHistogramPatterns(const LoweringContext &context) {
  context.add<HistogramPattern>();
}

//===-- GatherOpToLLVM.cpp - Elements selected by index -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source goes to shared memory, row-major, and every thread picks what its
// indices name.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
struct GatherPattern : TargetPattern<GatherOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr("allocation.offset"))
      return this->decline(op, "no scratch memory allocated");
    if (gpu::lookupNumCTAs(op) > 1)
      return this->decline(op, "not across blocks of a cluster");
    LLVMBuilder b(op.getLoc(), rewriter);
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    auto indexType = cast<RankedTensorType>(op.getIndices().getType());
    SmallVector<Value> values = unpackElements(b, adaptor.getSrc(), sourceType);
    SmallVector<Value> indices =
        unpackElements(b, adaptor.getIndices(), indexType);

    LinearLayout source = toLinearLayout(sourceType);
    SmallVector<StringRef> dims = standardOutDimNames(sourceType.getRank());
    std::reverse(dims.begin(), dims.end());
    LinearLayout rowMajor = source.transposeOuts(dims).reshapeOuts(
        {{kOffset, static_cast<int32_t>(sourceType.getNumElements())}});
    Value base = getScratchBase(b, target, op);
    Type element = values[0].getType();
    SharedAccess{target, rowMajor, base, element}.store(
        b, getThreadIndex(b, target, op), values);
    if (gpu::lookupNumWarps(op) == 1)
      target.warpBarrier(b);
    else
      target.barrier(b);

    SmallVector<Value> results;
    Type memElement = getSharedElementType(element);
    for (auto [coords, index] : llvm::zip(
             emitIndices(b, target, op, toLinearLayout(indexType)), indices)) {
      Type type = index.getType();
      unsigned bits = type.getIntOrFloatBitWidth();
      Value at = bits > 32   ? b.trunc(b.intTy(32), index)
                 : bits < 32 ? b.zext(b.intTy(32), index)
                             : index;
      Value flat;
      for (auto [d, size] : llvm::enumerate(sourceType.getShape())) {
        Value coord = d == op.getAxis() ? at : coords[d];
        flat = flat ? b.add(b.mul(flat, b.i32(size)), coord) : coord;
      }
      Value loaded = target.loadShared(b, b.gep(base, memElement, flat),
                                       memElement, 1, Value())[0];
      results.push_back(fromSharedElement(b, loaded, element));
    }
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, op.getType()));
    return success();
  }
};
} // namespace

void triton::populateGatherPatterns(const LoweringContext &context) {
  context.add<GatherPattern>();
}

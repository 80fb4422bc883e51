//===-- MemDescOpToLLVM.cpp - Views of buffers ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Analysis/Allocation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
struct IndexPattern : TargetPattern<gpu::MemDescIndexOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::MemDescIndexOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto type = cast<gpu::MemDescType>(op.getSrc().getType());
    MemDesc desc = MemDesc::unpack(b, adaptor.getSrc(), type);
    Value bytes = b.mul(b.add(desc.offsets.front(), adaptor.getIndex()),
                        b.i32(getBufferSize(op.getResult())));
    MemDesc view{b.gep(desc.base, b.intTy(8), bytes), {}};
    view.offsets.assign(desc.offsets.begin() + 1, desc.offsets.end());
    rewriter.replaceOp(op, view.pack(b));
    return success();
  }
};

struct SubslicePattern : TargetPattern<gpu::MemDescSubsliceOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::MemDescSubsliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto type = cast<gpu::MemDescType>(op.getSrc().getType());
    MemDesc desc = MemDesc::unpack(b, adaptor.getSrc(), type);
    for (auto [offset, more] : llvm::zip(desc.offsets, op.getOffsets()))
      if (more)
        offset = b.add(offset, b.i32(more));
    rewriter.replaceOp(op, desc.pack(b));
    return success();
  }
};

struct TransPattern : TargetPattern<gpu::MemDescTransOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::MemDescTransOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto type = cast<gpu::MemDescType>(op.getSrc().getType());
    MemDesc desc = MemDesc::unpack(b, adaptor.getSrc(), type);
    MemDesc view{desc.base, {}};
    for (int32_t dim : op.getOrder())
      view.offsets.push_back(desc.offsets[dim]);
    rewriter.replaceOp(op, view.pack(b));
    return success();
  }
};

struct ReshapePattern : TargetPattern<gpu::MemDescReshapeOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::MemDescReshapeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto type = cast<gpu::MemDescType>(op.getSrc().getType());
    auto resultType = cast<gpu::MemDescType>(op.getType());
    MemDesc desc = MemDesc::unpack(b, adaptor.getSrc(), type);
    // Row-major number of the view's origin, split again by the new shape.
    Value flat = b.i32(0);
    for (auto [offset, size] : llvm::zip(desc.offsets, type.getAllocShape()))
      flat = b.add(b.mul(flat, b.i32(size)), offset);
    MemDesc view{desc.base, {}};
    view.offsets.resize(resultType.getShape().size());
    for (int i = view.offsets.size() - 1; i >= 0; --i) {
      int64_t size = resultType.getAllocShape()[i];
      view.offsets[i] = b.and_(flat, b.i32(size - 1));
      flat = b.lshr(flat, b.i32(llvm::Log2_64(size)));
    }
    rewriter.replaceOp(op, view.pack(b));
    return success();
  }
};

struct ReinterpretPattern : TargetPattern<gpu::MemDescReinterpretOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::MemDescReinterpretOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto type = cast<gpu::MemDescType>(op.getSrc().getType());
    MemDesc desc = MemDesc::unpack(b, adaptor.getSrc(), type);
    // The origin becomes the base: the new type knows nothing of the old one.
    MemDesc view{desc.base, {}};
    unsigned zeroBits;
    if (Value offset = emitViewOffset(b, desc, type, zeroBits))
      view.base = b.gep(view.base,
                        getSharedElementType(
                            getConverter().convertType(type.getElementType())),
                        offset);
    view.offsets.assign(cast<gpu::MemDescType>(op.getType()).getShape().size(),
                        b.i32(0));
    rewriter.replaceOp(op, view.pack(b));
    return success();
  }
};
} // namespace

void triton::populateMemDescPatterns(const LoweringContext &context) {
  context.add<IndexPattern, SubslicePattern, TransPattern, ReshapePattern,
              ReinterpretPattern>();
}

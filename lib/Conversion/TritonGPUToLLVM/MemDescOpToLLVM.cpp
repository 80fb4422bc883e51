//===-- MemDescOpToLLVM.cpp - Views of buffers ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Analysis/Allocation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Lowers an operation whose result is another view of the same memory.
template <typename OpTy> struct ViewPattern : TargetPattern<OpTy> {
  using TargetPattern<OpTy>::TargetPattern;
  using OpAdaptor = typename OpTy::Adaptor;

  /// The view that `op` makes of `desc`, a buffer of type `type`.
  virtual MemDesc view(const LLVMBuilder &b, OpTy op, OpAdaptor adaptor,
                       gpu::MemDescType type, MemDesc desc) const = 0;

  LogicalResult
  matchAndRewrite(OpTy op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const final {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto type = cast<gpu::MemDescType>(op.getSrc().getType());
    if (!isa<gpu::SharedMemorySpaceAttr>(type.getMemorySpace()))
      return this->decline(op, "the buffer is not in shared memory, and what "
                               "it is in has no such views");
    MemDesc desc = MemDesc::unpack(b, adaptor.getSrc(), type);
    rewriter.replaceOp(op, view(b, op, adaptor, type, desc).pack(b));
    return success();
  }
};

struct IndexPattern : ViewPattern<gpu::MemDescIndexOp> {
  using ViewPattern::ViewPattern;
  MemDesc view(const LLVMBuilder &b, gpu::MemDescIndexOp op, OpAdaptor adaptor,
               gpu::MemDescType type, MemDesc desc) const final {
    Value bytes = b.mul(b.add(desc.offsets.front(), adaptor.getIndex()),
                        b.i32(getBufferSize(op.getResult())));
    MemDesc view{b.gep(desc.base, b.intTy(8), bytes), {}};
    view.offsets.assign(desc.offsets.begin() + 1, desc.offsets.end());
    return view;
  }
};

struct SubslicePattern : ViewPattern<gpu::MemDescSubsliceOp> {
  using ViewPattern::ViewPattern;
  MemDesc view(const LLVMBuilder &b, gpu::MemDescSubsliceOp op,
               OpAdaptor adaptor, gpu::MemDescType type,
               MemDesc desc) const final {
    for (auto [offset, more] : llvm::zip(desc.offsets, op.getOffsets()))
      if (more)
        offset = b.add(offset, b.i32(more));
    return desc;
  }
};

struct TransPattern : ViewPattern<gpu::MemDescTransOp> {
  using ViewPattern::ViewPattern;
  MemDesc view(const LLVMBuilder &b, gpu::MemDescTransOp op, OpAdaptor adaptor,
               gpu::MemDescType type, MemDesc desc) const final {
    MemDesc view{desc.base, {}};
    for (int32_t dim : op.getOrder())
      view.offsets.push_back(desc.offsets[dim]);
    return view;
  }
};

struct ReshapePattern : ViewPattern<gpu::MemDescReshapeOp> {
  using ViewPattern::ViewPattern;
  MemDesc view(const LLVMBuilder &b, gpu::MemDescReshapeOp op,
               OpAdaptor adaptor, gpu::MemDescType type,
               MemDesc desc) const final {
    auto resultType = cast<gpu::MemDescType>(op.getType());
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
    return view;
  }
};

struct ReinterpretPattern : ViewPattern<gpu::MemDescReinterpretOp> {
  using ViewPattern::ViewPattern;
  MemDesc view(const LLVMBuilder &b, gpu::MemDescReinterpretOp op,
               OpAdaptor adaptor, gpu::MemDescType type,
               MemDesc desc) const final {
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
    return view;
  }
};
} // namespace

void triton::populateMemDescPatterns(const LoweringContext &context) {
  context.add<IndexPattern, SubslicePattern, TransPattern, ReshapePattern,
              ReinterpretPattern>();
}

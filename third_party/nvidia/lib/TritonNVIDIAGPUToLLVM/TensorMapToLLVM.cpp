//===-- TensorMapToLLVM.cpp - Tensor maps that kernels make ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BulkTensorCopy.h"

#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"
#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {

/// The first warp builds the map in shared memory, field by field, and copies
/// it to where it belongs.
struct CreatePattern : TargetPattern<ttng::TensormapCreateOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::TensormapCreateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr(kAllocationOffsetAttrName))
      return decline(op, "no scratch memory allocated");
    LLVMBuilder b(op.getLoc(), rewriter);
    ThreadIndex index = getThreadIndex(b, target, op);
    Value inFirstWarp = b.ult(index.thread, b.i32(index.threadsPerWarp));
    Value first = b.eq(index.thread, b.i32(0));
    Value scratch = getScratchBase(b, target, op);

    // Stores that still use the map that was here before are from this thread.
    emitAsm(b, "cp.async.bulk.wait_group 0;");
    Value word = b.gep(scratch, b.intTy(32), b.urem(index.thread, b.i32(32)));
    target.storeShared(b, word, {b.i32(0)}, inFirstWarp);
    emitAsm(b, "bar.warp.sync 0xffffffff;");

    auto replace = [&](StringRef field, Value value, int dim = -1) {
      bool isWide = value.getType().getIntOrFloatBitWidth() == 64;
      nvt::PTXAsm ptx(b);
      auto at = ptx.input(scratch, "r");
      auto with = ptx.input(value, isWide ? "l" : "r");
      ptx << "tensormap.replace.tile." << field << ".shared::cta.b1024."
          << (isWide ? "b64" : "b32") << " [" << at << "], ";
      if (dim >= 0)
        ptx << std::to_string(dim) << ", ";
      ptx << with << ";";
      ptx.emit({}, nvt::PTXAsm::SideEffects);
    };
    // These take constants only.
    auto replaceCode = [&](StringRef field, int32_t code) {
      nvt::PTXAsm ptx(b);
      auto at = ptx.input(scratch, "r");
      ptx << "tensormap.replace.tile." << field << ".shared::cta.b1024.b32 ["
          << at << "], " << std::to_string(code) << ";";
      ptx.emit({}, nvt::PTXAsm::SideEffects);
    };
    underPredicate(b, first, [&] {
      replace("global_address",
              b.ptrToInt(b.intTy(64), adaptor.getGlobalAddress()));
      replace("rank", b.i32(op.getBoxDim().size() - 1));
      for (auto [dim, size] : llvm::enumerate(adaptor.getBoxDim()))
        replace("box_dim", size, dim);
      for (auto [dim, size] : llvm::enumerate(adaptor.getGlobalDim()))
        replace("global_dim", size, dim);
      for (auto [dim, stride] : llvm::enumerate(adaptor.getGlobalStride()))
        replace("global_stride", stride, dim);
      for (auto [dim, stride] : llvm::enumerate(adaptor.getElementStride()))
        replace("element_stride", stride, dim);
      replaceCode("elemtype", op.getElemType());
      replaceCode("interleave_layout", op.getInterleaveLayout());
      replaceCode("swizzle_mode", op.getSwizzleMode());
      replaceCode("fill_mode", op.getFillMode());
    });
    // Scratch memory is written before a barrier of the block, and read after.
    blockBarrier(b, op);

    // The whole warp has to execute it together.
    nvt::PTXAsm ptx(b);
    auto pred = ptx.input(inFirstWarp, "b");
    auto to = ptx.input(adaptor.getDescPtr(), "l");
    auto from = ptx.input(scratch, "r");
    ptx << "@" << pred
        << " tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
           ".release.gpu.sync.aligned ["
        << to << "], [" << from << "], 128;";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void emitAsm(const LLVMBuilder &b, StringRef text) {
    nvt::PTXAsm ptx(b);
    ptx << text;
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }
};

struct AcquirePattern : TargetPattern<ttng::TensormapFenceproxyAcquireOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::TensormapFenceproxyAcquireOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    nvt::PTXAsm ptx(b);
    ptx << "fence.proxy.tensormap::generic.acquire.gpu ["
        << ptx.input(toGeneric(b, adaptor.getDescPtr()), "l") << "], 128;";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    rewriter.eraseOp(op);
    return success();
  }

  static Value toGeneric(const LLVMBuilder &b, Value ptr) {
    if (cast<LLVM::LLVMPointerType>(ptr.getType()).getAddressSpace() == 0)
      return ptr;
    return b.create<LLVM::AddrSpaceCastOp>(b.ptrTy(0), ptr);
  }
};

struct ReinterpretPattern : TargetPattern<ttng::ReinterpretTensorDescriptorOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::ReinterpretTensorDescriptorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, AcquirePattern::toGeneric(b, adaptor.getRawDesc()));
    return success();
  }
};

} // namespace

void nvt::populateTensorMapPatterns(const LoweringContext &context) {
  context.add<CreatePattern, AcquirePattern, ReinterpretPattern>();
}

//===-- TMAToLLVM.cpp - Bulk tensor copies --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of a block takes one cp.async.bulk.tensor for each of its boxes
// (TensorMap.h), all from the first thread. Groups of copies, and what is
// waited for, belong to the thread that started them.
//
// That thread takes a branch of its own. Of several copies that are predicated
// one by one, ptxas (13.5) makes code in which other lanes of the first warp
// start the last one, too.
//
//===----------------------------------------------------------------------===//

#include "BulkTensorCopy.h"

#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

Value nvt::getBoxAddress(const LLVMBuilder &b, Value converted, Value buffer) {
  auto type = cast<ttg::MemDescType>(buffer.getType());
  MemDesc desc = MemDesc::unpack(b, converted, type);
  Value address = desc.base;
  // Buffers of an array have no start in these dimensions.
  unsigned rank = cast<ttg::LayoutEncodingTrait>(type.getEncoding()).getRank();
  if (type.getShape().size() != rank ||
      type.getAllocShape().take_back(rank) == type.getShape())
    return address;
  for (auto [dim, start] : llvm::enumerate(desc.offsets)) {
    if (Value bytes =
            evaluateLinear(b, start, ttng::getTMAViewBases(type, dim)))
      address = b.gep(address, b.intTy(8), bytes);
  }
  return address;
}

namespace {

struct LoadPattern : nvt::CopyPattern<ttng::AsyncTMACopyGlobalToLocalOp> {
  using CopyPattern::CopyPattern;

  LogicalResult
  matchAndRewrite(ttng::AsyncTMACopyGlobalToLocalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool multicast = op.getMulticast(), isOfPixels = !op.getOffsets().empty();
    auto part = isOfPixels ? getPixelCopy(op, /*divide=*/multicast)
                           : getCopy(op, op.getResult().getType(),
                                     /*divide=*/multicast);
    if (failed(part))
      return failure();
    unsigned shared = ttng::getSharedBlockBits(op.getBarrier().getType());
    if (failed(checkSharing(op, shared)))
      return failure();
    unsigned packing = ttng::getTMAPacking(
        cast<TensorDescType>(op.getDesc().getType()).getBlockType());
    // Both came with sm_100.
    if (packing > 1 && !facts.hasTMARows)
      return decline(op, "its copy engine has no padded 4-bit elements: those "
                         "of sm_100 and later have");
    LLVMBuilder b(op.getLoc(), rewriter);
    Value barrier =
        nvt::getBufferAddress(b, adaptor.getBarrier(), op.getBarrier());
    if (shared)
      barrier = getInFirstOfPair(b, barrier);
    nvt::BlockCopy copy{
        adaptor.getDesc(), llvm::to_vector(adaptor.getCoord()),
        nvt::getBoxAddress(b, adaptor.getResult(), op.getResult()), barrier,
        b.and_(nvt::emitFirstThread(b, target, op), adaptor.getPred())};
    copy.offsets = llvm::to_vector(adaptor.getOffsets());
    copy.packing = packing;
    selectPart(b, op, *part, multicast, copy);
    emitCopies(b, copy, part->boxes,
               "cp.async.bulk.tensor." + getRank(op) +
                   (shared ? ".cta_group::2" : "") + ".shared::cluster.global" +
                   (isOfPixels ? ".im2col" : "") +
                   ".mbarrier::complete_tx::bytes" +
                   (copy.blocks ? ".multicast::cluster" : ""),
               nvt::CachePolicy(b, facts, op.getEvict()));
    rewriter.eraseOp(op);
    return success();
  }

private:
  FailureOr<ttng::TMACopy> getPixelCopy(ttng::AsyncTMACopyGlobalToLocalOp op,
                                        bool divide) const {
    if (failed(refusePadding(op)))
      return failure();
    auto desc = cast<TensorDescType>(op.getDesc().getType());
    auto encoding =
        ttng::getTMAEncoding(desc, [&] { return op.emitOpError(); });
    if (failed(encoding))
      return failure();
    auto copy =
        ttng::getTMAPixelCopy(desc.getBlockType(), op.getResult().getType(),
                              divide, op.getCoord().size());
    if (!copy)
      return this->decline(op, "TMA does not lay out pixels as the encoding of "
                               "the buffer says: each block of a cluster gets "
                               "all pixels, one behind the other");
    return *copy;
  }
};

struct StorePattern : nvt::CopyPattern<ttng::AsyncTMACopyLocalToGlobalOp> {
  using CopyPattern::CopyPattern;
  LogicalResult
  matchAndRewrite(ttng::AsyncTMACopyLocalToGlobalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return storeBlock(op, adaptor, rewriter,
                      "cp.async.bulk.tensor." + getRank(op) +
                          ".global.shared::cta.bulk_group");
  }
};

struct ReducePattern : nvt::CopyPattern<ttng::AsyncTMAReduceOp> {
  using CopyPattern::CopyPattern;
  LogicalResult
  matchAndRewrite(ttng::AsyncTMAReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return storeBlock(
        op, adaptor, rewriter,
        "cp.reduce.async.bulk.tensor." + getRank(op) + ".global.shared::cta." +
            stringifyDescriptorReduceKind(op.getKind()) + ".bulk_group");
  }
};

struct StoreWaitPattern : TargetPattern<ttng::AsyncTMAStoreWaitOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::AsyncTMAStoreWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    nvt::PTXAsm ptx(b);
    ptx << "cp.async.bulk.wait_group" << (op.getComplete() ? " " : ".read ")
        << std::to_string(op.getPendings()) << ";";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    rewriter.eraseOp(op);
    return success();
  }
};

struct FenceAsyncGlobalPattern : TargetPattern<ttng::FenceAsyncGlobalOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::FenceAsyncGlobalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(
        op,
        NVVM::ProxyKindAttr::get(op.getContext(),
                                 NVVM::ProxyKind::async_global),
        NVVM::SharedSpaceAttr());
    return success();
  }
};

} // namespace

void nvt::populateTMAPatterns(const LoweringContext &context,
                              const TargetInfo &target) {
  context.patterns.add<LoadPattern, StorePattern, ReducePattern>(context,
                                                                 target);
  context.add<StoreWaitPattern, FenceAsyncGlobalPattern>();
  populateTMARowPatterns(context, target);
  populateTensorMapPatterns(context);
}

//===-- ClusterLaunchControlToLLVM.cpp - Taking over other blocks ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hardware writes its answer asynchronously, over what threads have read of
// the last one. So each thread that reads puts a fence behind its read. Before
// the next question comes a barrier: the program's, or the one that accesses to
// one buffer get.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {
constexpr unsigned kAnswerBits = 128;

struct TryCancelPattern : TargetPattern<ttng::CLCTryCancelOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::CLCTryCancelOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool inCluster = ttg::lookupNumCTAs(op) > 1;
    if (ttng::getSharedBlockBits(op.getMbarrier().getType()))
      return decline(op, "the answer comes to each block: each must have a "
                         "barrier of its own");
    LLVMBuilder b(op.getLoc(), rewriter);
    Value pred = nvt::emitFirstThread(b, target, op);
    // The blocks of a cluster ask once, and each gets the answer.
    if (inCluster)
      pred = b.and_(pred, b.eq(target.getBlockInCluster(b), b.i32(0)));
    nvt::PTXAsm ptx(b);
    auto at = ptx.input(
        nvt::getBufferAddress(b, adaptor.getResult(), op.getResult()), "r");
    auto barrier = ptx.input(
        nvt::getBufferAddress(b, adaptor.getMbarrier(), op.getMbarrier()), "r");
    ptx << "@" << ptx.input(pred, "b")
        << " clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
           "complete_tx::bytes"
        << (inCluster ? ".multicast::cluster::all" : "") << ".b128 [" << at
        << "], [" << barrier << "];";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LoadResultPattern : TargetPattern<ttng::CLCLoadResultOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::CLCLoadResultOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Value answer =
        b.load(b.intTy(kAnswerBits),
               nvt::getBufferAddress(b, adaptor.getSrc(), op.getSrc()),
               /*align=*/kAnswerBits / 8, /*isVolatile=*/true);
    b.create<NVVM::FenceProxyOp>(
        NVVM::ProxyKindAttr::get(op.getContext(),
                                 NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(op.getContext(),
                                   NVVM::SharedSpace::shared_cta));
    rewriter.replaceOp(op, answer);
    return success();
  }
};

struct IsCanceledPattern : TargetPattern<ttng::CLCIsCanceledOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::CLCIsCanceledOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Value isCanceled = b.create<NVVM::ClusterLaunchControlQueryCancelOp>(
        b.intTy(1),
        NVVM::ClusterLaunchControlQueryTypeAttr::get(
            op.getContext(), NVVM::ClusterLaunchControlQueryType::IS_CANCELED),
        adaptor.getClcResult());
    rewriter.replaceOp(op, isCanceled);
    return success();
  }
};

struct GetProgramIdPattern : TargetPattern<ttng::CLCGetProgramIdOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::CLCGetProgramIdOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    static constexpr StringRef kAxes[] = {"x", "y", "z"};
    LLVMBuilder b(op.getLoc(), rewriter);
    auto axis = unsigned(op.getDim());
    // Programs ask whether they have a cluster or not, and LLVM moves what is
    // pure in front of branches. So the question is put only where it has an
    // answer; NVVM's operation cannot say that.
    nvt::PTXAsm ptx(b);
    auto first = ptx.output("r");
    Type half = b.intTy(kAnswerBits / 2);
    Value answer = adaptor.getClcResult();
    Value upper = b.lshr(answer, b.intVal(kAnswerBits, kAnswerBits / 2));
    auto low = ptx.input(b.trunc(half, answer), "l"),
         high = ptx.input(b.trunc(half, upper), "l");
    ptx << "{ .reg .pred p; .reg .b128 answer; mov.b128 answer, {" << low
        << ", " << high
        << "}; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, "
           "answer; mov.b32 "
        << first
        << ", 0; @p clusterlaunchcontrol.query_cancel.get_first_ctaid::"
        << kAxes[axis] << ".b32.b128 " << first << ", answer; }";
    Value id = ptx.emit({b.intTy(32)}, nvt::PTXAsm::Pure)[0];
    // Clusters lie along the first axis; a program is a cluster.
    if (int blocks = ttg::lookupNumCTAs(op); axis == 0 && blocks > 1)
      id = b.udiv(id, b.i32(blocks));
    rewriter.replaceOp(op, id);
    return success();
  }
};
} // namespace

void nvt::populateClusterLaunchControlPatterns(const LoweringContext &context) {
  context.add<TryCancelPattern, LoadResultPattern, IsCanceledPattern,
              GetProgramIdPattern>();
}

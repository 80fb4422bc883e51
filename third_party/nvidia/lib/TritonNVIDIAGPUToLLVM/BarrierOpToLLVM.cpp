//===-- BarrierOpToLLVM.cpp - mbarriers -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A barrier object is 8 bytes of shared memory. One thread makes it, arrives on
// behalf of the others and announces bytes; all threads wait, and so acquire
// what the copies wrote, each for itself.
//
//===----------------------------------------------------------------------===//

#include "ClusterMbarriers.h"

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

Value nvt::emitFirstThread(const LLVMBuilder &b,
                           const triton::TargetInfo &target, Operation *op) {
  return b.eq(getThreadIndex(b, target, op).thread, b.i32(0));
}

Value nvt::getBufferAddress(const LLVMBuilder &b, Value converted,
                            Value original) {
  auto type = cast<ttg::MemDescType>(original.getType());
  return MemDesc::unpack(b, converted, type).base;
}

namespace {

template <typename OpT> struct MbarrierPattern : TargetPattern<OpT> {
  MbarrierPattern(const LoweringContext &context, const nvt::TargetInfo &target)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}

protected:
  /// What arrives at barriers beside threads came with sm_90, and with it waits
  /// that suspend the thread, and arrivals that count for several threads.
  bool hasTransactions() const { return facts.hasTMA; }

  /// Shared memory, in the words of the PTX version of the target.
  StringRef getSpace() const {
    return hasTransactions() ? ".shared::cta" : ".shared";
  }

  /// The same by the first thread if `pred` allows.
  void emitOnce(const LLVMBuilder &b, OpT op, Value barrier, Value converted,
                Value pred, const Twine &before, const Twine &after) const {
    emit(b, barrier, converted,
         b.andPred(nvt::emitFirstThread(b, this->target, op), pred), before,
         after);
  }

  static unsigned getSharedBits(Value barrier) {
    return ttng::getSharedBlockBits(cast<ttg::MemDescType>(barrier.getType()));
  }

  /// `pred`, in the block that holds the barrier for others, too.
  Value inHolder(const LLVMBuilder &b, Value barrier, Value pred) const {
    unsigned bits = getSharedBits(barrier);
    return bits ? inFirst(b, bits, pred) : pred;
  }

  /// `pred`, in blocks whose number has none of these bits.
  Value inFirst(const LLVMBuilder &b, unsigned bits, Value pred) const {
    Value here = this->target.getBlockInCluster(b);
    return b.andPred(b.eq(b.and_(here, b.i32(bits)), b.i32(0)), pred);
  }

  /// Arrives, where `pred` is true, at the barrier of this block, at that which
  /// another block holds for it, or at those of the blocks that this one
  /// arrives for. With `together`, each block arrives at those of the blocks
  /// that differ from it in these bits. `after` follows the address.
  void emitArrivals(const LLVMBuilder &b, OpT op, Value converted, Value pred,
                    StringRef what, const Twine &after,
                    unsigned together = 0) const {
    unsigned shared = getSharedBits(op.getAlloc()),
             others = op.getFromCTA()
                          ? (ttg::lookupNumCTAs(op) - 1) & ~*op.getFromCTA()
                          : 0;
    if (!shared && !others && !together)
      return emit(b, op.getAlloc(), converted, pred,
                  "mbarrier." + what + ".shared::cta.b64 _, ", after);
    if (others)
      pred = inFirst(b, others, pred);
    others |= together;
    Value first = b.and_(this->target.getBlockInCluster(b),
                         b.i32(~int32_t(shared | together)));
    nvt::PTXAsm ptx(b);
    auto at =
        ptx.input(nvt::getBufferAddress(b, converted, op.getAlloc()), "r");
    ptx << "{ .reg .b32 there; @!" << ptx.input(pred, "b") << " bra DONE; ";
    for (unsigned block = 0; block <= others; ++block)
      if ((block & ~others) == 0)
        ptx << "mapa.shared::cluster.u32 there, " << at << ", "
            << ptx.input(block ? b.add(first, b.i32(block)) : first, "r")
            << "; mbarrier." << what << ".release.cluster.shared::cluster.b64 "
            << "_, [there]" << after.str() << "; ";
    ptx << "DONE: }";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }

  /// `before` [address] `after`, where `pred` is true.
  static void emit(const LLVMBuilder &b, Value barrier, Value converted,
                   Value pred, const Twine &before, const Twine &after) {
    nvt::PTXAsm ptx(b);
    auto at = ptx.input(nvt::getBufferAddress(b, converted, barrier), "r");
    auto once = ptx.input(pred, "b");
    ptx << "@" << once << " " << before.str() << "[" << at << "]" << after.str()
        << ";";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }

private:
  const NVIDIATarget &facts;
};

struct InitPattern : MbarrierPattern<ttng::InitBarrierOp> {
  using MbarrierPattern::MbarrierPattern;
  LogicalResult
  matchAndRewrite(ttng::InitBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    // Each block that shares a barrier arrives as often.
    unsigned count = op.getCount()
                     << llvm::popcount(getSharedBits(op.getAlloc()));
    emitOnce(b, op, op.getAlloc(), adaptor.getAlloc(),
             inHolder(b, op.getAlloc(), /*pred=*/{}),
             "mbarrier.init" + getSpace() + ".b64 ", ", " + Twine(count));
    // TMA arrives through the async proxy. One fence does for all barriers that
    // are made together.
    if (hasTransactions() && !isFollowedByInit(op))
      b.create<NVVM::FenceProxyOp>(
          NVVM::ProxyKindAttr::get(op.getContext(),
                                   NVVM::ProxyKind::async_shared),
          NVVM::SharedSpaceAttr::get(op.getContext(),
                                     NVVM::SharedSpace::shared_cta));
    rewriter.eraseOp(op);
    return success();
  }

private:
  static bool isFollowedByInit(Operation *op) {
    do
      op = op->getNextNode();
    while (op && (isMemoryEffectFree(op) || onlyAllocates(op)));
    return isa_and_nonnull<ttng::InitBarrierOp>(op);
  }

  /// Rings of barriers are made one after the other, with their buffers.
  static bool onlyAllocates(Operation *op) {
    return isa<ttg::LocalAllocOp, ttng::TMEMAllocOp>(op) &&
           op->getNumOperands() == 0;
  }
};

struct InvalPattern : MbarrierPattern<ttng::InvalBarrierOp> {
  using MbarrierPattern::MbarrierPattern;
  LogicalResult
  matchAndRewrite(ttng::InvalBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    emitOnce(b, op, op.getAlloc(), adaptor.getAlloc(),
             inHolder(b, op.getAlloc(), /*pred=*/{}),
             "mbarrier.inval" + getSpace() + ".b64 ", "");
    rewriter.eraseOp(op);
    return success();
  }
};

struct ExpectPattern : MbarrierPattern<ttng::BarrierExpectOp> {
  using MbarrierPattern::MbarrierPattern;
  LogicalResult
  matchAndRewrite(ttng::BarrierExpectOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!hasTransactions())
      return decline(op, "its barriers count no bytes");
    LLVMBuilder b(op.getLoc(), rewriter);
    Value pred =
        b.andPred(nvt::emitFirstThread(b, target, op), adaptor.getPred());
    emitArrivals(b, op, adaptor.getAlloc(), pred, "arrive.expect_tx",
                 ", " + Twine(op.getSize()));
    rewriter.eraseOp(op);
    return success();
  }
};

struct ArrivePattern : MbarrierPattern<ttng::ArriveBarrierOp> {
  using MbarrierPattern::MbarrierPattern;
  void emitArrival(const LLVMBuilder &b, ttng::ArriveBarrierOp op,
                   OpAdaptor adaptor, Value who, int count) const {
    Value pred = b.andPred(who, adaptor.getPred());
    auto arrive = [&](const Twine &name, const Twine &after) {
      emit(b, op.getAlloc(), adaptor.getAlloc(), pred, name, after);
    };
    if (hasTransactions())
      return emitArrivals(b, op, adaptor.getAlloc(), pred, "arrive",
                          ", " + Twine(count), op.getMulticastCTA());
    // All but the last do not complete the phase.
    if (count > 1)
      arrive("mbarrier.arrive.noComplete.shared.b64 _, ",
             ", " + Twine(count - 1));
    arrive("mbarrier.arrive.shared.b64 _, ", "");
  }
  /// The first thread for all, or each warp: a lane for each block.
  ///
  /// What has to be over are reads, which are; nothing was written that the
  /// others would have to see. `.release.cluster` would have the thread wait
  /// for all its accesses to memory (MEMBAR.ALL.GPU).
  void arriveAtAll(const LLVMBuilder &b, ttng::ArriveBarrierOp op,
                   OpAdaptor adaptor) const {
    int numWarps = ttg::lookupNumWarps(op), count = op.getCount();
    Value address = nvt::getBufferAddress(b, adaptor.getAlloc(), op.getAlloc());
    if (count % numWarps == 0) {
      target.barrier(b, {BarrierParticipants::Kind::Warp, 0, 1});
      Value lane = getThreadIndex(b, target, op).getLane(b);
      Value arrives = b.andPred(b.slt(lane, b.i32(ttg::lookupNumCTAs(op))),
                                adaptor.getPred());
      return nvt::emitRemoteArrival(b, address, lane, arrives, /*scope=*/"",
                                    count / numWarps);
    }
    nvt::PTXAsm ptx(b);
    auto at = ptx.input(address, "r");
    Value first =
        b.andPred(nvt::emitFirstThread(b, target, op), adaptor.getPred());
    ptx << "{ .reg .b32 there; @!" << ptx.input(first, "b") << " bra DONE; ";
    for (int block = 0, e = ttg::lookupNumCTAs(op); block < e; ++block)
      ptx << "mapa.shared::cluster.u32 there, " << at << ", "
          << std::to_string(block)
          << "; mbarrier.arrive.shared::cluster.b64 _, "
             "[there], "
          << std::to_string(op.getCount()) << "; ";
    ptx << "DONE: }";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }
  LogicalResult
  matchAndRewrite(ttng::ArriveBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    int numWarps = ttg::lookupNumWarps(op), count = op.getCount();
    if (op->hasAttr(ttng::kAllBlocksAttrName)) {
      arriveAtAll(b, op, adaptor);
    } else if (count % numWarps == 0) {
      // The phase ends with the last of the warps: they need not meet before.
      target.barrier(b, {BarrierParticipants::Kind::Warp, 0, 1});
      Value lane = getThreadIndex(b, target, op).getLane(b);
      emitArrival(b, op, adaptor, b.eq(lane, b.i32(0)), count / numWarps);
    } else {
      // The first thread arrives for all: what they did has to be done.
      blockBarrier(b, op);
      emitArrival(b, op, adaptor, nvt::emitFirstThread(b, target, op), count);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct WaitPattern : MbarrierPattern<ttng::WaitBarrierOp> {
  WaitPattern(const LoweringContext &context, const nvt::TargetInfo &target,
              bool blocksMeet)
      : MbarrierPattern(context, target), blocksMeet(blocksMeet) {}
  LogicalResult
  matchAndRewrite(ttng::WaitBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    nvt::PTXAsm ptx(b);
    auto at = ptx.input(
        nvt::getBufferAddress(b, adaptor.getAlloc(), op.getAlloc()), "r");
    auto phase = ptx.input(adaptor.getPhase(), "r");
    // The labels are this block's own.
    ptx << "{ .reg .pred complete; ";
    Value pred = inHolder(b, op.getAlloc(), adaptor.getPred());
    bool isOfCluster = blocksMeet || getSharedBits(op.getAlloc()) != 0;
    if (op->hasAttr(ttng::kAllBlocksAttrName))
      pred = b.andPred(nvt::emitFirstThread(b, target, op), pred);
    if (pred)
      ptx << "@!" << ptx.input(pred, "b") << " bra DONE; ";
    ptx << "WAIT: mbarrier." << (hasTransactions() ? "try_wait" : "test_wait")
        << ".parity" << (isOfCluster ? ".acquire.cluster" : "") << getSpace()
        << ".b64 complete, [" << at << "], " << phase
        << "; @!complete bra WAIT; DONE: }";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    if (runsAhead(op))
      target.barrier(b, {BarrierParticipants::Kind::Warp, 0, 1});
    rewriter.eraseOp(op);
    return success();
  }

private:
  bool blocksMeet;

  /// Whether one thread of a partition may go on without the others. A
  /// partition of one warp starts copies and dots, whose end arrives by itself.
  /// So two phases may end before another lane looks, which would wait for the
  /// third.
  static bool runsAhead(Operation *op) {
    return ttg::lookupNumWarps(op) == 1 &&
           op->getParentOfType<ttg::WarpSpecializePartitionsOp>();
  }
};

struct CopyArrivePattern : TargetPattern<ttng::AsyncCopyMbarrierArriveOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::AsyncCopyMbarrierArriveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (ttng::getSharedBlockBits(op.getBarrier().getType()))
      return decline(op, "its barrier is in another block");
    LLVMBuilder b(op.getLoc(), rewriter);
    nvt::PTXAsm ptx(b);
    auto at = ptx.input(
        nvt::getBufferAddress(b, adaptor.getBarrier(), op.getBarrier()), "r");
    ptx << "cp.async.mbarrier.arrive" << (op.getNoIncrement() ? ".noinc" : "")
        << ".shared.b64 [" << at << "];";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ClusterArrivePattern : TargetPattern<ttng::ClusterArriveOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::ClusterArriveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    UnitAttr aligned = rewriter.getUnitAttr();
    if (op.isRelaxed())
      b.create<NVVM::ClusterArriveRelaxedOp>(aligned);
    else
      b.create<NVVM::ClusterArriveOp>(aligned);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ClusterWaitPattern : TargetPattern<ttng::ClusterWaitOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::ClusterWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::ClusterWaitOp>(op,
                                                     rewriter.getUnitAttr());
    return success();
  }
};

struct ClusterBarrierPattern : TargetPattern<ttng::ClusterBarrierOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::ClusterBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ttng::ClusterArriveOp::create(rewriter, op.getLoc(),
                                  rewriter.getBoolAttr(op.getRelaxed()));
    rewriter.replaceOpWithNewOp<ttng::ClusterWaitOp>(op);
    return success();
  }
};

struct FenceInitPattern
    : TargetPattern<ttng::FenceMbarrierInitReleaseClusterOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::FenceMbarrierInitReleaseClusterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::FenceMbarrierInitOp>(op);
    return success();
  }
};
} // namespace

void nvt::populateBarrierPatterns(const LoweringContext &context,
                                  const TargetInfo &target, bool blocksMeet) {
  context.patterns.add<InitPattern, InvalPattern, ExpectPattern, ArrivePattern>(
      context, target);
  context.patterns.add<WaitPattern>(context, target, blocksMeet);
  context.add<CopyArrivePattern, ClusterArrivePattern, ClusterWaitPattern,
              ClusterBarrierPattern, FenceInitPattern>();
}

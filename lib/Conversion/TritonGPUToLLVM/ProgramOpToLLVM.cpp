//===-- ProgramOpToLLVM.cpp - Program ids, barriers, tokens ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tile/Conversion/TritonGPUToLLVM/BlockInGrid.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

Value triton::getBlockInGrid(const LLVMBuilder &b, const TargetInfo &target) {
  Value block = target.getProgramId(b, 2, 1);
  block = b.add(b.mul(block, target.getNumPrograms(b, 1, 1)),
                target.getProgramId(b, 1, 1));
  return b.add(b.mul(block, target.getNumPrograms(b, 0, 1)),
               target.getProgramId(b, 0, 1));
}

namespace {
struct ProgramIdPattern : TargetPattern<GetProgramIdOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(GetProgramIdOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, target.getProgramId(b, op.getAxisAsInt(), ttg::lookupNumCTAs(op)));
    return success();
  }
};

struct NumProgramsPattern : TargetPattern<GetNumProgramsOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(GetNumProgramsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, target.getNumPrograms(b, op.getAxisAsInt(),
                                                 ttg::lookupNumCTAs(op)));
    return success();
  }
};

/// Whether a barrier is for more than the shared memory of one block.
bool ordersGlobalMemory(ttg::BarrierOp op) {
  return op.hasGlobalRead() || op.hasGlobalWrite();
}
bool ordersGlobalMemory(::mlir::gpu::BarrierOp) { return true; }

// `ttg.barrier`, and the `gpu.barrier` that `tl.debug_barrier` becomes: both
// order every memory that the barrier of the hardware orders. Global memory may
// have been accessed by any block of a cluster.
template <typename BarrierOp> struct BarrierPattern : TargetPattern<BarrierOp> {
  using TargetPattern<BarrierOp>::TargetPattern;
  using TargetPattern<BarrierOp>::target;
  LogicalResult
  matchAndRewrite(BarrierOp op, typename BarrierOp::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    target.barrier(b, ordersGlobalMemory(op) ? getThreadsOfProgram(op)
                                             : getThreadsOfBlock(op));
    rewriter.eraseOp(op);
    return success();
  }
};

struct WarpIdPattern : TargetPattern<ttg::WarpIdOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttg::WarpIdOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (ttg::lookupNumWarps(op) == 1) {
      rewriter.replaceOp(op, b.i32(0));
      return success();
    }
    Value warp = getThreadIndex(b, target, op).getWarp(b);
    // All lanes agree; say so, for the code that branches on it.
    rewriter.replaceOp(op, target.shuffleIdx(b, warp, b.i32(0)));
    return success();
  }
};

struct PredicateStagePattern : TargetPattern<ttg::PredicateStageOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttg::PredicateStageOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    // iv < ub - (maxStage - stage) * step
    Value ahead =
        b.mul(adaptor.getStep(),
              b.intVal(adaptor.getStep().getType().getIntOrFloatBitWidth(),
                       static_cast<int64_t>(op.getMaxStage()) -
                           static_cast<int64_t>(op.getStage())));
    rewriter.replaceOp(op,
                       b.slt(adaptor.getIv(), b.sub(adaptor.getUb(), ahead)));
    return success();
  }
};

struct GlobalScratchPattern : TargetPattern<ttg::GlobalScratchAllocOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttg::GlobalScratchAllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto offset =
        op->getAttrOfType<IntegerAttr>(ttg::kGlobalScratchOffsetAttrName);
    auto module = op->getParentOfType<ModuleOp>();
    auto size =
        module->getAttrOfType<IntegerAttr>(ttg::kGlobalScratchSizeAttrName);
    auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
    if (!offset || !size || !function)
      return this->decline(
          op, "run -tritongpu-global-scratch-memory-allocation first");
    if (function->hasAttr(kSharedMemoryArgumentAttrName))
      return this->decline(op, "in a device function");
    Value base = function.getArgument(function.getNumArguments() - 1);
    // One piece for every block of the grid, also within a cluster.
    Value block = getBlockInGrid(b, target);
    Value start = b.mul(b.zext(b.intTy(64), block), b.i64(size.getInt()));
    Value ptr = b.gep(base, b.intTy(8), start);
    rewriter.replaceOp(op, b.gep(ptr, b.intTy(8), offset.getInt()));
    return success();
  }
};
} // namespace

void triton::populateProgramPatterns(const LoweringContext &context) {
  context
      .add<ProgramIdPattern, NumProgramsPattern, BarrierPattern<ttg::BarrierOp>,
           BarrierPattern<::mlir::gpu::BarrierOp>, WarpIdPattern,
           PredicateStagePattern, GlobalScratchPattern>();
}

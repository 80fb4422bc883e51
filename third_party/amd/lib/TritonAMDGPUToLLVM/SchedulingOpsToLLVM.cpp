//===-- SchedulingOpsToLLVM.cpp - Who waits for what ----------------------===//
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

/// Waits by the machine's counters.
struct MemoryCounterWaitPattern : TargetPattern<MemoryCounterWaitOp> {
  MemoryCounterWaitPattern(const LoweringContext &context,
                           const amd::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}

  LogicalResult
  matchAndRewrite(MemoryCounterWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (facts.wmmaVersion >= 2) {
      auto wait = [&](StringRef counter, std::optional<uint32_t> count) {
        if (count)
          b.intrinsic({}, ("llvm.amdgcn.s.wait." + counter).str(),
                      ValueRange{b.intVal(16, *count)});
      };
      wait("loadcnt", op.getLoad());
      wait("storecnt", op.getStore());
      wait("dscnt", op.getDs());
    } else if (std::optional<int32_t> bits = getOlderCounters(op)) {
      b.intrinsic({}, "llvm.amdgcn.s.waitcnt", ValueRange{b.i32(*bits)});
    } else {
      return op.emitError(
          "waits for stores to memory, which this target has no "
          "instruction for that LLVM gives");
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The operand of s_waitcnt; what is not waited for has all bits set.
  std::optional<int32_t> getOlderCounters(MemoryCounterWaitOp op) const {
    auto atMost = [](std::optional<uint32_t> count, uint32_t most) {
      return std::min(count.value_or(most), most);
    };
    if (!facts.mfmaVersion) {
      // gfx11: vmcnt in bits 10 to 15, lgkmcnt in 4 to 9, expcnt below; stores
      // have a counter of their own.
      if (op.getStore())
        return std::nullopt;
      return atMost(op.getLoad(), 63) << 10 | atMost(op.getDs(), 63) << 4 | 7;
    }
    // gfx9: vmcnt in bits 0 to 3, 14 and 15, which counts stores, too; expcnt
    // in 4 to 6, lgkmcnt in 8 to 11.
    uint32_t vm = std::min(atMost(op.getLoad(), 63), atMost(op.getStore(), 63));
    return (vm & 15) | 7 << 4 | atMost(op.getDs(), 15) << 8 | (vm >> 4) << 14;
  }

  const amd::AMDTarget &facts;
};
} // namespace

void amd::populateSchedulingPatterns(const LoweringContext &context,
                                     const TargetInfo &target) {
  context.add<CondBarrierPattern>();
  context.patterns.add<MemoryCounterWaitPattern>(context, target);
}

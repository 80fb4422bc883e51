//===-- ConvertLayoutOpToLLVM.cpp - Moving tensors between layouts --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/LayoutShuffles.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Layout/SharedMemory.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "convert-triton-gpu-to-llvm"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Which registers of a thread belong to which round of a conversion that uses
/// its shared memory several times, and where those of a round go.
struct RegistersByTurn {
  /// From the registers of one round to offsets.
  LinearLayout offsets;

  RegistersByTurn(const LinearLayout &layout, const LinearLayout &shared) {
    LinearLayout all = getOffsetLayout(layout, shared);
    numBits = all.getInDimSizeLog2(kRegister);
    turnBits.resize(all.getOutDimSizeLog2(kRepetition));
    for (unsigned i = 0; i < numBits; ++i) {
      int32_t turn = all.getBasis(kRegister, i, kRepetition);
      if (turn)
        turnBits[llvm::Log2_32(turn)] = i;
      else
        otherBits.push_back(i);
    }
    offsets = ColumnAction(otherBits, kRegister, numBits).apply(all);
    offsets = offsets.sublayout(offsets.getInDimNames(), {kOffset});
  }
  unsigned getNumRegisters() const { return 1u << numBits; }
  SmallVector<unsigned> ofTurn(int32_t turn) const {
    unsigned base = 0;
    for (auto [i, bit] : llvm::enumerate(turnBits))
      base |= ((turn >> i) & 1) << bit;
    ColumnAction action(otherBits, kRegister, numBits);
    SmallVector<unsigned> registers;
    for (unsigned r = 0; r < 1u << otherBits.size(); ++r)
      registers.push_back(base | action.sourceIndex(r));
    return registers;
  }

private:
  unsigned numBits;
  SmallVector<unsigned> turnBits, otherBits;
};

struct ConvertLayoutPattern : TargetPattern<gpu::ConvertLayoutOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(gpu::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    auto resultType = cast<RankedTensorType>(op.getType());
    ConvertLayoutPlan plan = ConvertLayoutPlan::of(op);
    SmallVector<Value> values = unpackElements(b, adaptor.getSrc(), sourceType);
    SmallVector<Value> results;
    if (plan.route == ConvertLayoutPlan::Route::Registers) {
      for (int32_t r : plan.registerSources)
        results.push_back(values[r]);
    } else if (plan.route == ConvertLayoutPlan::Route::Shuffle) {
      results = emitShuffles(b, target, getThreadIndex(b, target, op),
                             plan.source, plan.result, *plan.shuffles, values);
    } else {
      if (!op->hasAttr(kAllocationOffsetAttrName))
        return this->decline(op, "no scratch memory allocated");
      results = plan.route == ConvertLayoutPlan::Route::Cluster
                    ? throughCluster(b, op, plan, values)
                    : throughSharedMemory(b, op, plan, values);
    }
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, resultType));
    return success();
  }

private:
  SmallVector<Value> throughCluster(const LLVMBuilder &b,
                                    gpu::ConvertLayoutOp op,
                                    const ConvertLayoutPlan &plan,
                                    ArrayRef<Value> values) const {
    ThreadIndex index = getThreadIndex(b, target, op);
    Value base = getScratchBase(b, target, op);
    Type element = values.front().getType();
    SharedAccess{target,
                 getOffsetLayout(plan.source, plan.shared).removeOutDim(kBlock),
                 base, element}
        .store(b, index, values);
    programBarrier(b, op);
    SmallVector<Value> results =
        SharedAccess{target, getOffsetLayout(plan.result, plan.shared), base,
                     element}
            .load(b, index);
    // Other blocks must have read before this one goes on or ends.
    programBarrier(b, op);
    return results;
  }

  SmallVector<Value> throughSharedMemory(const LLVMBuilder &b,
                                         gpu::ConvertLayoutOp op,
                                         const ConvertLayoutPlan &plan,
                                         ArrayRef<Value> values) const {
    ThreadIndex index = getThreadIndex(b, target, op);
    Value base = getScratchBase(b, target, op);
    Type element = values.front().getType();

    // Registers that hold copies take no part; the others are dealt out to the
    // repetitions.
    ColumnAction distinct = removeBroadcastedRegisters(plan.source);
    SmallVector<Value> sources = distinct.apply(values);
    RegistersByTurn from(distinct.apply(plan.source), plan.shared);
    RegistersByTurn to(
        removeBroadcastedRegisters(plan.result).apply(plan.result),
        plan.shared);
    SmallVector<Value> results(to.getNumRegisters());
    for (int32_t turn = 0; turn < plan.shared.getInDimSize(kRepetition);
         ++turn) {
      if (turn > 0)
        blockBarrier(b, op);
      SmallVector<Value> part;
      for (unsigned r : from.ofTurn(turn))
        part.push_back(sources[r]);
      SharedAccess write{target, from.offsets, base, element};
      write.store(b, index, part);
      blockBarrier(b, op);
      SharedAccess read{target, to.offsets, base, element};
      for (auto [r, value] :
           llvm::zip_equal(to.ofTurn(turn), read.load(b, index)))
        results[r] = value;
    }
    return broadcastRegisters<Value>(results, plan.result);
  }
};
} // namespace

void triton::populateConvertLayoutPatterns(const LoweringContext &context) {
  context.add<ConvertLayoutPattern>();
}

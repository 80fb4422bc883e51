//===-- GatherOpToLLVM.cpp - Elements selected by index -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside a warp by shuffles: each lane names the one that has its element. Else
// the source goes to shared memory, row-major, and every thread picks what its
// indices name.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Analysis/GatherPlan.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
struct GatherPattern : TargetPattern<GatherOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    auto indexType = cast<RankedTensorType>(op.getIndices().getType());
    SmallVector<Value> values = unpackElements(b, adaptor.getSrc(), sourceType);
    SmallVector<Value> indices =
        unpackElements(b, adaptor.getIndices(), indexType);

    GatherPlan plan(op);
    if (plan.inWarp) {
      rewriter.replaceOp(
          op, packElements(b, getConverter(),
                           gatherInWarp(b, op, plan, values, indices),
                           op.getType()));
      return success();
    }
    if (!op->hasAttr(kAllocationOffsetAttrName))
      return this->decline(op, "no scratch memory allocated");
    if (gpu::lookupNumCTAs(op) > 1)
      return this->decline(op, "the elements may be in another block of the "
                               "cluster");
    Value base = getScratchBase(b, target, op);
    Type element = values[0].getType();
    SharedAccess{target, getRowMajorOffsets(sourceType), base, element}.store(
        b, getThreadIndex(b, target, op), values);
    blockBarrier(b, op);

    SmallVector<Value> results;
    Type memElement = getSharedElementType(element);
    for (auto [coords, index] : llvm::zip(
             emitIndices(b, target, op, toLinearLayout(indexType)), indices)) {
      Value at = toI32(b, index);
      Value flat;
      for (auto [d, size] : llvm::enumerate(sourceType.getShape())) {
        Value coord = static_cast<int32_t>(d) == op.getAxis() ? at : coords[d];
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

private:
  static Value toI32(const LLVMBuilder &b, Value index) {
    unsigned bits = index.getType().getIntOrFloatBitWidth();
    return bits > 32 ? b.trunc(b.intTy(32), index) : b.zext(b.intTy(32), index);
  }

  SmallVector<Value> gatherInWarp(const LLVMBuilder &b, GatherOp op,
                                  const GatherPlan &plan,
                                  ArrayRef<Value> values,
                                  ArrayRef<Value> indices) const {
    const LinearLayout &place = *plan.inWarp;
    ThreadIndex thread = getThreadIndex(b, target, op);
    SmallVector<int32_t> candidates = plan.getCandidates();
    // What the thread, and what an index along the axis, tell of a position.
    auto partsAlong = [&](StringRef dim) {
      SmallVector<int32_t> bases;
      for (unsigned i = 0, e = place.getInDimSizeLog2(GatherPlan::kAxisValue);
           i < e; ++i)
        bases.push_back(place.getBasis(GatherPlan::kAxisValue, i, dim));
      return std::pair{evaluateThreadPart(b, place, dim, thread).value, bases};
    };
    auto [laneOfThread, laneBases] = partsAlong(kLane);
    auto [registerOfThread, registerBases] = partsAlong(kRegister);
    auto evaluate = [&](Value index, Value ofThread, ArrayRef<int32_t> bases) {
      Value result = evaluateLinear(b, index, bases);
      if (ofThread)
        result = result ? b.xor_(result, ofThread) : ofThread;
      return result ? result : b.i32(0);
    };

    SmallVector<Value> results;
    LinearLayout ofRegister = place.sublayout({kRegister}, {kRegister, kLane});
    for (auto [r, index] : llvm::enumerate(indices)) {
      Value at = toI32(b, index);
      LinearLayout::NamedSizes known =
          ofRegister.apply({{kRegister, static_cast<int32_t>(r)}});
      int32_t knownRegister = known[0].second, knownLane = known[1].second;
      Value lane = evaluate(at, laneOfThread, laneBases);
      if (knownLane)
        lane = b.xor_(lane, b.i32(knownLane));
      Value which = candidates.size() > 1
                        ? evaluate(at, registerOfThread, registerBases)
                        : Value();
      Value result;
      for (int32_t candidate : candidates) {
        Value got =
            mapWords(b, values[knownRegister ^ candidate], [&](Value word) {
              return target.shuffleIdx(b, word, lane);
            });
        result =
            result ? b.select(b.eq(which, b.i32(candidate)), got, result) : got;
      }
      results.push_back(result);
    }
    return results;
  }
};
} // namespace

void triton::populateGatherPatterns(const LoweringContext &context) {
  context.add<GatherPattern>();
}

//===-- MapElementwiseOpToLLVM.cpp - The user's scalar code ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"
#include "tile/Conversion/TritonGPUToLLVM/InlineRegion.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// `pack` registers in a row go through one copy of the region.
struct MapElementwisePattern : TargetPattern<MapElementwiseOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(MapElementwiseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    unsigned pack = op.getPack();
    // Registers that repeat others take part only where they must.
    SmallVector<int32_t> first =
        getFirstRegisters(op.getSrcs().front().getType());
    SmallVector<int32_t> distinct;
    for (auto [r, same] : llvm::enumerate(first))
      if (static_cast<int32_t>(r) == same)
        distinct.push_back(r);
    // Where a thread holds fewer elements than a copy takes, repeat the last.
    while (distinct.size() % pack)
      distinct.push_back(distinct.back());

    SmallVector<SmallVector<Value>> operands;
    for (auto [value, original] : llvm::zip(adaptor.getSrcs(), op.getSrcs()))
      operands.push_back(unpackElements(b, value, original.getType()));
    SmallVector<SmallVector<Value>> results(op.getNumResults(),
                                            SmallVector<Value>(first.size()));
    for (unsigned start = 0; start < distinct.size(); start += pack) {
      ArrayRef<int32_t> registers = ArrayRef(distinct).slice(start, pack);
      SmallVector<Value> args;
      for (const SmallVector<Value> &values : operands)
        for (int32_t r : registers)
          args.push_back(values[r]);
      SmallVector<Value> returned =
          inlineRegion(b, getConverter(), op.getScalarOp(), args);
      for (auto [i, values] : llvm::enumerate(results))
        for (auto [k, r] : llvm::enumerate(registers))
          if (!values[r])
            values[r] = returned[i * pack + k];
    }
    SmallVector<Value> packed;
    for (auto [values, result] : llvm::zip(results, op.getResults())) {
      for (auto [r, same] : llvm::enumerate(first))
        values[r] = values[same];
      packed.push_back(
          packElements(b, getConverter(), values, result.getType()));
    }
    rewriter.replaceOp(op, packed);
    return success();
  }
};
} // namespace

void triton::populateMapElementwisePatterns(const LoweringContext &context) {
  context.add<MapElementwisePattern>();
}

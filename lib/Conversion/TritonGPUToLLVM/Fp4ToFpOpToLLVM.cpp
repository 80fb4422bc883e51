//===-- Fp4ToFpOpToLLVM.cpp - Numbers of four bits to 16 bits -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Fp4ToFp.h"

#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

namespace {
struct Fp4ToFpPattern : TargetPattern<ttg::Fp4ToFpOp> {
  Fp4ToFpPattern(const LoweringContext &context, ExtendFp4 extend)
      : TargetPattern(context.converter, context.target, context.benefit),
        extend(extend) {}

  LogicalResult
  matchAndRewrite(ttg::Fp4ToFpOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    auto resultType = cast<RankedTensorType>(op.getType());
    Type element = resultType.getElementType();
    SmallVector<Value> bytes = unpackElements(b, adaptor.getSrc(), sourceType);
    unsigned count = bytes.size();
    // Four bytes, eight numbers at a time.
    bytes.resize(llvm::alignTo(count, 4), bytes.back());
    SmallVector<Value> numbers;
    for (unsigned i = 0; i < bytes.size(); i += 4) {
      Value word =
          b.bitcast(b.packVector(ArrayRef(bytes).slice(i, 4)), b.intTy(32));
      for (Value pair : extend(b, word, element.isBF16()))
        llvm::append_range(
            numbers, b.unpackVector(b.bitcast(pair, b.vecTy(element, 2))));
    }

    // Both numbers of a byte are in the byte's thread; in which registers, the
    // layouts say.
    LinearLayout source = toLinearLayout(sourceType);
    LinearLayout sourceRegisters =
        source.sublayout({kRegister}, source.getOutDimNames());
    RegisterTable table(toLinearLayout(resultType));
    llvm::DenseMap<int32_t, Value> valueAt;
    for (unsigned r = 0; r < count; ++r) {
      SmallVector<int32_t> coords(sourceType.getRank());
      for (auto [dim, at] :
           sourceRegisters.apply({{kRegister, static_cast<int32_t>(r)}}))
        coords[source.getOutDimIndex(dim)] = at;
      coords[op.getAxis()] *= 2;
      for (unsigned half : {0, 1}) {
        int32_t place = table.lookup(coords);
        if (place < 0)
          return this->decline(op, "the layout of the result puts a number "
                                   "into another thread");
        valueAt[place] = numbers[2 * r + half];
        ++coords[op.getAxis()];
      }
    }
    SmallVector<Value> results;
    LinearLayout result = toLinearLayout(resultType);
    LinearLayout resultRegisters =
        result.sublayout({kRegister}, result.getOutDimNames());
    for (int32_t r = 0, e = result.getInDimSize(kRegister); r < e; ++r) {
      SmallVector<int32_t> coords(resultType.getRank());
      for (auto [dim, at] : resultRegisters.apply({{kRegister, r}}))
        coords[result.getOutDimIndex(dim)] = at;
      Value value = valueAt.lookup(table.lookup(coords));
      if (!value)
        return this->decline(op, "a register has no source");
      results.push_back(value);
    }
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, resultType));
    return success();
  }

private:
  ExtendFp4 extend;
};
} // namespace

void triton::populateFp4ToFpPatterns(const LoweringContext &context,
                                     ExtendFp4 extend) {
  context.patterns.add<Fp4ToFpPattern>(context, extend);
}

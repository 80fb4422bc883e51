//===-- DotFMAToLLVM.cpp - Matrix products without matrix units -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread has the rows of A and the columns of B that its part of the
// result needs, over the whole inner dimension. #ttg.dot_op of the result's
// layout says so. Registers are matched by coordinates. Where that is much
// code, `roll-fma-dots` has made loops of such dots.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/FloatConversion.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
struct DotFMAPattern : TargetPattern<DotOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(DotOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto aType = cast<RankedTensorType>(op.getA().getType());
    auto bType = cast<RankedTensorType>(op.getB().getType());
    auto dType = cast<RankedTensorType>(op.getType());
    LinearLayout aLayout = toLinearLayout(aType),
                 bLayout = toLinearLayout(bType),
                 dLayout = toLinearLayout(dType);
    unsigned rank = dType.getRank();
    StringRef row = kDim(rank - 2), column = kDim(rank - 1);
    // The thread's place must be the same in all three.
    for (StringRef dim : {StringRef(kLane), StringRef(kWarp)})
      for (unsigned i = 0, e = dLayout.getInDimSizeLog2(dim); i < e; ++i)
        for (unsigned d = 0; d < rank; ++d) {
          int32_t inD = dLayout.getBasis(dim, i, kDim(d));
          int32_t inA = aLayout.getBasis(dim, i, kDim(d));
          int32_t inB = bLayout.getBasis(dim, i, kDim(d));
          bool fits = (kDim(d) == column ? inA == 0 : inA == inD) &&
                      (kDim(d) == row ? inB == 0 : inB == inD);
          if (!fits)
            return this->decline(
                op, "the operands are not laid out for the result's threads");
        }
    LLVMBuilder b(op.getLoc(), rewriter);
    Type element = getConverter().convertType(dType.getElementType());
    SmallVector<Value> aValues =
        widen(b, unpackElements(b, adaptor.getA(), aType), aType, element);
    SmallVector<Value> bValues =
        widen(b, unpackElements(b, adaptor.getB(), bType), bType, element);
    if (aValues.empty() || bValues.empty())
      return this->decline(op, "unsupported element types");
    SmallVector<Value> dValues = unpackElements(b, adaptor.getC(), dType);

    RegisterTable aTable(aLayout), bTable(bLayout);
    LinearLayout dRegisters =
        dLayout.sublayout({kRegister}, dLayout.getOutDimNames());
    int64_t inner = aType.getShape().back();
    for (int32_t r = 0, e = dValues.size(); r < e; ++r) {
      SmallVector<int32_t> at(rank);
      for (auto [dim, value] : dRegisters.apply({{kRegister, r}}))
        at[dLayout.getOutDimIndex(dim)] = value;
      Value sum = dValues[r];
      for (int64_t k = 0; k < inner; ++k) {
        SmallVector<int32_t> aAt(at), bAt(at);
        aAt[rank - 1] = k;
        bAt[rank - 2] = k;
        int32_t ra = aTable.lookup(aAt), rb = bTable.lookup(bAt);
        if (ra < 0 || rb < 0)
          return this->decline(
              op, "a thread lacks elements of its rows or columns");
        sum = isa<FloatType>(element)
                  ? b.create<LLVM::FMAOp>(aValues[ra], bValues[rb], sum)
                        .getResult()
                  : b.add(b.mul(aValues[ra], bValues[rb]), sum);
      }
      dValues[r] = sum;
    }
    rewriter.replaceOp(op, packElements(b, getConverter(), dValues, dType));
    return success();
  }

private:
  /// Operands in the type of the result.
  static SmallVector<Value> widen(const LLVMBuilder &b,
                                  SmallVector<Value> values,
                                  RankedTensorType type, Type element) {
    for (Value &value : values) {
      if (isa<FloatType>(element))
        value = convertFloat(b, value, type.getElementType(), element,
                             RoundingMode::RTNE);
      else
        value = b.sext(element, value);
      if (!value)
        return {};
    }
    return values;
  }
};
} // namespace

void triton::populateDotFMAPatterns(const LoweringContext &context) {
  context.add<DotFMAPattern>();
}

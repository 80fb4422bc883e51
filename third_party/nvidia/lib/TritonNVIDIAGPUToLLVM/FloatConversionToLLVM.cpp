//===-- FloatConversionToLLVM.cpp - cvt on pairs --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine converts two values at once: f32 to f16, bf16 and 8-bit floats,
// and 8-bit floats to f16. Registers are taken in pairs. What has no such
// instruction on the target is left to the common lowering.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "tile/Conversion/TritonGPUToLLVM/FloatConversion.h"
#include "tile/Conversion/TritonGPUToLLVM/FloatPairPattern.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;

namespace {
using Pair = FloatPair;

StringRef fp8Name(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return "";
}

/// One of the conversions that the model has: all are of pairs.
Pair convertPair(const LLVMBuilder &b, Pair values, Type from, Type to,
                 RoundingMode rounding) {
  Type f16 = b.getBuilder().getF16Type(), f32 = b.getBuilder().getF32Type();
  auto split = [&](Value vector) {
    return Pair{b.extractElem(vector, 0), b.extractElem(vector, 1)};
  };
  // Instructions put their first operand into the upper half.
  if (from.isF32() && (to.isF16() || to.isBF16())) {
    std::string name = std::string("llvm.nvvm.ff2") +
                       (to.isF16() ? "f16x2" : "bf16x2") +
                       (rounding == RoundingMode::RTZ ? ".rz" : ".rn");
    return split(b.intrinsic(LLVMBuilder::vecTy(to, 2), name,
                             ValueRange{values[1], values[0]}));
  }
  if (StringRef format = fp8Name(to); !format.empty()) {
    Value word;
    if (from.isF16()) {
      word = b.intrinsic(b.intTy(16),
                         ("llvm.nvvm.f16x2.to." + format + "x2.rn").str(),
                         b.packVector(values));
    } else {
      for (Value &value : values)
        if (from.isF64())
          value = narrowToOdd(b, value);
        else if (!from.isF32())
          value = b.fpext(f32, value);
      word = b.intrinsic(b.intTy(16),
                         ("llvm.nvvm.ff.to." + format + "x2.rn").str(),
                         ValueRange{values[1], values[0]});
    }
    return split(b.bitcast(word, LLVMBuilder::vecTy(b.intTy(8), 2)));
  }
  Value word = b.bitcast(b.packVector(values), b.intTy(16));
  Pair halves = split(b.intrinsic(
      LLVMBuilder::vecTy(f16, 2),
      ("llvm.nvvm." + fp8Name(from) + "x2.to.f16x2.rn").str(), word));
  for (Value &value : halves)
    value = convertFloat(b, value, f16, to, RoundingMode::RTNE);
  return halves;
}

/// An integer of 32 or 64 bits to bf16, rounded once: to odd where it becomes
/// an f32 on the way.
Value integerToBF16(const LLVMBuilder &b, Value value, bool isSigned) {
  Type f32 = b.getBuilder().getF32Type(), i32 = b.intTy(32);
  std::string name = std::string(isSigned ? "" : "u") +
                     (value.getType().isInteger(64) ? "ll" : "i");
  Value cut = b.intrinsic(f32, "llvm.nvvm." + name + "2f.rz", value);
  Value back = b.intrinsic(value.getType(), "llvm.nvvm.f2" + name + ".rz", cut);
  Value odd = b.or_(b.bitcast(cut, i32), b.zext(i32, b.ne(back, value)));
  return b.fptrunc(b.getBuilder().getBF16Type(), b.bitcast(odd, f32));
}

/// Before sm_90, which converts integers to bf16, LLVM rounds to f32 first.
template <typename OpT> struct IntegerToBF16Pattern : TargetPattern<OpT> {
  IntegerToBF16Pattern(const LoweringContext &context,
                       const nvt::TargetInfo &target)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getType(), sourceType = op.getIn().getType();
    if (facts.hasBF16Arithmetic || !getTensorElementOrSelf(type).isBF16())
      return this->decline(op, "a conversion that rounds once");
    if (getTensorElementOrSelf(sourceType).getIntOrFloatBitWidth() < 32)
      return this->decline(op, "f32 holds these integers");
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values = unpackElements(b, adaptor.getIn(), sourceType);
    for (Value &value : values)
      value = integerToBF16(b, value, std::is_same_v<OpT, arith::SIToFPOp>);
    rewriter.replaceOp(op, packElements(b, this->getConverter(), values, type));
    return success();
  }

private:
  const NVIDIATarget &facts;
};
} // namespace

void nvt::populateFloatConversionPatterns(const LoweringContext &context,
                                          const TargetInfo &target) {
  const nvt::TargetModel &model = target.getModel();
  FloatPairConversions pairs;
  pairs.has = [&model](Type from, Type to, RoundingMode rounding) {
    return model.hasFloatConversion(from, to, rounding);
  };
  pairs.isBetterAlone = [](Type from, Type to) {
    return from.isF32() && fp8Name(to).empty();
  };
  pairs.convert = convertPair;
  populateFloatPairPatterns(context, pairs);
  context.patterns.add<IntegerToBF16Pattern<arith::SIToFPOp>,
                       IntegerToBF16Pattern<arith::UIToFPOp>>(context, target);
}

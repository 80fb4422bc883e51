//===-- FloatPairPattern.h - Conversions of two floats ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machines convert between floating-point formats two values at once. Registers
// are taken in pairs.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_FLOATPAIRPATTERN_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_FLOATPAIRPATTERN_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"

namespace mlir::triton {

using FloatPair = std::array<Value, 2>;

/// The conversions that a machine has. Formats of 8 bits are bytes.
struct FloatPairConversions {
  std::function<bool(Type from, Type to, RoundingMode rounding)> has;
  /// Whether one value alone is cheaper to convert by itself.
  std::function<bool(Type from, Type to)> isBetterAlone;
  std::function<FloatPair(const LLVMBuilder &b, FloatPair values, Type from,
                          Type to, RoundingMode rounding)>
      convert;
};

template <typename OpT> class FloatPairPattern : public TargetPattern<OpT> {
public:
  FloatPairPattern(const LoweringContext &context,
                   const FloatPairConversions &machine)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        machine(machine) {}

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    Type sourceType = op->getOperand(0).getType();
    Type from = getTensorElementOrSelf(sourceType);
    Type to = getTensorElementOrSelf(type);
    RoundingMode rounding = getRounding(op);
    if (!machine.has(from, to, rounding))
      return this->decline(op, "no conversion of pairs");
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values =
        unpackElements(b, adaptor.getOperands().front(), sourceType);
    SmallVector<int32_t> first = getFirstRegisters(type), distinct;
    for (auto [i, same] : llvm::enumerate(first))
      if (static_cast<int32_t>(i) == same)
        distinct.push_back(i);
    if (distinct.size() == 1 && machine.isBetterAlone(from, to))
      return this->decline(op, "no pairs");
    SmallVector<Value> results(values.size());
    for (size_t i = 0; i < distinct.size(); i += 2) {
      int32_t low = distinct[i];
      int32_t high = distinct[std::min(i + 1, distinct.size() - 1)];
      FloatPair pair =
          machine.convert(b, {values[low], values[high]}, from, to, rounding);
      results[high] = pair[1];
      results[low] = pair[0];
    }
    for (auto [i, same] : llvm::enumerate(first))
      results[i] = results[same];
    rewriter.replaceOp(op,
                       packElements(b, this->getConverter(), results, type));
    return success();
  }

private:
  static RoundingMode getRounding(FpToFpOp op) {
    return op.getRounding().value_or(RoundingMode::RTNE);
  }
  static RoundingMode getRounding(arith::ExtFOp) { return RoundingMode::RTNE; }
  static RoundingMode getRounding(arith::TruncFOp op) {
    return op.getRoundingmode() == arith::RoundingMode::toward_zero
               ? RoundingMode::RTZ
               : RoundingMode::RTNE;
  }

  FloatPairConversions machine;
};

inline void populateFloatPairPatterns(const LoweringContext &context,
                                      const FloatPairConversions &conversions) {
  context.patterns
      .add<FloatPairPattern<FpToFpOp>, FloatPairPattern<arith::ExtFOp>,
           FloatPairPattern<arith::TruncFOp>>(context, conversions);
}

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_FLOATPAIRPATTERN_H

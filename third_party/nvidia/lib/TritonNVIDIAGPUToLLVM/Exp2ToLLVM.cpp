//===-- Exp2ToLLVM.cpp - Powers of two, some by a polynomial --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// 2^x = 2^n * 2^f, where n is the integer below x, and f is in [0, 1). After
// the addition of 1.5 * 2^23, rounded down, n is in the lowest bits of the sum.
// Shifted up it becomes an exponent. 2^f is a polynomial of degree 3, whose
// value at 0 is 1. Its coefficients make the largest relative error least.
//
// What is below -127 becomes -127, whose power is 0 here: ex2.approx.ftz makes
// 0 of all powers below 2^-126. What is above 128 becomes 128, whose power is
// infinity. NaN stays NaN.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Exponentials.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {

constexpr float kCoefficients[] = {1.0f, 0.69511676f, 0.227645f, 0.07706704f};
/// 1.5 * 2^23.
constexpr float kRounder = 12582912.0f;
constexpr int kMantissaBits = 23, kOneBits = 0x3f800000;
constexpr float kLeast = -127.0f, kMost = 128.0f;

/// The power of two of both numbers.
SmallVector<Value> emitPolynomials(const LLVMBuilder &b, ArrayRef<Value> x) {
  Type f32 = x.front().getType();
  auto repeat = [&](float value) {
    Value number = b.floatVal(f32, value);
    return b.packVector({number, number});
  };
  SmallVector<Value> clamped;
  for (Value value : x)
    clamped.push_back(b.create<LLVM::MinimumOp>(
        b.create<LLVM::MaximumOp>(value, b.floatVal(f32, kLeast)),
        b.floatVal(f32, kMost)));
  Value pair = b.packVector(clamped), rounder = repeat(kRounder);
  nvt::PTXAsm ptx(b);
  auto sum = ptx.output("l");
  auto left = ptx.input(b.bitcast(pair, b.intTy(64)), "l"),
       right = ptx.input(b.bitcast(rounder, b.intTy(64)), "l");
  ptx << "add.rm.f32x2 " << sum << ", " << left << ", " << right << ";";
  Value shifted = b.bitcast(ptx.emit({b.intTy(64)}, nvt::PTXAsm::Pure).front(),
                            pair.getType());
  Value whole = b.create<LLVM::FSubOp>(shifted, rounder);
  Value part = b.create<LLVM::FSubOp>(pair, whole);
  Value power = repeat(kCoefficients[3]);
  for (int i : {2, 1, 0})
    power = b.create<LLVM::FMAOp>(part, power, repeat(kCoefficients[i]));
  SmallVector<Value> scales;
  for (Value value : b.unpackVector(shifted)) {
    Value bits = b.bitcast(value, b.intTy(32));
    bits = b.add(b.shl(bits, b.i32(kMantissaBits)), b.i32(kOneBits));
    scales.push_back(b.bitcast(bits, f32));
  }
  return b.unpackVector(b.fmul(power, b.packVector(scales)));
}

struct Exp2Pattern : TargetPattern<math::Exp2Op> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto pairs = op->getAttrOfType<IntegerAttr>(ttng::kPolynomialPairsAttrName);
    if (!pairs || pairs.getInt() < 1 ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values =
        unpackElements(b, adaptor.getOperand(), op.getOperand().getType());
    SmallVector<Value> results;
    for (size_t pair = 0; 2 * pair < values.size(); ++pair) {
      auto both = ArrayRef(values).drop_front(2 * pair).take_front(2);
      bool isLast = int64_t(pair) % pairs.getInt() == pairs.getInt() - 1;
      if (isLast && both.size() == 2) {
        llvm::append_range(results, emitPolynomials(b, both));
        continue;
      }
      for (Value value : both)
        results.push_back(
            b.intrinsic(value.getType(), "llvm.nvvm.ex2.approx.ftz", value));
    }
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, op.getType()));
    return success();
  }
};

} // namespace

void nvt::populateExp2Patterns(const LoweringContext &c) {
  // Before the pattern of all other powers.
  LoweringContext first{c.converter, c.target, c.patterns, c.axisInfo,
                        PatternBenefit(c.benefit.getBenefit() + 1)};
  first.add<Exp2Pattern>();
}

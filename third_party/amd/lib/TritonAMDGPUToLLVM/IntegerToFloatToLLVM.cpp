//===-- IntegerToFloatToLLVM.cpp - Integers to bf16 -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM makes an f32 of the integer and a bf16 of that, which rounds twice where
// the f32 does not hold the integer.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"

using namespace mlir;
using namespace mlir::triton;

/// An f32 of the integer's first 24 bits. The last one is set if any bit behind
/// them is. This is rounding to odd, so the next rounding is the only one.
static Value toOddF32(const LLVMBuilder &b, Value magnitude) {
  constexpr int kSignificand = 24, kBias = 127, kFractionBits = 23;
  Type type = magnitude.getType(), i32 = b.intTy(32);
  Type f32 = b.getBuilder().getF32Type();
  int bits = type.getIntOrFloatBitWidth();
  Value zeros = b.intrinsic(type, "llvm.ctlz", {magnitude, b.i1(false)});
  Value surplus = b.sub(b.intVal(bits, bits - kSignificand), zeros);
  Value fits = b.slt(surplus, b.intVal(bits, 0));
  surplus = b.select(fits, b.intVal(bits, 0), surplus);
  Value kept = b.lshr(magnitude, surplus);
  Value isCut = b.ne(b.shl(kept, surplus), magnitude);
  kept = b.or_(kept, b.zext(type, isCut));
  if (bits > 32) {
    kept = b.trunc(i32, kept);
    surplus = b.trunc(i32, surplus);
  }
  Value scale =
      b.bitcast(b.shl(b.add(surplus, b.i32(kBias)), b.i32(kFractionBits)), f32);
  return b.fmul(b.create<LLVM::UIToFPOp>(f32, kept), scale);
}

template <typename OpT>
static void addRoundedOnce(const LoweringContext &context) {
  addElementwise<OpT>(
      context,
      [](OpT, const LLVMBuilder &b, Type type, ValueRange args) -> Value {
        Value value = args[0];
        auto integer = dyn_cast<IntegerType>(value.getType());
        // An f32 holds the narrower ones.
        if (!type.isBF16() || !integer || integer.getWidth() < 32)
          return {};
        if constexpr (std::is_same_v<OpT, arith::UIToFPOp>)
          return b.fptrunc(type, toOddF32(b, value));
        Value zero = b.intVal(integer.getWidth(), 0);
        Value isNegative = b.slt(value, zero);
        Value odd =
            toOddF32(b, b.select(isNegative, b.sub(zero, value), value));
        Value negated = b.create<LLVM::FNegOp>(odd);
        return b.fptrunc(type, b.select(isNegative, negated, odd));
      });
}

void amd::populateIntegerToFloatPatterns(const LoweringContext &context) {
  addRoundedOnce<arith::SIToFPOp>(context);
  addRoundedOnce<arith::UIToFPOp>(context);
}

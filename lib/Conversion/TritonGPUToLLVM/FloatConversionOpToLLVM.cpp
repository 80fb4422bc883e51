//===-- FloatConversionOpToLLVM.cpp - Between floating-point formats ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 16 bits and more are LLVM's business. 8-bit formats are bytes: what follows
// here converts them in integer arithmetic, for targets without instructions
// for that. Conversions to 8 bits saturate, as the instructions do.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"
#include "tile/Conversion/TritonGPUToLLVM/FloatConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// An 8-bit format with a sign, `exponentBits`, `mantissaBits`.
struct SmallFloat {
  unsigned mantissaBits;
  int bias;
  double maximum;
  int nan; ///< code without sign
  /// Without negative zero, whose code is the only NaN.
  bool isFNUZ = false;
};

std::optional<SmallFloat> getSmallFloat(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return SmallFloat{3, 7, 448.0, 0x7f};
  if (isa<Float8E5M2Type>(type))
    return SmallFloat{2, 15, 57344.0, 0x7f};
  if (isa<Float8E4M3FNUZType>(type))
    return SmallFloat{3, 8, 240.0, 0x80, /*isFNUZ=*/true};
  if (isa<Float8E5M2FNUZType>(type))
    return SmallFloat{2, 16, 57344.0, 0x80, /*isFNUZ=*/true};
  return std::nullopt;
}

/// A magnitude of f8E5M2FNUZ, in the upper half of 16 bits, to f16, which has
/// half the bias: a smaller exponent, or half of a small number, exactly.
Value halveExponent(const LLVMBuilder &b, Value placed) {
  Type i16 = b.intTy(16), f16 = b.getBuilder().getF16Type();
  Value less = b.sub(placed, b.intVal(16, 0x400));
  Value half =
      b.bitcast(b.fmul(b.bitcast(placed, f16), b.floatVal(f16, 0.5)), i16);
  return b.select(b.ult(placed, b.intVal(16, 0x800)), half, less);
}

Value widenFNUZ(const LLVMBuilder &b, Value byte, Type format) {
  Type i16 = b.intTy(16), f16 = b.getBuilder().getF16Type();
  Value code = b.zext(i16, byte);
  Value magnitude = b.and_(code, b.intVal(16, 0x7f));
  Value value;
  if (isa<Float8E5M2FNUZType>(format)) {
    value = halveExponent(b, b.shl(magnitude, b.intVal(16, 8)));
  } else {
    Value placed = b.bitcast(b.shl(magnitude, b.intVal(16, 7)), f16);
    value = b.bitcast(b.fmul(placed, b.floatVal(f16, 128.0)), i16);
  }
  Value sign = b.shl(b.and_(code, b.intVal(16, 0x80)), b.intVal(16, 8));
  Value isNan = b.eq(code, b.intVal(16, 0x80));
  return b.bitcast(b.select(isNan, b.intVal(16, 0x7fff), b.or_(value, sign)),
                   f16);
}

/// To f16, which holds all values of all formats.
Value widenToHalf(const LLVMBuilder &b, Value byte, Type format) {
  if (isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(format))
    return widenFNUZ(b, byte, format);
  Type i16 = b.intTy(16), f16 = b.getBuilder().getF16Type();
  Value code = b.zext(i16, byte);
  if (isa<Float8E5M2Type>(format)) // the upper half of an f16
    return b.bitcast(b.shl(code, b.intVal(16, 8)), f16);
  // The exponent field is one bit shorter and its bias 8 smaller: place the
  // bits, then multiply by 2^8, which is exact for denormals as well.
  Value magnitude = b.and_(code, b.intVal(16, 0x7f));
  Value placed = b.bitcast(b.shl(magnitude, b.intVal(16, 7)), f16);
  Value scaled = b.bitcast(b.fmul(placed, b.floatVal(f16, 256.0)), i16);
  Value isNan = b.eq(magnitude, b.intVal(16, 0x7f));
  Value value = b.select(isNan, b.intVal(16, 0x7fff), scaled);
  Value sign = b.shl(b.and_(code, b.intVal(16, 0x80)), b.intVal(16, 8));
  return b.bitcast(b.or_(value, sign), f16);
}

Value narrowFromFloat(const LLVMBuilder &b, Value value, const SmallFloat &to,
                      RoundingMode rounding) {
  Type f32 = b.getBuilder().getF32Type(), i32 = b.intTy(32);
  Value bits = b.bitcast(value, i32);
  Value sign = b.and_(b.lshr(bits, b.i32(24)), b.i32(0x80));
  Value magnitudeBits = b.and_(bits, b.i32(0x7fffffff));
  Value isNan =
      b.icmp(LLVM::ICmpPredicate::ugt, magnitudeBits, b.i32(0x7f800000));
  Value magnitude = b.create<LLVM::MinNumOp>(b.bitcast(magnitudeBits, f32),
                                             b.floatVal(f32, to.maximum));
  Value code = b.bitcast(magnitude, i32);
  unsigned dropped = 23 - to.mantissaBits;
  int32_t rebias = (127 - to.bias) << to.mantissaBits;
  bool nearest = rounding == RoundingMode::RTNE;

  // Normal results: round to nearest even at the last bit that stays.
  Value rounded = code;
  if (nearest) {
    Value odd = b.and_(b.lshr(code, b.i32(dropped)), b.i32(1));
    rounded = b.add(b.add(code, b.i32((1 << (dropped - 1)) - 1)), odd);
  }
  Value normal = b.sub(b.lshr(rounded, b.i32(dropped)), b.i32(rebias));

  // Denormal results are multiples of the smallest one: adding 2^23 times that
  // leaves the multiple, rounded, in the low bits.
  int smallest = 1 - to.bias - static_cast<int>(to.mantissaBits);
  double anchor = std::ldexp(1.0, 23 + smallest);
  Value denormal;
  if (nearest) {
    Value shifted = b.fadd(magnitude, b.floatVal(f32, anchor));
    Value anchorBits = b.bitcast(b.floatVal(f32, anchor), i32);
    denormal = b.sub(b.bitcast(shifted, i32), anchorBits);
  } else {
    Value multiple =
        b.fmul(magnitude, b.floatVal(f32, std::ldexp(1.0, -smallest)));
    denormal = b.create<LLVM::FPToUIOp>(i32, multiple);
  }
  Value isDenormal =
      b.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::olt, magnitude,
                             b.floatVal(f32, std::ldexp(1.0, 1 - to.bias)));
  Value result = b.select(isDenormal, denormal, normal);
  if (to.isFNUZ) {
    Value isZero = b.eq(result, b.i32(0));
    result = b.or_(result, b.select(isZero, b.i32(0), sign));
    return b.trunc(b.intTy(8), b.select(isNan, b.i32(to.nan), result));
  }
  result = b.select(isNan, b.i32(to.nan), result);
  return b.trunc(b.intTy(8), b.or_(result, sign));
}

/// Truncation toward zero, from rounding to nearest: one step back where that
/// went away from zero.
Value truncateTowardZero(const LLVMBuilder &b, Value value, Type type) {
  Value nearest = b.fptrunc(type, value);
  Value back = b.fpext(value.getType(), nearest);
  Value away = b.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::ogt,
                                      b.create<LLVM::FAbsOp>(back),
                                      b.create<LLVM::FAbsOp>(value));
  Type bits = b.intTy(type.getIntOrFloatBitWidth());
  Value asInt = b.bitcast(nearest, bits);
  return b.bitcast(b.sub(asInt, b.zext(bits, away)), type);
}
} // namespace

Value triton::narrowToOdd(const LLVMBuilder &b, Value value) {
  Type f32 = b.getBuilder().getF32Type(), i32 = b.intTy(32);
  Value cut = truncateTowardZero(b, value, f32);
  Value inexact = b.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::une,
                                         b.fpext(value.getType(), cut), value);
  return b.bitcast(b.or_(b.bitcast(cut, i32), b.zext(i32, inexact)), f32);
}

Value triton::convertFloat(const LLVMBuilder &b, Value value, Type from,
                           Type to, RoundingMode rounding) {
  if (from == to)
    return value;
  MLIRContext *ctx = b.getContext();
  Type f16 = Float16Type::get(ctx), f32 = Float32Type::get(ctx);
  if (from.getIntOrFloatBitWidth() == 8) {
    if (!getSmallFloat(from))
      return {};
    return convertFloat(b, widenToHalf(b, value, from), f16, to, rounding);
  }
  if (to.getIntOrFloatBitWidth() == 8) {
    std::optional<SmallFloat> format = getSmallFloat(to);
    if (!format)
      return {};
    bool twice = from.isF64() && rounding == RoundingMode::RTNE;
    Value single = twice ? narrowToOdd(b, value)
                         : convertFloat(b, value, from, f32, rounding);
    return narrowFromFloat(b, single, *format, rounding);
  }
  unsigned fromBits = from.getIntOrFloatBitWidth();
  unsigned toBits = to.getIntOrFloatBitWidth();
  if (fromBits == toBits) // f16 and bf16
    return convertFloat(b, b.fpext(f32, value), f32, to, rounding);
  if (fromBits < toBits)
    return b.fpext(to, value);
  return rounding == RoundingMode::RTZ ? truncateTowardZero(b, value, to)
                                       : b.fptrunc(to, value);
}

void triton::populateFloatConversionPatterns(const LoweringContext &context) {
  auto convert = [](auto op, const LLVMBuilder &b, ValueRange args,
                    RoundingMode rounding) {
    return convertFloat(
        b, args[0], getTensorElementOrSelf(op->getOperand(0).getType()),
        getTensorElementOrSelf(op->getResult(0).getType()), rounding);
  };
  addElementwise<FpToFpOp>(context, [=](FpToFpOp op, const LLVMBuilder &b, Type,
                                        ValueRange args) {
    return convert(op, b, args, op.getRounding().value_or(RoundingMode::RTNE));
  });
  addElementwise<arith::ExtFOp>(
      context,
      [=](arith::ExtFOp op, const LLVMBuilder &b, Type, ValueRange args) {
        return convert(op, b, args, RoundingMode::RTNE);
      });
  addElementwise<arith::TruncFOp>(context, [=](arith::TruncFOp op,
                                               const LLVMBuilder &b, Type,
                                               ValueRange args) {
    bool towardZero = op.getRoundingmode() &&
                      *op.getRoundingmode() == arith::RoundingMode::toward_zero;
    return convert(op, b, args,
                   towardZero ? RoundingMode::RTZ : RoundingMode::RTNE);
  });
}

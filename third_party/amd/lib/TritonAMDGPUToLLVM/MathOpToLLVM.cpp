//===-- MathOpToLLVM.cpp - Mathematical functions -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Powers of 2, logarithms and roots of f32 are LLVM's: it knows the
// instructions, and how to be right about denormals. The rest, and f64, are
// functions of our device library. 16-bit floats are computed in f32.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tile/Conversion/TritonGPUToLLVM/DeviceFunction.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// `body` on f32, and by way of it on 16 bits; a function of the device library
/// on f64.
template <typename OpT>
void addFloat32(
    const LoweringContext &context, StringRef name,
    std::function<Value(const LLVMBuilder &, Type, ValueRange)> body) {
  addElementwise<OpT>(
      context,
      [name = name.str(), body](OpT, const LLVMBuilder &b, Type type,
                                ValueRange args) -> Value {
        if (!isa<FloatType>(type))
          return {};
        return computeInFloat32(b, type, args, [&](Type t, ValueRange wide) {
          return t.isF64() ? callDeviceFunction(b, name, t, wide)
                           : body(b, t, wide);
        });
      });
}

template <typename OpT>
void addIntrinsic(const LoweringContext &context, StringRef name,
                  StringRef intrinsic) {
  addFloat32<OpT>(context, name,
                  [intrinsic = intrinsic.str()](const LLVMBuilder &b, Type type,
                                                ValueRange args) {
                    return b.intrinsic(type, intrinsic, args);
                  });
}

/// exp(x). The factor times x is rounded, which costs as many ulps as x is
/// large.
Value exponential(const LLVMBuilder &b, Type type, ValueRange args) {
  Value scaled = b.fmul(args[0], b.floatVal(type, llvm::numbers::log2e));
  return b.intrinsic(type, "llvm.exp2", scaled);
}

/// 1 / sqrt(x). The instruction takes denormals for zeros, so small numbers are
/// multiplied by 2^48 first.
Value reciprocalRoot(const LLVMBuilder &b, Type type, ValueRange args) {
  Value x = args[0];
  Value isSmall = b.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::olt, x,
                                         b.floatVal(type, 0x1p-100));
  Value scaled = b.select(isSmall, b.fmul(x, b.floatVal(type, 0x1p48)), x);
  Value root = b.intrinsic(type, "llvm.amdgcn.rsq", scaled);
  return b.select(isSmall, b.fmul(root, b.floatVal(type, 0x1p24)), root);
}

/// x / y within 2 ulps, whose reciprocal of y serves all that y divides: two
/// multiplications each, or one where y needs no scale.
///
/// The instruction takes denormals for zeros and gives them as zeros. So large
/// and small y are multiplied by a power of 2 first, and the quotient by the
/// same one. Where that is not 1, what is in between is in range. The
/// instruction is good to 1 ulp; a step of Newton's leaves half of one, and the
/// quotient is off by 1.5. The step's correction is a NaN for zeros and
/// infinities, which the minimum replaces by what changes neither.
Value quotient(const LLVMBuilder &b, Type type, ValueRange args,
               bool isModerate) {
  Value x = args[0], y = args[1];
  auto constant = [&](double value) { return b.floatVal(type, value); };
  auto is = [&](LLVM::FCmpPredicate predicate, Value left, double right) {
    return b.create<LLVM::FCmpOp>(predicate, left, constant(right));
  };
  Value scale, scaled = y;
  if (!isModerate) {
    Value size = b.intrinsic(type, "llvm.fabs", y);
    scale = b.select(is(LLVM::FCmpPredicate::ogt, size, 0x1p96),
                     constant(0x1p-32), constant(1));
    scale = b.select(is(LLVM::FCmpPredicate::olt, size, 0x1p-96),
                     constant(0x1p32), scale);
    scaled = b.fmul(y, scale);
  }
  Value rough = b.intrinsic(type, "llvm.amdgcn.rcp", scaled);
  auto fma = [&](Value left, Value right, Value addend) {
    return b.intrinsic(type, "llvm.fma", {left, right, addend});
  };
  Value error = fma(b.create<LLVM::FNegOp>(scaled), rough, constant(1));
  error = b.intrinsic(type, "llvm.minnum", {error, constant(0x1p-20)});
  Value reciprocal = fma(error, rough, rough);
  Value result = b.fmul(x, reciprocal);
  return scale ? b.fmul(result, scale) : result;
}

/// Whether `value` is zero, infinite, NaN, or between 2^-96 and 2^96: what
/// comes from integers or from f16 is, and so are roots.
bool isModerate(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<SplatOp, BroadcastOp, ExpandDimsOp, gpu::ConvertLayoutOp>(op))
      break;
    value = op->getOperand(0);
  }
  Operation *op = value.getDefiningOp();
  if (auto extension = dyn_cast_if_present<arith::ExtFOp>(op))
    return getElementTypeOrSelf(extension.getIn().getType()).isF16();
  return isa_and_present<arith::SIToFPOp, arith::UIToFPOp, math::SqrtOp>(op);
}
} // namespace

void amd::populateMathPatterns(const LoweringContext &c) {
  addElementwise<arith::DivFOp>(
      c,
      [](arith::DivFOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        if (!type.isF32() && !type.isBF16())
          return {}; // LLVM rounds those of f16 and f64 once.
        return computeInFloat32(b, type, args, [&](Type t, ValueRange wide) {
          return quotient(b, t, wide, isModerate(op.getRhs()));
        });
      });
  addFloat32<math::ExpOp>(c, "__nv_exp", exponential);
  // People choose exp2 for speed: the instruction alone, which makes denormal
  // results zero.
  addIntrinsic<math::Exp2Op>(c, "__nv_exp2", "llvm.amdgcn.exp2");
  addIntrinsic<math::LogOp>(c, "__nv_log", "llvm.log");
  addIntrinsic<math::Log2Op>(c, "__nv_log2", "llvm.log2");
  addIntrinsic<math::Log10Op>(c, "__nv_log10", "llvm.log10");
  addFloat32<math::RsqrtOp>(c, "__nv_rsqrt", reciprocalRoot);
  addDeviceFunction<math::Log1pOp>(c, "__nv_log1p");
  addDeviceFunction<math::ExpM1Op>(c, "__nv_expm1");
  addDeviceFunction<math::SinOp>(c, "__nv_sin");
  addDeviceFunction<math::CosOp>(c, "__nv_cos");
  addDeviceFunction<math::TanOp>(c, "__nv_tan");
  addDeviceFunction<math::AsinOp>(c, "__nv_asin");
  addDeviceFunction<math::AcosOp>(c, "__nv_acos");
  addDeviceFunction<math::AtanOp>(c, "__nv_atan");
  addDeviceFunction<math::Atan2Op>(c, "__nv_atan2");
  addDeviceFunction<math::SinhOp>(c, "__nv_sinh");
  addDeviceFunction<math::CoshOp>(c, "__nv_cosh");
  addDeviceFunction<math::TanhOp>(c, "__nv_tanh");
  addDeviceFunction<math::ErfOp>(c, "__nv_erf");
  addDeviceFunction<math::PowFOp>(c, "__nv_pow");
  addDeviceFunction<math::CbrtOp>(c, "__nv_cbrt");
  addElementwise<arith::RemFOp>(c,
                                [](arith::RemFOp, const LLVMBuilder &b,
                                   Type type, ValueRange args) -> Value {
                                  if (!isa<FloatType>(type))
                                    return {};
                                  return b.create<LLVM::FRemOp>(args[0],
                                                                args[1]);
                                });
}

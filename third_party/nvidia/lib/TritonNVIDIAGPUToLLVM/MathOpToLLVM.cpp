//===-- MathOpToLLVM.cpp - Mathematical functions -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 takes the machine's approximations where they are good to an ulp or two
// (exponential, roots, quotient); everything else calls libdevice. 16-bit
// floats are computed in f32.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;

namespace {
/// Computes in f32 for 16-bit floats; otherwise calls `body` as it is.
Value inFloat32(const LLVMBuilder &b, Type type, ValueRange args,
                function_ref<Value(Type, ValueRange)> body) {
  if (!type.isF16() && !type.isBF16())
    return body(type, args);
  SmallVector<Value> wide;
  for (Value arg : args)
    wide.push_back(b.fpext(b.getBuilder().getF32Type(), arg));
  Value result = body(b.getBuilder().getF32Type(), wide);
  return result ? b.fptrunc(type, result) : result;
}

/// A pure function of libdevice.
Value callLibdevice(const LLVMBuilder &b, StringRef name, Type type,
                    ValueRange args) {
  auto module = b.getBuilder()
                    .getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b.getBuilder());
    b.getBuilder().setInsertionPointToStart(module.getBody());
    function = LLVM::LLVMFuncOp::create(
        b.getBuilder(), UnknownLoc::get(b.getContext()), name,
        LLVM::LLVMFunctionType::get(type, llvm::to_vector(args.getTypes())));
  }
  return b.create<LLVM::CallOp>(function, args).getResult();
}

template <typename OpT>
void addLibdevice(const LoweringContext &context, StringRef name) {
  addElementwise<OpT>(
      context,
      [name = name.str()](OpT, const LLVMBuilder &b, Type type,
                          ValueRange args) -> Value {
        if (!isa<FloatType>(type))
          return {};
        return inFloat32(b, type, args, [&](Type t, ValueRange wide) {
          return callLibdevice(b, t.isF64() ? name : name + "f", t, wide);
        });
      });
}

/// An intrinsic on f32, a function of libdevice on f64.
template <typename OpT>
void addApproximation(const LoweringContext &context, StringRef intrinsic,
                      StringRef libdevice) {
  addElementwise<OpT>(
      context,
      [intrinsic = intrinsic.str(), libdevice = libdevice.str()](
          OpT, const LLVMBuilder &b, Type type, ValueRange args) -> Value {
        if (!isa<FloatType>(type))
          return {};
        return inFloat32(b, type, args, [&](Type t, ValueRange wide) {
          return t.isF64() ? callLibdevice(b, libdevice, t, wide)
                           : b.intrinsic(t, intrinsic, wide);
        });
      });
}
} // namespace

void nvt::populateMathPatterns(const LoweringContext &c,
                               const TargetInfo &target) {
  // exp keeps denormal results; exp2, which people choose for speed, makes
  // them zero and saves the three instructions that they would cost.
  addElementwise<math::ExpOp>(
      c,
      [](math::ExpOp, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        return inFloat32(b, type, args, [&](Type t, ValueRange x) -> Value {
          if (t.isF64())
            return callLibdevice(b, "__nv_exp", t, x);
          constexpr double log2e = 1.4426950408889634;
          Value scaled = b.fmul(x[0], b.floatVal(t, log2e));
          return b.intrinsic(t, "llvm.nvvm.ex2.approx", scaled);
        });
      });
  addApproximation<math::Exp2Op>(c, "llvm.nvvm.ex2.approx.ftz", "__nv_exp2");
  addApproximation<math::RsqrtOp>(c, "llvm.nvvm.rsqrt.approx.f", "__nv_rsqrt");
  addApproximation<math::SqrtOp>(c, "llvm.nvvm.sqrt.approx.f", "__nv_sqrt");
  addElementwise<PreciseSqrtOp>(
      c,
      [](PreciseSqrtOp, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        return inFloat32(b, type, args, [&](Type t, ValueRange x) {
          return b.intrinsic(
              t, t.isF64() ? "llvm.nvvm.sqrt.rn.d" : "llvm.nvvm.sqrt.rn.f", x);
        });
      });
  addElementwise<arith::DivFOp>(
      c,
      [](arith::DivFOp, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        if (!isa<FloatType>(type))
          return {};
        return inFloat32(b, type, args, [&](Type t, ValueRange x) -> Value {
          if (t.isF64())
            return b.create<LLVM::FDivOp>(x[0], x[1]);
          return b.intrinsic(t, "llvm.nvvm.div.full", x);
        });
      });
  addElementwise<PreciseDivFOp>(
      c,
      [](PreciseDivFOp, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        return inFloat32(b, type, args, [&](Type t, ValueRange x) -> Value {
          return b.create<LLVM::FDivOp>(x[0], x[1]);
        });
      });

  // LLVM would multiply a rounded quotient; the remainder is exact.
  addLibdevice<arith::RemFOp>(c, "__nv_fmod");
  addLibdevice<math::LogOp>(c, "__nv_log");
  addLibdevice<math::Log2Op>(c, "__nv_log2");
  addLibdevice<math::Log10Op>(c, "__nv_log10");
  addLibdevice<math::Log1pOp>(c, "__nv_log1p");
  addLibdevice<math::ExpM1Op>(c, "__nv_expm1");
  addLibdevice<math::SinOp>(c, "__nv_sin");
  addLibdevice<math::CosOp>(c, "__nv_cos");
  addLibdevice<math::TanOp>(c, "__nv_tan");
  addLibdevice<math::AsinOp>(c, "__nv_asin");
  addLibdevice<math::AcosOp>(c, "__nv_acos");
  addLibdevice<math::AtanOp>(c, "__nv_atan");
  addLibdevice<math::Atan2Op>(c, "__nv_atan2");
  addLibdevice<math::SinhOp>(c, "__nv_sinh");
  addLibdevice<math::CoshOp>(c, "__nv_cosh");
  addLibdevice<math::TanhOp>(c, "__nv_tanh");
  addLibdevice<math::ErfOp>(c, "__nv_erf");
  addLibdevice<math::PowFOp>(c, "__nv_pow");
  addLibdevice<math::CbrtOp>(c, "__nv_cbrt");
}

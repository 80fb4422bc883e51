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
#include "mlir/IR/Matchers.h"
#include "tile/Conversion/TritonGPUToLLVM/DeviceFunction.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;

namespace {
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
        return computeInFloat32(b, type, args, [&](Type t, ValueRange wide) {
          return t.isF64() ? callDeviceFunction(b, libdevice, t, wide)
                           : b.intrinsic(t, intrinsic, wide);
        });
      });
}

/// Whether `op` is f32 and only added to constants next to which a denormal
/// number is nothing: the sigmoid's exponential.
bool isAddedToConstants(math::ExpOp op) {
  constexpr double kLeast = 0x1p-100;
  return getElementTypeOrSelf(op.getType()).isF32() && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           auto add = dyn_cast<arith::AddFOp>(user);
           if (!add)
             return false;
           Value other = add.getLhs() == op ? add.getRhs() : add.getLhs();
           FloatAttr constant;
           DenseElementsAttr elements;
           if (matchPattern(other, m_Constant(&elements)) && elements.isSplat())
             constant = elements.getSplatValue<FloatAttr>();
           else if (!matchPattern(other, m_Constant(&constant)))
             return false;
           return std::abs(constant.getValueAsDouble()) >= kLeast;
         });
}
} // namespace

void nvt::populateMathPatterns(const LoweringContext &c,
                               const TargetInfo &target) {
  // exp keeps denormal results where they matter; exp2, which people choose for
  // speed, makes them zero and saves the three instructions that they would
  // cost.
  addElementwise<math::ExpOp>(
      c,
      [](math::ExpOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        StringRef exp2 = isAddedToConstants(op) ? "llvm.nvvm.ex2.approx.ftz"
                                                : "llvm.nvvm.ex2.approx";
        return computeInFloat32(
            b, type, args, [&](Type t, ValueRange x) -> Value {
              if (t.isF64())
                return callDeviceFunction(b, "__nv_exp", t, x);
              constexpr double log2e = 1.4426950408889634;
              Value scaled = b.fmul(x[0], b.floatVal(t, log2e));
              return b.intrinsic(t, exp2, scaled);
            });
      });
  addApproximation<math::Exp2Op>(c, "llvm.nvvm.ex2.approx.ftz", "__nv_exp2");
  addApproximation<math::RsqrtOp>(c, "llvm.nvvm.rsqrt.approx.f", "__nv_rsqrt");
  addApproximation<math::SqrtOp>(c, "llvm.nvvm.sqrt.approx.f", "__nv_sqrt");
  addElementwise<PreciseSqrtOp>(
      c,
      [](PreciseSqrtOp, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        return computeInFloat32(b, type, args, [&](Type t, ValueRange x) {
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
        return computeInFloat32(
            b, type, args, [&](Type t, ValueRange x) -> Value {
              if (t.isF64())
                return b.create<LLVM::FDivOp>(x[0], x[1]);
              return b.intrinsic(t, "llvm.nvvm.div.full", x);
            });
      });
  addElementwise<PreciseDivFOp>(
      c,
      [](PreciseDivFOp, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        return computeInFloat32(b, type, args,
                                [&](Type t, ValueRange x) -> Value {
                                  return b.create<LLVM::FDivOp>(x[0], x[1]);
                                });
      });

  // LLVM would multiply a rounded quotient; the remainder is exact.
  addDeviceFunction<arith::RemFOp>(c, "__nv_fmod");
  addDeviceFunction<math::LogOp>(c, "__nv_log");
  addDeviceFunction<math::Log2Op>(c, "__nv_log2");
  addDeviceFunction<math::Log10Op>(c, "__nv_log10");
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
}

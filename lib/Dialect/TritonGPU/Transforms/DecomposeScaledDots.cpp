//===-- DecomposeScaledDots.cpp - Scaled products as plain ones -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All of the narrow formats fit into bf16 without loss, and so do their
// products with the scales, because these are powers of two or have four
// significant bits. Where an operand is fp16 the product is computed on fp16,
// and scaling goes through fp32 for the sake of its range.
//
//===----------------------------------------------------------------------===//

#include "DecomposeScaledDots.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonGPU/Transforms/MicroscalingScales.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

class ScaledDotDecomposer {
public:
  explicit ScaledDotDecomposer(DotScaledOp op)
      : op(op), b(op), loc(op.getLoc()), rank(op.getType().getRank()) {}

  LogicalResult run();

private:
  /// The operand in the compute type, not scaled yet.
  FailureOr<Value> extend(Value operand, ScaleDotElemType format, unsigned kDim,
                          bool kPack);
  Value scale(Value operand, Value scales, bool isB);

  DotScaledOp op;
  OpBuilder b;
  Location loc;
  unsigned rank;
  Type computeType;
};

FailureOr<Value> ScaledDotDecomposer::extend(Value operand,
                                             ScaleDotElemType format,
                                             unsigned kDim, bool kPack) {
  auto type = cast<RankedTensorType>(operand.getType());
  switch (format) {
  case ScaleDotElemType::E2M1: {
    unsigned axis = kPack ? kDim : (kDim == rank - 1 ? rank - 2 : rank - 1);
    FailureOr<Attribute> layout =
        Fp4ToFpOp::inferResultEncoding(type, axis, loc);
    if (failed(layout))
      return failure();
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] *= 2;
    auto extended = RankedTensorType::get(shape, computeType, *layout);
    return Value(Fp4ToFpOp::create(b, loc, extended, operand, axis));
  }
  case ScaleDotElemType::E4M3:
  case ScaleDotElemType::E5M2: {
    Type narrow = format == ScaleDotElemType::E4M3
                      ? Type(b.getType<Float8E4M3FNType>())
                      : Type(b.getType<Float8E5M2Type>());
    if (type.getElementType() != narrow)
      operand = BitcastOp::create(b, loc, type.clone(narrow), operand);
    return Value(FpToFpOp::create(b, loc, type.clone(computeType), operand));
  }
  case ScaleDotElemType::BF16:
  case ScaleDotElemType::FP16:
    if (type.getElementType() != computeType)
      return op.emitOpError("mixes bf16 and fp16 operands, which have no "
                            "common 16-bit type");
    return operand;
  default:
    return op.emitOpError("has operands in the format ")
           << stringifyScaleDotElemType(format)
           << ", for which there is no conversion";
  }
}

Value ScaledDotDecomposer::scale(Value operand, Value scales, bool isB) {
  if (!scales)
    return operand;
  auto type = cast<RankedTensorType>(operand.getType());
  Value factors = spreadScales(b, loc, scales, type, isB);
  if (computeType.isBF16())
    return arith::MulFOp::create(b, loc, operand, factors);
  RankedTensorType wide = type.clone(b.getF32Type());
  Value product = arith::MulFOp::create(
      b, loc, arith::ExtFOp::create(b, loc, wide, operand),
      arith::ExtFOp::create(b, loc, wide, factors));
  return arith::TruncFOp::create(b, loc, type, product);
}

LogicalResult ScaledDotDecomposer::run() {
  bool onFP16 = op.getAElemType() == ScaleDotElemType::FP16 ||
                op.getBElemType() == ScaleDotElemType::FP16;
  computeType = onFP16 ? Type(b.getF16Type()) : Type(b.getBF16Type());

  FailureOr<Value> lhs =
      extend(op.getA(), op.getAElemType(), rank - 1, op.getLhsKPack());
  FailureOr<Value> rhs =
      extend(op.getB(), op.getBElemType(), rank - 2, op.getRhsKPack());
  if (failed(lhs) || failed(rhs))
    return failure();
  Value a = scale(*lhs, op.getAScale(), /*isB=*/false);
  Value bValue = scale(*rhs, op.getBScale(), /*isB=*/true);

  Attribute layout = op.getType().getEncoding();
  auto asOperand = [&](Value value, unsigned index) {
    return convertTo(b, loc, value,
                     DotOperandEncodingAttr::get(op.getContext(), index, layout,
                                                 computeType));
  };
  auto dot =
      DotOp::create(b, loc, op.getType(), asOperand(a, 0), asOperand(bValue, 1),
                    op.getC(), InputPrecision::IEEE, /*maxNumImpreciseAcc=*/0);
  op.replaceAllUsesWith(dot.getResult());
  op.erase();
  return success();
}

} // namespace

LogicalResult mlir::triton::gpu::decomposeScaledDot(DotScaledOp op) {
  return ScaledDotDecomposer(op).run();
}

//===-- F32DotTC.cpp - fp32 products out of narrower ones -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-f32-dot-tc"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUF32DOTTC
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// How a dot is split.
struct Scheme {
  unsigned numParts;
  bool toBF16;
};

std::optional<Scheme> getScheme(InputPrecision precision) {
  switch (precision) {
  case InputPrecision::TF32x3:
    return Scheme{2, false};
  case InputPrecision::BF16x3:
    return Scheme{2, true};
  case InputPrecision::BF16x6:
    return Scheme{3, true};
  default:
    return std::nullopt;
  }
}

Value makeSplat(OpBuilder &b, Location loc, RankedTensorType type,
                Attribute element) {
  return arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(DenseElementsAttr::get(type, element)));
}

/// The leading bits of `value` that tf32 keeps, as fp32.
Value truncateToTF32(OpBuilder &b, Location loc, Value value) {
  // tf32 has 10 of the 23 bits of the mantissa.
  constexpr int32_t mask = ~((1 << 13) - 1);
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType intType = type.clone(b.getI32Type());
  Value bits = BitcastOp::create(b, loc, intType, value);
  Value kept = arith::AndIOp::create(
      b, loc, bits, makeSplat(b, loc, intType, b.getI32IntegerAttr(mask)));
  return BitcastOp::create(b, loc, type, kept);
}

/// Parts of decreasing weight that add up to `value`, nearly.
SmallVector<Value> split(OpBuilder &b, Location loc, Value value,
                         Scheme scheme) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> parts;
  for (unsigned i = 0; i < scheme.numParts; ++i) {
    bool last = i + 1 == scheme.numParts;
    Value part, inFull;
    if (scheme.toBF16) {
      part =
          arith::TruncFOp::create(b, loc, type.clone(b.getBF16Type()), value);
      if (!last)
        inFull = arith::ExtFOp::create(b, loc, type, part);
    } else {
      // The dot ignores the low bits of the last part by itself.
      part = inFull = last ? value : truncateToTF32(b, loc, value);
    }
    parts.push_back(part);
    if (!last)
      value = arith::SubFOp::create(b, loc, value, inFull);
  }
  return parts;
}

void splitProduct(DotOp op, Scheme scheme) {
  LDBG() << "split " << op;
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> a = split(b, loc, op.getA(), scheme);
  SmallVector<Value> bs = split(b, loc, op.getB(), scheme);
  InputPrecision precision =
      scheme.toBF16 ? InputPrecision::IEEE : InputPrecision::TF32;
  auto dot = [&](Value lhs, Value rhs, Value acc) -> Value {
    return DotOp::create(b, loc, op.getType(), lhs, rhs, acc, precision,
                         op.getMaxNumImpreciseAcc());
  };

  Value zero = makeSplat(b, loc, op.getType(), b.getF32FloatAttr(0));
  Value small = zero;
  // By weight: parts i and j make a product of weight i + j.
  for (int weight = scheme.numParts - 1; weight > 0; --weight)
    for (int i = weight; i >= 0; --i)
      small = dot(a[i], bs[weight - i], small);
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, small, small);
  small = arith::SelectOp::create(b, loc, isNaN, zero, small);
  Value sum = arith::AddFOp::create(b, loc, small, op.getC());
  op.replaceAllUsesWith(dot(a[0], bs[0], sum));
  op.erase();
}

struct TritonGPUF32DotTC : gpu::impl::TritonGPUF32DotTCBase<TritonGPUF32DotTC> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([&](DotOp op) {
      // An instruction has been chosen that is at least as exact; its operands
      // are not laid out for the parts.
      if (isa_and_nonnull<MmaEncodingTrait>(op.getType().getEncoding()))
        return;
      std::optional<Scheme> scheme = getScheme(op.getInputPrecision());
      if (!scheme || (!scheme->toBF16 && !emuTF32) ||
          !op.getA().getType().getElementType().isF32() ||
          !op.getB().getType().getElementType().isF32() ||
          !op.getType().getElementType().isF32())
        return;
      splitProduct(op, *scheme);
      ++numSplit;
    });
  }
};

} // namespace

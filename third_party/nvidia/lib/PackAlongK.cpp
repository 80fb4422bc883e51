//===-- PackAlongK.cpp - pack-along-k-nv ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A byte of fp4 holds two neighbours: along K, or along the rows of A and the
// columns of B. Instructions with scales take the first kind only. So two bytes
// that are neighbours along K exchange their halves:
//
//   k        hi lo                    hi of k + 1, hi of k
//   k + 1    hi lo        become      lo of k + 1, lo of k
//
// The bytes of a thread do that with six bitwise operations for two of them.
// Without it, all elements would become bf16, of which the tensor core
// multiplies a quarter as many in a cycle.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "pack-along-k-nv"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_PACKALONGKNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;

namespace {

constexpr unsigned kHalfBits = 4;
constexpr int64_t kLowHalf = 0x0f, kHighHalf = 0xf0;

bool isFP4(ScaleDotElemType format) { return format == ScaleDotElemType::E2M1; }

bool isFP8(ScaleDotElemType format) {
  return format == ScaleDotElemType::E4M3 || format == ScaleDotElemType::E5M2;
}

/// Makes bytes with neighbours along K from `value`, a matrix of bytes with
/// neighbours along the other dimension, `outer`.
Value packAlongK(OpBuilder &b, Location loc, Value value, unsigned outer) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  unsigned k = 1 - outer;
  SmallVector<int64_t> half(type.getShape()), whole(type.getShape());
  half[k] /= 2;
  whole[k] /= 2;
  whole[outer] *= 2;

  // Those of even and those of odd k.
  SmallVector<int64_t> pairs(half);
  pairs.insert(pairs.begin() + k + 1, 2);
  Value rows = ReshapeOp::create(b, loc, pairs, value);
  if (k == 0)
    rows = TransOp::create(b, loc, rows, ArrayRef<int32_t>{0, 2, 1});
  auto split = SplitOp::create(b, loc, rows);
  Value even = split.getOutLHS(), odd = split.getOutRHS();

  auto constant = [&](int64_t number) -> Value {
    auto bytes = RankedTensorType::get(half, element);
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(bytes, APInt(/*numBits=*/8, number)));
  };
  auto keep = [&](Value of, int64_t mask) -> Value {
    return arith::AndIOp::create(b, loc, of, constant(mask));
  };
  Value bits = constant(kHalfBits);
  Value low = arith::OrIOp::create(b, loc, keep(even, kLowHalf),
                                   arith::ShLIOp::create(b, loc, odd, bits));
  Value high = arith::OrIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, even, bits), keep(odd, kHighHalf));

  Value joined = JoinOp::create(b, loc, low, high);
  if (outer == 0)
    joined = TransOp::create(b, loc, joined, ArrayRef<int32_t>{0, 2, 1});
  return ReshapeOp::create(b, loc, whole, joined);
}

class PackAlongK : public nvidia::impl::PackAlongKNVBase<PackAlongK> {
public:
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([&](DotScaledOp op) {
      if (isForAnInstruction(op))
        pack(op);
    });
  }

private:
  /// Whether an instruction with scales takes the dot if its elements are
  /// packed along K.
  bool isForAnInstruction(DotScaledOp op) const {
    RankedTensorType type = op.getType();
    if (type.getRank() != 2 || !type.getElementType().isF32() ||
        type.getDimSize(0) < leastRows || type.getDimSize(1) < leastColumns)
      return false;
    for (ScaleDotElemType format : {op.getAElemType(), op.getBElemType()})
      if (!isFP4(format) && !isFP8(format))
        return false;
    bool isPacked = isFP4(op.getAElemType()) && op.getLhsKPack();
    int64_t k = op.getA().getType().getDimSize(1) * (isPacked ? 2 : 1);
    bool isOfFP4 = isFP4(op.getAElemType()) && isFP4(op.getBElemType());
    // Scales of e4m3 are for two operands of fp4.
    for (Value scales : {op.getAScale(), op.getBScale()})
      if (scales && !isOfFP4 && !getElementTypeOrSelf(scales).isInteger(8))
        return false;
    return k >= (isOfFP4 ? leastPackedK : leastK);
  }

  void pack(DotScaledOp op) {
    OpBuilder b(op);
    if (isFP4(op.getAElemType()) && !op.getLhsKPack()) {
      op.getAMutable().assign(
          packAlongK(b, op.getLoc(), op.getA(), /*outer=*/0));
      op.setLhsKPack(true);
      ++numPacked;
    }
    if (isFP4(op.getBElemType()) && !op.getRhsKPack()) {
      op.getBMutable().assign(
          packAlongK(b, op.getLoc(), op.getB(), /*outer=*/1));
      op.setRhsKPack(true);
      ++numPacked;
    }
  }
};

} // namespace

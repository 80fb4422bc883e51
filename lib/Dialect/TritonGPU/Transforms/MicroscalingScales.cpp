//===-- MicroscalingScales.cpp - Scales of MX formats as numbers ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/MicroscalingScales.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

Value mlir::triton::gpu::decodeScales(OpBuilder &b, Location loc,
                                      Value scales) {
  auto type = cast<RankedTensorType>(scales.getType());
  RankedTensorType bitsType = type.clone(b.getI16Type());
  Value wide = arith::ExtUIOp::create(b, loc, bitsType, scales);
  Value bits = arith::ShLIOp::create(
      b, loc, wide, createScalarOrSplatConstant(b, loc, bitsType, 7));
  // All ones would be infinity, and the least is a subnormal number.
  auto replace = [&](int64_t exponent, int64_t pattern) {
    Value found = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq, wide,
        createScalarOrSplatConstant(b, loc, bitsType, exponent));
    bits = arith::SelectOp::create(
        b, loc, found, createScalarOrSplatConstant(b, loc, bitsType, pattern),
        bits);
  };
  replace(255, 0x7FC0);
  replace(0, 0x0040);
  return BitcastOp::create(b, loc, type.clone(b.getBF16Type()), bits);
}

/// Scales of e4m3 as bf16. They have no sign.
static Value decodeFloatScales(OpBuilder &b, Location loc, Value scales) {
  auto type = cast<RankedTensorType>(scales.getType());
  RankedTensorType bitsType = type.clone(b.getI8Type());
  Value bits = arith::AndIOp::create(
      b, loc, BitcastOp::create(b, loc, bitsType, scales),
      createScalarOrSplatConstant(b, loc, bitsType, 0x7F));
  return FpToFpOp::create(b, loc, type.clone(b.getBF16Type()),
                          BitcastOp::create(b, loc, type, bits));
}

Value mlir::triton::gpu::spreadScales(OpBuilder &b, Location loc, Value scales,
                                      RankedTensorType operandType, bool isB,
                                      Value isZero) {
  unsigned rank = operandType.getRank();
  auto type = cast<RankedTensorType>(scales.getType());
  Value numbers = type.getElementType().isInteger(8)
                      ? decodeScales(b, loc, scales)
                      : decodeFloatScales(b, loc, scales);

  if (isZero) {
    auto numbersType = cast<RankedTensorType>(numbers.getType());
    numbers = arith::SelectOp::create(
        b, loc,
        SplatOp::create(b, loc, numbersType.clone(b.getI1Type()), isZero),
        arith::ConstantOp::create(b, loc, b.getZeroAttr(numbersType)), numbers);
  }

  // [.., rows, groups] -> [.., rows, groups, 1] -> ... -> [.., rows, K]
  int64_t k = operandType.getShape()[isB ? rank - 2 : rank - 1];
  SmallVector<int64_t> grouped(type.getShape());
  grouped.push_back(k / grouped.back());
  MLIRContext *context = b.getContext();
  Operation *op = &*b.getInsertionPoint();
  Attribute layout =
      getDefaultBlockedEncoding(context, grouped, lookupNumWarps(op),
                                lookupThreadsPerWarp(op), lookupNumCTAs(op));
  numbers =
      convertTo(b, loc, numbers, SliceEncodingAttr::get(context, rank, layout));
  numbers = ExpandDimsOp::create(b, loc, numbers, rank);
  numbers = BroadcastOp::create(
      b, loc, RankedTensorType::get(grouped, b.getBF16Type(), layout), numbers);
  SmallVector<int64_t> spread(type.getShape());
  spread.back() = k;
  numbers = ReshapeOp::create(b, loc, spread, numbers);
  if (isB) {
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, rank));
    std::swap(order[rank - 1], order[rank - 2]);
    numbers = TransOp::create(b, loc, numbers, order);
  }
  return convertTo(b, loc, numbers, operandType.getEncoding());
}

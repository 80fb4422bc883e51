//===-- BlockAccess.cpp - Addresses and masks of blocks -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

Value triton::extendToI64(OpBuilder &builder, Location loc, Value value) {
  if (getElementTypeOrSelf(value).isInteger(64))
    return value;
  Type type = getTypeLike(builder.getI64Type(), value.getType());
  return builder.createOrFold<arith::ExtSIOp>(loc, type, value);
}

Value triton::makeIndices(OpBuilder &builder, Location loc, Value offset,
                          int64_t size) {
  auto type = RankedTensorType::get(size, builder.getI64Type());
  Value range =
      MakeRangeOp::create(builder, loc, type.clone(builder.getI32Type()),
                          /*start=*/0, /*end=*/size);
  Value start = builder.createOrFold<SplatOp>(loc, type, offset);
  return builder.createOrFold<arith::AddIOp>(loc, start,
                                             extendToI64(builder, loc, range));
}

/// A 1-D tensor as dimension `dim` of `rank`, the others having size one.
static Value expandTo(OpBuilder &builder, Location loc, Value value,
                      int64_t dim, int64_t rank) {
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != dim)
      value = ExpandDimsOp::create(builder, loc, value, axis);
  return value;
}

static Value broadcastTo(OpBuilder &builder, Location loc, Value value,
                         ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  return builder.createOrFold<BroadcastOp>(loc, type.clone(shape), value);
}

BlockAccess triton::makeBlockAccess(OpBuilder &builder, Location loc,
                                    Value base, ArrayRef<BlockDim> dims) {
  auto shape = llvm::map_to_vector(dims, [](const BlockDim &dim) {
    return cast<RankedTensorType>(dim.indices.getType()).getDimSize(0);
  });
  auto combine = [&]<typename OpT>(Value sum, Value term) -> Value {
    return sum ? builder.createOrFold<OpT>(loc, sum, term) : term;
  };
  Value offsets, mask;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    Value indices = expandTo(builder, loc, dim.indices, i, dims.size());
    auto splat = [&](Value scalar) {
      return builder.createOrFold<SplatOp>(loc, indices.getType(), scalar);
    };
    Value scaled =
        builder.createOrFold<arith::MulIOp>(loc, indices, splat(dim.stride));
    offsets = combine.operator()<arith::AddIOp>(
        offsets, broadcastTo(builder, loc, scaled, shape));
    if (!dim.bound)
      continue;
    auto zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(indices.getType()));
    Value notBefore = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, indices, zero);
    Value notAfter = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, indices, splat(dim.bound));
    Value inside = arith::AndIOp::create(builder, loc, notBefore, notAfter);
    mask = combine.operator()<arith::AndIOp>(
        mask, broadcastTo(builder, loc, inside, shape));
  }
  auto type = RankedTensorType::get(shape, base.getType());
  Value bases = SplatOp::create(builder, loc, type, base);
  return {AddPtrOp::create(builder, loc, type, bases, offsets), mask};
}

Value triton::makePadding(OpBuilder &builder, Location loc,
                          RankedTensorType type, bool nan) {
  auto element = dyn_cast<FloatType>(type.getElementType());
  TypedAttr value;
  if (nan && element)
    value = SplatElementsAttr::get(
        type, APFloat::getNaN(element.getFloatSemantics()));
  else
    value = builder.getZeroAttr(type);
  return arith::ConstantOp::create(builder, loc, value);
}

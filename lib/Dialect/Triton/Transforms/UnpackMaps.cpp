//===-- UnpackMaps.cpp - Maps of neighbours, of one element at a time -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONUNPACKMAPS
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace {
/// The tensors of the elements 0, 1, ... of each row of `rows`.
SmallVector<Value> splitRows(OpBuilder &b, Location loc, Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.back() == 2) {
    auto halves = SplitOp::create(b, loc, rows);
    return {halves.getOutLHS(), halves.getOutRHS()};
  }
  SmallVector<int64_t> pairs(shape);
  pairs.back() /= 2;
  pairs.push_back(2);
  auto halves = SplitOp::create(b, loc, ReshapeOp::create(b, loc, pairs, rows));
  SmallVector<Value> even = splitRows(b, loc, halves.getOutLHS());
  SmallVector<Value> odd = splitRows(b, loc, halves.getOutRHS());
  SmallVector<Value> all;
  for (auto [first, second] : llvm::zip_equal(even, odd))
    llvm::append_values(all, first, second);
  return all;
}

/// The inverse.
Value joinRows(OpBuilder &b, Location loc, ArrayRef<Value> elements) {
  if (elements.size() == 2)
    return JoinOp::create(b, loc, elements[0], elements[1]);
  SmallVector<Value> even, odd;
  for (auto [i, element] : llvm::enumerate(elements))
    (i % 2 ? odd : even).push_back(element);
  Value pairs =
      JoinOp::create(b, loc, joinRows(b, loc, even), joinRows(b, loc, odd));
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(pairs.getType()).getShape().drop_back());
  shape.back() *= 2;
  return ReshapeOp::create(b, loc, shape, pairs);
}

/// The shape in which neighbours of a tensor of `shape` are rows.
SmallVector<int64_t> getShapeOfRows(ArrayRef<int64_t> shape, int64_t pack) {
  SmallVector<int64_t> rows(shape);
  // Rows of the tensor that neighbours do not divide are taken together.
  if (rows.back() % pack)
    rows.assign({ShapedType::getNumElements(shape)});
  rows.back() /= pack;
  rows.push_back(pack);
  return rows;
}

void unpack(MapElementwiseOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  int64_t pack = op.getPack();
  auto shape = cast<RankedTensorType>(op.getSrcs()[0].getType()).getShape();
  SmallVector<int64_t> rows = getShapeOfRows(shape, pack);
  SmallVector<Value> operands;
  for (Value src : op.getSrcs())
    llvm::append_range(operands,
                       splitRows(b, loc, ReshapeOp::create(b, loc, rows, src)));
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.append(pack,
                 RankedTensorType::get(ArrayRef(rows).drop_back(),
                                       getElementTypeOrSelf(result.getType())));
  auto map = MapElementwiseOp::create(b, loc, types, operands, /*pack=*/1);
  map.getScalarOp().takeBody(op.getScalarOp());
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    auto elements =
        llvm::to_vector_of<Value>(map.getResults().slice(i * pack, pack));
    Value joined = joinRows(b, loc, elements);
    result.replaceAllUsesWith(ReshapeOp::create(b, loc, shape, joined));
  }
  op.erase();
}

struct TritonUnpackMaps
    : public triton::impl::TritonUnpackMapsBase<TritonUnpackMaps> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<MapElementwiseOp> maps;
    getOperation()->walk([&](MapElementwiseOp op) {
      auto type = cast<RankedTensorType>(op.getSrcs()[0].getType());
      if (op.getPack() > 1 && !type.getEncoding())
        maps.push_back(op);
    });
    for (MapElementwiseOp op : maps)
      unpack(op);
    numMaps += maps.size();
  }
};
} // namespace

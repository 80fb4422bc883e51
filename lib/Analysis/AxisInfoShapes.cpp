//===-- AxisInfoShapes.cpp - Axis info of operations on shapes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AxisInfoTransfer.h"

using namespace mlir;
using namespace mlir::triton;

AxisInfo axis::inferMakeRange(MakeRangeOp op) {
  int64_t start = op.getStart(), end = op.getEnd();
  int64_t size = end - start;
  // What fits into 32 bits, as the range itself does.
  int64_t divisor = std::min<int64_t>(AxisInfo::getDivisor(start), 1 << 30);
  return build(op.getType(), [&](unsigned) { return Axis{size, divisor, 1}; });
}

AxisInfo axis::inferExpandDims(ExpandDimsOp op, const AxisInfo &source) {
  unsigned axis = op.getAxis();
  return build(
      op.getType(),
      [&](unsigned dim) {
        if (dim == axis)
          return Axis{1, source.getDivisibilityOfAll(), 1};
        unsigned from = dim < axis ? dim : dim - 1;
        return Axis{source.getContiguity(from), source.getDivisibility(from),
                    source.getConstancy(from)};
      },
      source.getConstantValue());
}

AxisInfo axis::inferBroadcast(BroadcastOp op, const AxisInfo &source) {
  DimVector from = AxisInfo::getShape(op.getSrc().getType());
  DimVector to = AxisInfo::getShape(op.getType());
  return build(
      op.getType(),
      [&](unsigned dim) {
        if (from[dim] == to[dim])
          return Axis{source.getContiguity(dim), source.getDivisibility(dim),
                      source.getConstancy(dim)};
        return Axis{1, source.getDivisibilityAt(dim, 1), to[dim]};
      },
      source.getConstantValue());
}

AxisInfo axis::inferTrans(TransOp op, const AxisInfo &source) {
  return build(
      op.getType(),
      [&](unsigned dim) {
        unsigned from = op.getOrder()[dim];
        return Axis{source.getContiguity(from), source.getDivisibility(from),
                    source.getConstancy(from)};
      },
      source.getConstantValue());
}

AxisInfo axis::inferReshape(ReshapeOp op, const AxisInfo &source) {
  Type type = op.getType();
  if (op.getAllowReorder())
    return build(
        type,
        [&](unsigned) { return Axis{1, source.getDivisibilityOfAll(), 1}; },
        source.getConstantValue());
  DimVector from = AxisInfo::getShape(op.getSrc().getType());
  DimVector to = AxisInfo::getShape(type);
  SmallVector<int> origin(to.size(), -1);
  int fastestFrom = -1, fastestTo = -1;
  // Equal axes from the slow end: the leading sizes multiplied agree as long as
  // they match.
  unsigned i = 0;
  bool matching = true;
  for (unsigned dim = 0; dim < to.size(); ++dim) {
    if (to[dim] == 1)
      continue;
    fastestTo = dim;
    while (i < from.size() && from[i] == 1)
      ++i;
    matching = matching && i < from.size() && from[i] == to[dim];
    if (matching)
      origin[dim] = i++;
  }
  for (unsigned dim = 0; dim < from.size(); ++dim)
    if (from[dim] != 1)
      fastestFrom = dim;
  return build(
      type,
      [&](unsigned dim) {
        int axis = origin[dim];
        int64_t limit = to[dim];
        if (axis < 0 && int(dim) == fastestTo)
          axis = fastestFrom;
        if (axis < 0)
          return Axis{1, source.getDivisibilityOfAll(), 1};
        int64_t contiguity = gcd(source.getContiguity(axis), limit);
        return Axis{contiguity, source.getDivisibilityAt(axis, contiguity),
                    gcd(source.getConstancy(axis), limit)};
      },
      source.getConstantValue());
}

AxisInfo axis::inferJoin(JoinOp op, const AxisInfo &lhs, const AxisInfo &rhs) {
  unsigned last = AxisInfo::getShape(op.getType()).size() - 1;
  std::optional<int64_t> constant;
  if (lhs.getConstantValue() == rhs.getConstantValue())
    constant = lhs.getConstantValue();
  return build(
      op.getType(),
      [&](unsigned dim) {
        if (dim == last)
          return Axis{
              1, gcd(lhs.getDivisibilityOfAll(), rhs.getDivisibilityOfAll()),
              1};
        return eitherAlong(Along(lhs, dim), Along(rhs, dim));
      },
      constant);
}

AxisInfo axis::inferSplit(Value half, const AxisInfo &source) {
  return build(
      half.getType(),
      [&](unsigned dim) {
        // Of a scalar half there is nothing left but what divides everything.
        if (!isa<RankedTensorType>(half.getType()))
          return Axis{1, source.getDivisibilityOfAll(), 1};
        return Axis{source.getContiguity(dim), source.getDivisibility(dim),
                    source.getConstancy(dim)};
      },
      source.getConstantValue());
}

AxisInfo axis::inferPassThrough(Type type, const AxisInfo &source) {
  return build(
      type,
      [&](unsigned dim) {
        return Axis{source.getContiguity(dim), source.getDivisibility(dim),
                    source.getConstancy(dim)};
      },
      source.getConstantValue());
}

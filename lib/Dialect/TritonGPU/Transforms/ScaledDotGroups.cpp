//===-- ScaledDotGroups.cpp - Scaled products, group by group -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where a scale is at an end of the range, operands cannot be scaled first.
// Each group along K is multiplied by itself, and its sum is scaled.
//
//===----------------------------------------------------------------------===//

#include "ScaledDotDecomposer.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

Value ScaledDotDecomposer::indexAlong(RankedTensorType of, unsigned dim) {
  Attribute layout = of.getEncoding();
  for (unsigned axis = of.getRank(); axis-- > 0;)
    if (axis != dim)
      layout = SliceEncodingAttr::get(op.getContext(), axis, layout);
  int64_t size = of.getShape()[dim];
  Value index = MakeRangeOp::create(
      b, loc, RankedTensorType::get({size}, b.getI32Type(), layout), 0, size);
  for (unsigned axis = 0; axis < of.getRank(); ++axis)
    if (axis != dim)
      index = ExpandDimsOp::create(b, loc, index, axis);
  return BroadcastOp::create(b, loc, of.clone(b.getI32Type()), index);
}

/// Where an index is that of a group.
Value ScaledDotDecomposer::isGroup(Value index, Value group) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index,
                               SplatOp::create(b, loc, index.getType(), group));
}

/// The elements of a group along K, and zeros.
Value ScaledDotDecomposer::keepGroup(Value elements,
                                     const ScaledOperand &operand, Value group,
                                     int64_t groups) {
  auto type = cast<RankedTensorType>(elements.getType());
  unsigned dim = getInnerDim(operand);
  Value index = indexAlong(type, dim);
  Type indexType = index.getType();
  Value number = arith::DivUIOp::create(
      b, loc, index, constant(indexType, type.getShape()[dim] / groups));
  return arith::SelectOp::create(b, loc, isGroup(number, group), elements,
                                 this->number(type, 0));
}

/// All of the elements, or, of bf16, the large and the small ones.
SmallVector<Share>
ScaledDotDecomposer::getShares(const ScaledOperand &operand) {
  Value elements = operand.hasExponents() ? operand.elements : operand.scaled;
  if (operand.format != ScaleDotElemType::BF16)
    return {{elements, 0}};
  auto type = cast<RankedTensorType>(elements.getType());
  auto compare = [&](arith::CmpFPredicate predicate, double with) {
    return arith::CmpFOp::create(b, loc, predicate, elements,
                                 number(type, with));
  };
  Value isLarge =
      arith::OrIOp::create(b, loc, compare(arith::CmpFPredicate::OGE, 1),
                           compare(arith::CmpFPredicate::OLE, -1));
  Value zero = number(type, 0);
  auto move = [&](int64_t exponent) {
    return arith::MulFOp::create(
        b, loc, elements,
        number(type, std::ldexp(1.0, static_cast<int>(exponent))));
  };
  constexpr int64_t down = -70, up = 56;
  return {
      {arith::SelectOp::create(b, loc, isLarge, move(down), zero), -down},
      {arith::SelectOp::create(b, loc, isLarge, zero, move(up)), -up},
  };
}

/// Of a group, for each row, as they are stored.
Value ScaledDotDecomposer::getGroupExponents(const ScaledOperand &operand,
                                             Value group) {
  RankedTensorType wide = operand.getScaleType().clone(b.getI32Type());
  Value one = arith::SelectOp::create(
      b, loc, isGroup(indexAlong(wide, rank - 1), group),
      arith::ExtUIOp::create(b, loc, wide, operand.scales), constant(wide, 0));
  return reduceAlong(b, loc, one, rank - 1, [&](Value x, Value y) {
    return arith::AddIOp::create(b, loc, x, y).getResult();
  });
}

/// Three numbers for each row, or column. Multiplied they are the scale times
/// two to the power of `more`. A number alone, or those of two operands
/// multiplied, would not always be one of fp32. Empty for a scale of one.
SmallVector<Value>
ScaledDotDecomposer::getGroupFactors(const ScaledOperand &operand, Value group,
                                     int64_t more) {
  if (!operand.hasExponents() && !more)
    return {};
  RankedTensorType wide = type.clone(b.getF32Type());
  SmallVector<Value> factors;
  if (!operand.hasExponents()) {
    for (int64_t left = 3; left > 0; --left) {
      factors.push_back(number(wide, std::ldexp(1.0, int(more / left))));
      more -= more / left;
    }
    return factors;
  }
  // The scales of the right operand are those of columns.
  unsigned dim = operand.isRight ? rank - 2 : rank - 1;
  Value stored = convertTo(
      b, loc, getGroupExponents(operand, group),
      SliceEncodingAttr::get(op.getContext(), dim, type.getEncoding()));
  auto rows = cast<RankedTensorType>(stored.getType());
  RankedTensorType numbers = rows.clone(b.getF32Type());
  Value isNaN = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, stored,
                                      constant(rows, 255));
  Value rest =
      arith::AddIOp::create(b, loc, stored, constant(rows, more - 127));
  for (int64_t left = 3; left > 0; --left) {
    Value part = arith::DivSIOp::create(b, loc, rest, constant(rows, left));
    rest = arith::SubIOp::create(b, loc, rest, part);
    Value bits = arith::ShLIOp::create(
        b, loc, arith::AddIOp::create(b, loc, part, constant(rows, 127)),
        constant(rows, 23));
    Value factor = arith::SelectOp::create(
        b, loc, isNaN,
        number(numbers, std::numeric_limits<double>::quiet_NaN()),
        BitcastOp::create(b, loc, numbers, bits));
    factors.push_back(BroadcastOp::create(
        b, loc, wide, ExpandDimsOp::create(b, loc, factor, dim)));
  }
  return factors;
}

/// The sum to which `add` adds one group after the other. There is code for one
/// group, in a loop: the branch is seldom taken, and code for all of them would
/// need more registers than everything else in the kernel.
Value ScaledDotDecomposer::forEachGroup(
    int64_t groups, Value sum,
    llvm::function_ref<Value(Value group, Value sum)> add) {
  auto number = [&](int64_t value) { return constant(b.getI32Type(), value); };
  if (groups == 1)
    return add(number(0), sum);
  auto loop = scf::ForOp::create(b, loc, number(0), number(groups), number(1),
                                 ValueRange{sum});
  LoopPlan(loop).setNumStages(1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, loc,
                       add(loop.getInductionVar(), loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

/// Adds the dots of all groups to what there is of the plain dot.
Value ScaledDotDecomposer::multiplyGroups(const ScaledOperand &left,
                                          const ScaledOperand &right,
                                          Value plain) {
  RankedTensorType wide = type.clone(b.getF32Type());
  int64_t groups =
      (left.hasExponents() ? left : right).getScaleType().getShape().back();
  SmallVector<Share> shares = getShares(left), others = getShares(right);
  // That is NaN where elements are infinite: then the sum of the groups counts.
  bool counts = !left.hasInfinities() && !right.hasInfinities() &&
                type.getElementType().isF32();
  auto addGroup = [&](Value group, Value sum) {
    for (const Share &share : shares)
      for (const Share &other : others) {
        // Zeros in both of them: others may be times infinity.
        Value product =
            multiplyParts(keepGroup(share.elements, left, group, groups),
                          keepGroup(other.elements, right, group, groups),
                          number(wide, 0), wide);
        SmallVector<Value> factors =
            getGroupFactors(left, group, share.exponent);
        SmallVector<Value> more = getGroupFactors(right, group, other.exponent);
        for (unsigned i = 0; i < 3; ++i) {
          Value factor = factors.empty() ? more[i] : factors[i];
          if (!factors.empty() && !more.empty())
            factor = arith::MulFOp::create(b, loc, factor, more[i]);
          product = arith::MulFOp::create(b, loc, product, factor);
        }
        sum = arith::AddFOp::create(b, loc, sum, product);
      }
    return sum;
  };
  Value sum = forEachGroup(groups, counts ? plain : number(wide, 0), addGroup);
  if (counts)
    return sum;
  if (!type.getElementType().isF32())
    sum = arith::TruncFOp::create(b, loc, type, sum);
  return addGroups(plain, sum);
}

/// The plain dot's sum of nothing, and that of the groups. Elements that are
/// infinite make the former NaN, which only then is not to be counted.
Value ScaledDotDecomposer::addGroups(Value plain, Value groups) {
  Value sum = arith::AddFOp::create(b, loc, plain, groups);
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, plain, plain);
  // Infinities, of either sign.
  Value difference = arith::SubFOp::create(b, loc, groups, groups);
  Value isInfinite = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO,
                                           difference, difference);
  return arith::SelectOp::create(
      b, loc, arith::AndIOp::create(b, loc, isNaN, isInfinite), groups, sum);
}

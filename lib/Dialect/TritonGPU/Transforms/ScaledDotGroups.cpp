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
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
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

/// Whether there is shared memory for the elements of both operands, where
/// nothing else of the loop lies.
bool ScaledDotDecomposer::haveRoom() const {
  // A slice has whole rows of the swizzle.
  constexpr int64_t kLeastRows = 8;
  if (rank != 2 || type.getShape().front() < kLeastRows ||
      lookupNumCTAs(op) > 1)
    return false;
  int64_t bytes = 0;
  for (const ScaledOperand *operand : {&left, &right}) {
    auto elements = cast<RankedTensorType>(operand->elements.getType());
    int64_t shares = operand->format == ScaleDotElemType::BF16 ? 2 : 1;
    bytes += shares * elements.getNumElements() *
             elements.getElementTypeBitWidth() / 8;
  }
  return 4 * bytes <= 3 * getTargetModel(op).getMaxSharedMemory();
}

/// The elements in shared memory, one group along K after the other.
Value ScaledDotDecomposer::store(Value elements, const ScaledOperand &operand,
                                 int64_t groups) {
  auto type = cast<RankedTensorType>(elements.getType());
  int64_t rows = type.getShape()[0], columns = type.getShape()[1];
  if (operand.isRight) {
    rows /= groups;
  } else {
    columns /= groups;
    Value parts = ReshapeOp::create(b, loc, {rows, groups, columns}, elements);
    parts = TransOp::create(b, loc, parts, ArrayRef<int32_t>{1, 0, 2});
    elements = ReshapeOp::create(b, loc, {groups * rows, columns}, parts);
  }
  // Rows of 16 bytes, in other banks from one row to the next.
  constexpr int64_t kAllBanks = 128, kAtOnce = 16, kPhases = 8;
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t perPhase = std::max<int64_t>(1, kAllBanks / (columns * bytes));
  int64_t maxPhase = std::clamp<int64_t>(
      columns * bytes / kAtOnce, 1, std::max<int64_t>(1, kPhases / perPhase));
  auto encoding = SwizzledSharedEncodingAttr::get(
      op.getContext(), std::min(columns, kAtOnce / bytes), perPhase, maxPhase,
      /*order=*/{1, 0}, CTALayoutAttr::getDefault(op.getContext(), /*rank=*/2));
  auto in = [&](ArrayRef<int64_t> shape) {
    return MemDescType::get(shape, type.getElementType(), encoding,
                            SharedMemorySpaceAttr::get(op.getContext()));
  };
  Value all =
      LocalAllocOp::create(b, loc, in({groups * rows, columns}), elements);
  return MemDescReinterpretOp::create(b, loc, in({groups, rows, columns}), all);
}

Value ScaledDotDecomposer::loadGroup(Value stored, Value group) {
  auto all = cast<MemDescType>(stored.getType());
  auto memory =
      MemDescType::get(all.getShape().drop_front(), all.getElementType(),
                       all.getEncoding(), all.getMemorySpace());
  Value slice = MemDescIndexOp::create(b, loc, memory, stored, group);
  auto layout = getDefaultBlockedEncoding(
      op.getContext(), memory.getShape(), lookupNumWarps(op),
      lookupThreadsPerWarp(op), lookupNumCTAs(op));
  return LocalLoadOp::create(
      b, loc,
      RankedTensorType::get(memory.getShape(), memory.getElementType(), layout),
      slice);
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

/// Adds the dots of all groups to what there is of the plain dot, which is the
/// sum before it, if the plain one is not made.
Value ScaledDotDecomposer::multiplyGroups(const ScaledOperand &left,
                                          const ScaledOperand &right,
                                          Value plain) {
  RankedTensorType wide = type.clone(b.getF32Type());
  int64_t groups =
      (left.hasExponents() ? left : right).getScaleType().getShape().back();
  // A dot of zeros is NaN where elements are infinite: then the sum of the
  // groups counts.
  bool hasInfinities = left.hasInfinities() || right.hasInfinities();
  bool counts = type.getElementType().isF32() && (isSeldom || !hasInfinities);
  bool isSliced = isSeldom && groups > 1 && haveRoom();
  auto prepare = [&](const ScaledOperand &operand) {
    SmallVector<Share> shares = getShares(operand);
    if (isSliced)
      for (Share &share : shares)
        share.elements = store(share.elements, operand, groups);
    return shares;
  };
  SmallVector<Share> shares = prepare(left), others = prepare(right);
  auto takeGroup = [&](const Share &share, const ScaledOperand &operand,
                       Value group) {
    return isSliced ? loadGroup(share.elements, group)
                    : keepGroup(share.elements, operand, group, groups);
  };
  auto addGroup = [&](Value group, Value sum) {
    for (const Share &share : shares)
      for (const Share &other : others) {
        SmallVector<Value> factors =
            getGroupFactors(left, group, share.exponent);
        SmallVector<Value> more = getGroupFactors(right, group, other.exponent);
        // Zeros in both of them: others may be times infinity.
        Value product = multiplyParts(takeGroup(share, left, group),
                                      takeGroup(other, right, group),
                                      number(wide, 0), wide);
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
  if (isSeldom)
    return arith::AddFOp::create(b, loc, plain, sum);
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

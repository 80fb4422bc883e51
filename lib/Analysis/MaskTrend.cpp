//===-- MaskTrend.cpp - How a mask goes along neighbours ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/MaskTrend.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::triton;

namespace {
class TrendFinder {
public:
  TrendFinder(const ModuleAxisInfoAnalysis &axisInfo, int64_t length)
      : axisInfo(axisInfo), length(length) {}

  MaskTrend find(Value mask, unsigned axis) const;

private:
  MaskTrend findOfComparison(arith::CmpIOp compare, unsigned axis) const;
  bool isConstant(Value value, unsigned axis) const;
  bool isRun(Value value, unsigned axis) const;

  const ModuleAxisInfoAnalysis &axisInfo;
  int64_t length;
};
} // namespace

/// Of the conjunction of two masks. A disjunction is the negated conjunction of
/// negated masks.
static MaskTrend meet(MaskTrend lhs, MaskTrend rhs) {
  if (lhs == MaskTrend::Unknown || rhs == MaskTrend::Unknown)
    return MaskTrend::Unknown;
  if (lhs == MaskTrend::Constant)
    return rhs;
  if (rhs == MaskTrend::Constant)
    return lhs;
  return lhs == rhs ? lhs : MaskTrend::Interval;
}

static MaskTrend negate(MaskTrend trend) {
  switch (trend) {
  case MaskTrend::Constant:
    return MaskTrend::Constant;
  case MaskTrend::Falling:
    return MaskTrend::Rising;
  case MaskTrend::Rising:
    return MaskTrend::Falling;
  case MaskTrend::Interval:
  case MaskTrend::Unknown:
    return MaskTrend::Unknown;
  }
  llvm_unreachable("all trends were handled");
}

bool TrendFinder::isConstant(Value value, unsigned axis) const {
  const AxisInfo *info = axisInfo.getAxisInfo(value);
  return info && info->getConstancy(axis) % length == 0;
}

/// Whether numbers go up by one in every group, and none wraps around.
bool TrendFinder::isRun(Value value, unsigned axis) const {
  const AxisInfo *info = axisInfo.getAxisInfo(value);
  return info &&
         std::gcd(info->getContiguity(axis), info->getDivisibility(axis)) %
                 length ==
             0;
}

MaskTrend TrendFinder::findOfComparison(arith::CmpIOp compare,
                                        unsigned axis) const {
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  bool isSwapped = isConstant(lhs, axis) && isRun(rhs, axis);
  if (!isSwapped && !(isRun(lhs, axis) && isConstant(rhs, axis)))
    return MaskTrend::Unknown;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ule:
    return isSwapped ? MaskTrend::Rising : MaskTrend::Falling;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::ugt:
  case arith::CmpIPredicate::uge:
    return isSwapped ? MaskTrend::Falling : MaskTrend::Rising;
  case arith::CmpIPredicate::eq:
    return MaskTrend::Interval;
  case arith::CmpIPredicate::ne:
    return MaskTrend::Unknown;
  }
  llvm_unreachable("all predicates were handled");
}

MaskTrend TrendFinder::find(Value mask, unsigned axis) const {
  if (isConstant(mask, axis))
    return MaskTrend::Constant;
  Operation *op = mask.getDefiningOp();
  if (!op)
    return MaskTrend::Unknown;
  return llvm::TypeSwitch<Operation *, MaskTrend>(op)
      .Case([&](arith::CmpIOp compare) {
        return findOfComparison(compare, axis);
      })
      .Case([&](arith::AndIOp conjunction) {
        return meet(find(conjunction.getLhs(), axis),
                    find(conjunction.getRhs(), axis));
      })
      .Case([&](arith::OrIOp disjunction) {
        return negate(meet(negate(find(disjunction.getLhs(), axis)),
                           negate(find(disjunction.getRhs(), axis))));
      })
      .Case([&](arith::XOrIOp negation) {
        return matchPattern(negation.getRhs(), m_One())
                   ? negate(find(negation.getLhs(), axis))
                   : MaskTrend::Unknown;
      })
      .Case([&](ExpandDimsOp expand) {
        // The new axis has one element, which isConstant sees.
        return find(expand.getSrc(), axis - (int64_t(axis) > expand.getAxis()));
      })
      .Case(
          [&](BroadcastOp broadcast) { return find(broadcast.getSrc(), axis); })
      .Case([&](gpu::ConvertLayoutOp convert) {
        return find(convert.getSrc(), axis);
      })
      .Default(MaskTrend::Unknown);
}

MaskTrend triton::getMaskTrend(const ModuleAxisInfoAnalysis &axisInfo,
                               Value mask, unsigned axis, int64_t length) {
  return TrendFinder(axisInfo, length).find(mask, axis);
}

/// The axis along which the first registers of a thread are neighbours.
static std::optional<unsigned> findRegisterAxis(RankedTensorType type) {
  LinearLayout layout = gpu::toLinearLayout(type);
  if (layout.getInDimSizeLog2(kRegister) > 0)
    for (unsigned axis = 0, rank = type.getRank(); axis < rank; ++axis)
      if (layout.getBasis(kRegister, 0, kDim(axis)) == 1)
        return axis;
  return std::nullopt;
}

unsigned triton::getCopiedNeighbours(const ModuleAxisInfoAnalysis &axisInfo,
                                     unsigned length, Value mask, Value other) {
  if (!mask)
    return length;
  unsigned uniform = std::min(length, axisInfo.getMaskAlignment(mask));
  std::optional<unsigned> axis =
      findRegisterAxis(cast<RankedTensorType>(mask.getType()));
  if (!axis || (other && !isConstantZero(other)))
    return uniform;
  for (length = llvm::bit_floor(length); length > uniform; length /= 2)
    if (getMaskTrend(axisInfo, mask, *axis, length) == MaskTrend::Falling)
      return length;
  return uniform;
}

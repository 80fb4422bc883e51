//===-- ImpliedPredicate.cpp - Masks that end with their loop -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ImpliedPredicate.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

static std::optional<int64_t> getConstant(Value scalar) {
  if (std::optional<int64_t> value = getConstantIntValue(scalar))
    return value;
  // Of steps, which are not folded yet.
  auto product = scalar.getDefiningOp<arith::MulIOp>();
  if (!product)
    return std::nullopt;
  std::optional<int64_t> lhs = getConstant(product.getLhs()),
                         rhs = getConstant(product.getRhs());
  return lhs && rhs ? std::optional(*lhs * *rhs) : std::nullopt;
}

namespace {
/// base + constant; no base for zero.
struct Sum {
  Value base;
  int64_t constant = 0;
};

/// What some number is a multiple of, and of what.
struct Multiple {
  Value factor;
  int64_t by = 1;
};

/// first < second.
struct Less {
  Value first, second;
};
} // namespace

static Sum getSum(Value scalar) {
  Sum sum{scalar};
  while (sum.base) {
    if (std::optional<int64_t> constant = getConstant(sum.base)) {
      sum.constant += *constant;
      sum.base = {};
      break;
    }
    Operation *op = sum.base.getDefiningOp();
    if (!isa_and_present<arith::AddIOp, arith::SubIOp>(op))
      break;
    std::optional<int64_t> constant = getConstant(op->getOperand(1));
    if (!constant)
      break;
    sum.constant += isa<arith::AddIOp>(op) ? *constant : -*constant;
    sum.base = op->getOperand(0);
  }
  return sum;
}

/// What the counters of a loop are compared with: its upper bound, less what is
/// subtracted from it. Where that would wrap around, it is the least number,
/// and no counter is less than either.
static Sum getLimit(Value bound) {
  auto difference = bound.getDefiningOp<arith::SubIOp>();
  auto enough = difference ? difference.getLhs().getDefiningOp<arith::MaxSIOp>()
                           : arith::MaxSIOp();
  if (!enough)
    return getSum(bound);
  std::optional<int64_t> distance = getConstant(difference.getRhs()),
                         least = getConstant(enough.getRhs());
  unsigned width = bound.getType().getIntOrFloatBitWidth();
  if (!distance || !least || *least != llvm::minIntN(width) + *distance)
    return getSum(bound);
  Sum limit = getSum(enough.getLhs());
  limit.constant -= *distance;
  return limit;
}

static Multiple getMultiple(Value scalar) {
  if (auto product = scalar.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> by = getConstant(product.getRhs());
        by && *by > 0)
      return {product.getLhs(), *by};
  return {scalar};
}

static std::optional<Less> getLess(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  if (compare.getPredicate() == arith::CmpIPredicate::slt)
    return Less{compare.getLhs(), compare.getRhs()};
  if (compare.getPredicate() == arith::CmpIPredicate::sgt)
    return Less{compare.getRhs(), compare.getLhs()};
  return std::nullopt;
}

/// Operations that only rename elements.
static bool isView(Operation *op) {
  return isa_and_present<BroadcastOp, ExpandDimsOp, ConvertLayoutOp>(op);
}

static Value skipViews(Value tensor) {
  while (isView(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

/// n, where `count` is ceil(n / by) or more.
static Value getNumberCovered(Value count, int64_t by) {
  if (by == 1)
    return count;
  Operation *division = count.getDefiningOp();
  if (!isa_and_present<arith::DivSIOp, arith::DivUIOp>(division) ||
      getConstant(division->getOperand(1)) != by)
    return {};
  auto sum = division->getOperand(0).getDefiningOp<arith::AddIOp>();
  return sum && getConstant(sum.getRhs()) == by - 1 ? sum.getLhs() : Value();
}

/// Whether 0 < `remaining` implies the predicate.
static bool impliesPredicate(Value remaining, Less predicate) {
  // Of an iteration that does not exist, the difference is taken modulo 2^32
  // and still is a small negative number. A sum that is compared to n might not
  // be.
  auto difference = remaining.getDefiningOp<arith::SubIOp>();
  if (!difference)
    return false;
  // at * by < n, so that at < ceil(n / by): is that more than is asked for?
  Multiple done = getMultiple(difference.getRhs());
  Sum at = getSum(done.factor);
  Sum iteration = getSum(predicate.first), end = getLimit(predicate.second);
  // Many iterations further the difference would come round again.
  if (at.constant > std::numeric_limits<int32_t>::max() / done.by)
    return false;
  return end.base && at.base == iteration.base &&
         at.constant >= iteration.constant - end.constant &&
         getNumberCovered(end.base, done.by) == difference.getLhs();
}

bool mlir::triton::gpu::impliesPredicate(Value mask, Value predicate) {
  std::optional<Less> wanted = getLess(predicate);
  if (!wanted)
    return false;
  mask = skipViews(mask);
  if (auto both = mask.getDefiningOp<arith::AndIOp>())
    return impliesPredicate(both.getLhs(), predicate) ||
           impliesPredicate(both.getRhs(), predicate);
  std::optional<Less> less = getLess(mask);
  if (!less || !isa<RankedTensorType>(mask.getType()))
    return false;
  auto range = skipViews(less->first).getDefiningOp<MakeRangeOp>();
  auto remaining = skipViews(less->second).getDefiningOp<SplatOp>();
  return range && range.getStart() >= 0 && remaining &&
         ::impliesPredicate(remaining.getSrc(), *wanted);
}

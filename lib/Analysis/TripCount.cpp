//===-- TripCount.cpp - Which iterations a loop has -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/TripCount.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::triton;

static unsigned getWidthOf(Type type) {
  return type.isIndex() ? IndexType::kInternalStorageBitWidth
                        : type.getIntOrFloatBitWidth();
}

static std::optional<APInt> getConstant(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant;
  return std::nullopt;
}

static Value makeConstant(OpBuilder &builder, Location loc, Type type,
                          const APInt &value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, value));
}

static APInt getLeastOf(unsigned width, bool isUnsigned) {
  return isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
}

static APInt getGreatestOf(unsigned width, bool isUnsigned) {
  return isUnsigned ? APInt::getMaxValue(width)
                    : APInt::getSignedMaxValue(width);
}

static bool isLessThan(const APInt &lhs, const APInt &rhs, bool isUnsigned) {
  return isUnsigned ? lhs.ult(rhs) : lhs.slt(rhs);
}

/// `count` times `step`, if that fits into as many bits without a sign.
static std::optional<APInt> getDistance(const APInt &step, unsigned count) {
  unsigned width = step.getBitWidth(), wide = width + 32;
  APInt distance = step.zext(wide) * APInt(wide, count);
  if (distance.getActiveBits() > width)
    return std::nullopt;
  return distance.trunc(width);
}

/// `value` minus `distance`, or the least number of the type where that is
/// less. Neither has a sign if `isUnsigned`; `distance` never has.
static Value subtractSaturating(OpBuilder &builder, Location loc, Value value,
                                Value distance, bool isUnsigned) {
  // No less than what is `distance` more than the least number.
  Value enough;
  if (isUnsigned) {
    enough = builder.createOrFold<arith::MaxUIOp>(loc, value, distance);
  } else {
    Type type = value.getType();
    Value least = makeConstant(
        builder, loc, type, getLeastOf(getWidthOf(type), /*isUnsigned=*/false));
    Value lowest = builder.createOrFold<arith::AddIOp>(loc, least, distance);
    enough = builder.createOrFold<arith::MaxSIOp>(loc, value, lowest);
  }
  return builder.createOrFold<arith::SubIOp>(loc, enough, distance);
}

unsigned TripCount::getWidth() { return getWidthOf(getType()); }

APInt TripCount::getLeast() { return getLeastOf(getWidth(), isUnsigned()); }

APInt TripCount::getGreatest() {
  return getGreatestOf(getWidth(), isUnsigned());
}

Value TripCount::isLess(OpBuilder &builder, Value first, Value second) {
  // Folded otherwise, it would only be turned round.
  std::optional<APInt> lhs = getConstant(first), rhs = getConstant(second);
  if (lhs && rhs)
    return makeConstant(builder, loc, builder.getI1Type(),
                        APInt(1, isLessThan(*lhs, *rhs, isUnsigned())));
  return arith::CmpIOp::create(builder, loc,
                               isUnsigned() ? arith::CmpIPredicate::ult
                                            : arith::CmpIPredicate::slt,
                               first, second);
}

std::optional<APInt> TripCount::getKnown() {
  std::optional<APInt> lower = getConstant(loop.getLowerBound()),
                       upper = getConstant(loop.getUpperBound()),
                       step = getConstant(loop.getStep());
  if (!lower || !upper || !step || step->isZero())
    return std::nullopt;
  if (!isLessThan(*lower, *upper, isUnsigned()))
    return APInt::getZero(getWidth());
  // The distance fits without a sign.
  return (*upper - *lower - 1).udiv(*step) + 1;
}

Value TripCount::getCount(OpBuilder &builder) {
  Type i64 = builder.getI64Type();
  auto constant = [&](uint64_t value) -> Value {
    return makeConstant(builder, loc, i64, APInt(64, value));
  };
  if (std::optional<APInt> known = getKnown())
    return constant(known->getZExtValue());
  auto widen = [&](Value value) -> Value {
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(builder, loc, i64, value);
    if (value.getType().isInteger(64))
      return value;
    if (isUnsigned())
      return arith::ExtUIOp::create(builder, loc, i64, value);
    return arith::ExtSIOp::create(builder, loc, i64, value);
  };
  Value lower = widen(loop.getLowerBound()),
        upper = widen(loop.getUpperBound()), step = widen(loop.getStep());
  Value length = arith::SubIOp::create(builder, loc, upper, lower);
  Value one = constant(1), zero = constant(0);
  // With bits to spare, also a negative distance fits.
  if (getWidth() < 64) {
    Value last = arith::SubIOp::create(builder, loc, step, one);
    Value padded = arith::AddIOp::create(builder, loc, length, last);
    Value count = arith::DivSIOp::create(builder, loc, padded, step);
    return arith::MaxSIOp::create(builder, loc, count, zero);
  }
  Value any = isLess(builder, loop.getLowerBound(), loop.getUpperBound());
  Value last = arith::SubIOp::create(builder, loc, length, one);
  Value before = arith::DivUIOp::create(builder, loc, last, step);
  Value count = arith::AddIOp::create(builder, loc, before, one);
  return arith::SelectOp::create(builder, loc, any, count, zero);
}

Value TripCount::getLater(OpBuilder &builder, Value counter, unsigned ahead) {
  if (ahead == 0)
    return counter;
  APInt count = APInt(64, ahead).zextOrTrunc(getWidth());
  Value distance;
  if (std::optional<APInt> step = getConstant(loop.getStep()))
    distance = makeConstant(builder, loc, getType(), *step * count);
  else
    distance = builder.createOrFold<arith::MulIOp>(
        loc, loop.getStep(), makeConstant(builder, loc, getType(), count));
  return builder.createOrFold<arith::AddIOp>(loc, counter, distance);
}

Value TripCount::getCounter(OpBuilder &builder, Value number) {
  Value distance = arith::MulIOp::create(builder, loc, number, loop.getStep());
  return arith::AddIOp::create(builder, loc, distance, loop.getLowerBound());
}

Value TripCount::getCounterBeforeFirst(OpBuilder &builder) {
  return arith::SubIOp::create(builder, loc, loop.getLowerBound(),
                               loop.getStep());
}

Value TripCount::getProgress(OpBuilder &builder, Value counter) {
  return builder.createOrFold<arith::SubIOp>(loc, counter,
                                             loop.getLowerBound());
}

Value TripCount::hasPrevious(OpBuilder &builder, Value counter) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, counter,
                               loop.getLowerBound());
}

Value TripCount::getLimit(unsigned ahead) {
  if (ahead == 0)
    return loop.getUpperBound();
  if (ahead <= limits.size() && limits[ahead - 1])
    return limits[ahead - 1];
  OpBuilder builder(loop);
  Value upper = loop.getUpperBound(), limit;
  std::optional<APInt> step = getConstant(loop.getStep()),
                       lower = getConstant(loop.getLowerBound());
  if (!step) {
    limit = subtractSaturating(builder, loc, getLimit(ahead - 1),
                               loop.getStep(), isUnsigned());
  } else if (std::optional<APInt> distance = getDistance(*step, ahead)) {
    // What has no iteration compares nothing with the limit; what has one ends
    // behind its lower bound.
    bool fits = lower && (*lower - getLeast()).uge(*distance - 1);
    limit = fits ? builder.createOrFold<arith::AddIOp>(
                       loc, upper,
                       makeConstant(builder, loc, getType(), -*distance))
                 : subtractSaturating(
                       builder, loc, upper,
                       makeConstant(builder, loc, getType(), *distance),
                       isUnsigned());
  } else {
    limit = makeConstant(builder, loc, getType(), getLeast());
  }
  if (limits.size() < ahead)
    limits.resize(ahead);
  return limits[ahead - 1] = limit;
}

Value TripCount::has(OpBuilder &builder, unsigned number) {
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  std::optional<APInt> first = getConstant(lower),
                       step = getConstant(loop.getStep());
  if (number == 0 || !first || !step)
    return isLess(builder, lower, getLimit(number));
  std::optional<APInt> distance = getDistance(*step, number);
  if (!distance || (getGreatest() - *first).ult(*distance))
    return makeConstant(builder, loc, builder.getI1Type(), APInt(1, 0));
  return isLess(builder, getCounter(builder, number), upper);
}

Value TripCount::hasLater(OpBuilder &builder, Value counter, unsigned ahead) {
  return isLess(builder, counter, getLimit(ahead));
}

/// The greatest number that `value` is, as far as it is easily known.
static APInt getMost(Value value, unsigned width, bool isUnsigned) {
  APInt greatest =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  if (std::optional<APInt> constant = getConstant(value))
    return *constant;
  if (auto least = value.getDefiningOp<arith::MinSIOp>(); least && !isUnsigned)
    return llvm::APIntOps::smin(getMost(least.getLhs(), width, isUnsigned),
                                getMost(least.getRhs(), width, isUnsigned));
  auto arg = dyn_cast<BlockArgument>(value);
  auto function =
      arg ? dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp())
          : FunctionOpInterface();
  if (!function || !arg.getOwner()->isEntryBlock() || isUnsigned)
    return greatest;
  auto most =
      function.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kMaxAttr);
  if (most && most.getValue().isSignedIntN(width))
    return APInt(width, most.getInt(), /*isSigned=*/true);
  return greatest;
}

bool mlir::triton::meetsUpperBound(scf::ForOp loop,
                                   const ModuleAxisInfoAnalysis &axisInfo) {
  std::optional<APInt> step = getConstant(loop.getStep());
  if (!step || !step->isPowerOf2() || step->isNegative())
    return false;
  return llvm::all_of(
      ValueRange{loop.getLowerBound(), loop.getUpperBound()}, [&](Value bound) {
        const AxisInfo *info = axisInfo.getAxisInfo(bound);
        return info && info->getDivisibilityOfAll() % step->getSExtValue() == 0;
      });
}

/// Whether the counter after one that the loop has fits into its type.
bool TripCount::isNextExact() {
  std::optional<APInt> step = getConstant(loop.getStep());
  if (!step)
    return false;
  if (step->isOne() || (axisInfo && meetsUpperBound(loop, *axisInfo)))
    return true;
  APInt upper = getMost(loop.getUpperBound(), getWidth(), isUnsigned());
  if (upper == getLeast())
    return true;
  bool overflows = false;
  (void)(isUnsigned() ? (upper - 1).uadd_ov(*step, overflows)
                      : (upper - 1).sadd_ov(*step, overflows));
  return !overflows;
}

Value TripCount::getNextLimit() {
  if (!nextLimit) {
    OpBuilder builder(loop);
    nextLimit = subtractSaturating(builder, loc, loop.getUpperBound(),
                                   loop.getStep(), isUnsigned());
  }
  return nextLimit;
}

Value TripCount::hasNext(OpBuilder &builder, Value counter) {
  return isNextExact() ? isLess(builder, getLater(builder, counter, 1),
                                loop.getUpperBound())
                       : hasNextOfAny(builder, counter);
}

Value TripCount::hasNextOfAny(OpBuilder &builder, Value counter) {
  return isLess(builder, counter, getNextLimit());
}

Value TripCount::getUpperBoundIf(OpBuilder &builder, Value condition) {
  return arith::SelectOp::create(builder, loc, condition, loop.getUpperBound(),
                                 loop.getLowerBound());
}

void TripCount::prepareNext() {
  if (!isNextExact())
    getNextLimit();
}

void TripCount::prepareLater(unsigned mostAhead) {
  for (unsigned ahead : llvm::seq(mostAhead))
    getLimit(ahead + 1);
}

Value TripCount::getSecondCounter(OpBuilder &builder) {
  Value lower = loop.getLowerBound(), second = getCounter(builder, 1);
  bool overflows = true;
  std::optional<APInt> first = getConstant(lower),
                       step = getConstant(loop.getStep());
  if (first && step)
    (void)(isUnsigned() ? first->uadd_ov(*step, overflows)
                        : first->sadd_ov(*step, overflows));
  if (!overflows || isNextExact())
    return second;
  return builder.createOrFold<arith::SelectOp>(loc, hasNext(builder, lower),
                                               second, loop.getUpperBound());
}

std::optional<TripCount::Groups> TripCount::getGroups(uint64_t factor) {
  ImplicitLocOpBuilder b(loc, loop);
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(),
        step = loop.getStep();
  unsigned width = getWidth();
  APInt greatest = getGreatest();
  if (greatest.ult(factor))
    return std::nullopt;
  APInt greatestStep = greatest.udiv(APInt(width, factor));
  std::optional<APInt> known = getConstant(step);
  if (known && known->ugt(greatestStep))
    return std::nullopt;
  auto constant = [&](const APInt &value) {
    return makeConstant(b, loc, getType(), value);
  };
  // A loop that ends before it begins has no iterations. The distance between
  // its bounds, taken without a sign, always fits.
  Value bound = isUnsigned() ? b.createOrFold<arith::MaxUIOp>(lower, upper)
                             : b.createOrFold<arith::MaxSIOp>(lower, upper);
  Value one = constant(APInt(width, 1)),
        several = constant(APInt(width, factor));
  Value span = b.createOrFold<arith::SubIOp>(bound, lower);
  // Where this wraps around, more iterations are left over.
  Value rounded = b.createOrFold<arith::AddIOp>(
      span, b.createOrFold<arith::SubIOp>(step, one));
  Value count = b.createOrFold<arith::DivUIOp>(rounded, step);
  Value groups = b.createOrFold<arith::DivUIOp>(count, several);
  Value groupStep = b.createOrFold<arith::MulIOp>(step, several);
  if (!known) {
    Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, step,
                                       constant(greatestStep));
    groups = arith::SelectOp::create(b, fits, groups,
                                     constant(APInt::getZero(width)));
    // A loop without iterations has a positive step, too.
    groupStep = arith::SelectOp::create(b, fits, groupStep, step);
  }
  // The last iteration may be less than a step before the end, beyond which the
  // type need not go on.
  Value length = b.createOrFold<arith::MinUIOp>(
      b.createOrFold<arith::MulIOp>(groups, groupStep), span);
  return Groups{b.createOrFold<arith::AddIOp>(lower, length), groupStep};
}

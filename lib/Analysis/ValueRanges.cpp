//===-- ValueRanges.cpp - Ranges of integers ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using dataflow::IntegerValueRangeLattice;

bool mlir::triton::isNonNegative(const IntegerValueRange &range) {
  return !range.isUninitialized() && range.getValue().smin().isNonNegative();
}

//===----------------------------------------------------------------------===//
// What is stated
//===----------------------------------------------------------------------===//

/// The values that compare like this with a constant.
static ConstantIntRanges getValuesThat(arith::CmpIPredicate predicate,
                                       const APInt &bound) {
  using P = arith::CmpIPredicate;
  unsigned width = bound.getBitWidth();
  APInt smin = APInt::getSignedMinValue(width);
  APInt smax = APInt::getSignedMaxValue(width);
  APInt umin = APInt::getZero(width), umax = APInt::getMaxValue(width);
  auto isSigned = [&](const APInt &min, const APInt &max) {
    // A comparison that nothing satisfies says nothing that helps.
    return min.sle(max) ? ConstantIntRanges::fromSigned(min, max)
                        : ConstantIntRanges::maxRange(width);
  };
  auto isUnsigned = [&](const APInt &min, const APInt &max) {
    return min.ule(max) ? ConstantIntRanges::fromUnsigned(min, max)
                        : ConstantIntRanges::maxRange(width);
  };
  switch (predicate) {
  case P::eq:
    return ConstantIntRanges::constant(bound);
  case P::ne:
    return ConstantIntRanges::maxRange(width);
  case P::slt:
    return bound == smin ? ConstantIntRanges::maxRange(width)
                         : isSigned(smin, bound - 1);
  case P::sle:
    return isSigned(smin, bound);
  case P::sgt:
    return bound == smax ? ConstantIntRanges::maxRange(width)
                         : isSigned(bound + 1, smax);
  case P::sge:
    return isSigned(bound, smax);
  case P::ult:
    return bound.isZero() ? ConstantIntRanges::maxRange(width)
                          : isUnsigned(umin, bound - 1);
  case P::ule:
    return isUnsigned(umin, bound);
  case P::ugt:
    return bound.isAllOnes() ? ConstantIntRanges::maxRange(width)
                             : isUnsigned(bound + 1, umax);
  case P::uge:
    return isUnsigned(bound, umax);
  }
  llvm_unreachable("unknown predicate");
}

/// Calls `state` with each value that a condition bounds by a constant.
static void
forEachBound(Value condition,
             function_ref<void(Value, const ConstantIntRanges &)> state) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    forEachBound(both.getLhs(), state);
    forEachBound(both.getRhs(), state);
    return;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isInteger())
    return;
  // Constants are on the right after canonicalization.
  APInt bound;
  if (matchPattern(compare.getRhs(), m_ConstantInt(&bound)))
    state(compare.getLhs(), getValuesThat(compare.getPredicate(), bound));
}

static bool isEmpty(const ConstantIntRanges &range) {
  return range.smin().sgt(range.smax()) || range.umin().ugt(range.umax());
}

LogicalResult ValueRangeAnalysis::initialize(Operation *top) {
  top->walk([&](LLVM::AssumeOp assume) {
    forEachBound(assume.getCond(),
                 [&](Value value, const ConstantIntRanges &range) {
                   // Control that reaches the value reaches the promise, too; a
                   // promise made in a branch holds only there.
                   if (value.getParentBlock() != assume->getBlock())
                     return;
                   auto [it, isNew] = assumed.try_emplace(value, range);
                   if (isNew)
                     return;
                   ConstantIntRanges both = it->second.intersection(range);
                   if (!isEmpty(both))
                     it->second = both;
                 });
  });
  return IntegerRangeAnalysis::initialize(top);
}

IntegerValueRange ValueRangeAnalysis::restrict(Value value,
                                               IntegerValueRange range) const {
  auto it = assumed.find(value);
  if (it == assumed.end() || range.isUninitialized())
    return range;
  ConstantIntRanges both = range.getValue().intersection(it->second);
  return isEmpty(both) ? range : IntegerValueRange(both);
}

/// What the attributes of an argument of a function state.
static std::optional<ConstantIntRanges> getStated(BlockArgument arg,
                                                  unsigned width) {
  auto func = dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
  if (!func || !arg.getOwner()->isEntryBlock() || width == 0)
    return std::nullopt; // Only integers have a width.
  APInt low = APInt::getSignedMinValue(width);
  APInt high = APInt::getSignedMaxValue(width);
  if (func.getArgAttr(arg.getArgNumber(), kNonNegativeAttr))
    low.clearAllBits();
  if (auto most =
          func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kMaxAttr);
      most && most.getValue().isSignedIntN(width))
    high = APInt(width, most.getInt(), /*isSigned=*/true);
  if (low.sgt(high))
    return std::nullopt;
  return ConstantIntRanges::fromSigned(low, high);
}

void ValueRangeAnalysis::setToEntryState(IntegerValueRangeLattice *lattice) {
  Value value = lattice->getAnchor();
  IntegerValueRange range = IntegerValueRange::getMaxRange(value);
  if (auto arg = dyn_cast<BlockArgument>(value);
      arg && !range.isUninitialized())
    if (auto stated = getStated(arg, range.getValue().smin().getBitWidth()))
      range = *stated;
  propagateIfChanged(lattice, lattice->join(restrict(value, range)));
}

/// Counters of loops that compare without a sign; upstream's analysis takes all
/// loops to compare with one.
void ValueRangeAnalysis::visitNonControlFlowArguments(
    Operation *op, const RegionSuccessor &successor,
    ArrayRef<IntegerValueRangeLattice *> argLattices, unsigned firstIndex) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop || !loop.getUnsignedCmp())
    return IntegerRangeAnalysis::visitNonControlFlowArguments(
        op, successor, argLattices, firstIndex);
  ProgramPoint *point = getProgramPointBefore(loop.getBody());
  const IntegerValueRange &lower =
      getLatticeElementFor(point, loop.getLowerBound())->getValue();
  const IntegerValueRange &upper =
      getLatticeElementFor(point, loop.getUpperBound())->getValue();
  if (lower.isUninitialized() || upper.isUninitialized())
    return;
  APInt least = lower.getValue().umin(), end = upper.getValue().umax();
  IntegerValueRangeLattice *counter = getLatticeElement(loop.getInductionVar());
  // Of a loop without iterations anything is true.
  if (!least.ult(end))
    return setToEntryState(counter);
  propagateIfChanged(
      counter, counter->join(ConstantIntRanges::fromUnsigned(least, end - 1)));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Takes every bound that has moved to its end, so that what a loop carries
/// settles after a few steps; numbers that only grow stay non-negative.
static IntegerValueRange widen(const IntegerValueRange &before,
                               const IntegerValueRange &after) {
  if (before.isUninitialized() || after.isUninitialized() || before == after)
    return after;
  const ConstantIntRanges &from = before.getValue(), &to = after.getValue();
  unsigned width = to.smin().getBitWidth();
  APInt umin = to.umin(), umax = to.umax();
  APInt smin = to.smin(), smax = to.smax();
  if (umin.ult(from.umin()))
    umin = APInt::getZero(width);
  if (umax.ugt(from.umax()))
    umax = smin.isNonNegative() && !umax.isNegative()
               ? APInt::getSignedMaxValue(width)
               : APInt::getMaxValue(width);
  if (smin.slt(from.smin()))
    smin = smin.isNonNegative() ? APInt::getZero(width)
                                : APInt::getSignedMinValue(width);
  if (smax.sgt(from.smax()))
    smax = APInt::getSignedMaxValue(width);
  return IntegerValueRange(ConstantIntRanges(umin, umax, smin, smax));
}

/// Of an addition, subtraction, multiplication or shift that does not overflow;
/// nothing for other operations.
static std::optional<ConstantIntRanges>
inferWithoutOverflow(Operation *op, ArrayRef<IntegerValueRange> operands) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(op))
    return std::nullopt;
  SmallVector<ConstantIntRanges> ranges;
  for (const IntegerValueRange &operand : operands)
    ranges.push_back(operand.getValue());
  auto flags = intrange::OverflowFlags::Nsw;
  return llvm::TypeSwitch<Operation *, ConstantIntRanges>(op)
      .Case([&](arith::AddIOp) { return intrange::inferAdd(ranges, flags); })
      .Case([&](arith::SubIOp) { return intrange::inferSub(ranges, flags); })
      .Case([&](arith::MulIOp) { return intrange::inferMul(ranges, flags); })
      .Case([&](arith::ShLIOp) { return intrange::inferShl(ranges, flags); });
}

/// The number that `value` is counted among: that of programs along its axis,
/// the divisor of a remainder, the end of the loop that counts it. `value` is
/// less than that if that is not negative; null if there is none.
static Value getCountOf(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop && arg == loop.getInductionVar() && !loop.getUnsignedCmp()
               ? loop.getUpperBound()
               : Value();
  }
  Operation *def = value.getDefiningOp();
  return isa<arith::RemSIOp, arith::RemUIOp>(def) ? def->getOperand(1)
                                                  : Value();
}

static bool isNumberOfPrograms(Value value, GetProgramIdOp program) {
  auto count = value.getDefiningOp<GetNumProgramsOp>();
  return count && program && count.getAxis() == program.getAxis();
}

/// Of numbers counted from the last one: (how many there are - 1) - this one.
static std::optional<ConstantIntRanges>
inferFromTheEnd(arith::SubIOp sub, ArrayRef<IntegerValueRange> operands) {
  Operation *last = sub.getLhs().getDefiningOp();
  APInt added;
  if (!isa_and_present<arith::SubIOp, arith::AddIOp>(last) ||
      !matchPattern(last->getOperand(1), m_ConstantInt(&added)) ||
      !(isa<arith::SubIOp>(last) ? added.isOne() : added.isAllOnes()))
    return std::nullopt;
  Value count = last->getOperand(0);
  bool isCounted =
      getCountOf(sub.getRhs()) == count ||
      isNumberOfPrograms(count, sub.getRhs().getDefiningOp<GetProgramIdOp>());
  if (!isCounted || !isNonNegative(operands[1]) ||
      operands[0].isUninitialized())
    return std::nullopt;
  // From -1 on, and short of where the least number less one is.
  const ConstantIntRanges &lasts = operands[0].getValue();
  if (lasts.smin().slt(-1) || lasts.smax().isMaxSignedValue())
    return std::nullopt;
  APInt zero = APInt::getZero(lasts.smax().getBitWidth());
  return ConstantIntRanges::fromSigned(
      zero, llvm::APIntOps::smax(zero, lasts.smax()));
}

/// The results of tt and ttg whose elements are those of operands, or known.
static std::optional<IntegerValueRange>
inferElements(Operation *op, ArrayRef<IntegerValueRange> operands) {
  auto between = [](int64_t low, int64_t high) {
    return IntegerValueRange(ConstantIntRanges::fromSigned(
        APInt(32, low, /*isSigned=*/true), APInt(32, high, /*isSigned=*/true)));
  };
  using Result = std::optional<IntegerValueRange>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](MakeRangeOp range) {
        return between(range.getStart(), int64_t(range.getEnd()) - 1);
      })
      .Case([&](arith::SubIOp sub) {
        std::optional<ConstantIntRanges> range = inferFromTheEnd(sub, operands);
        return range ? Result(IntegerValueRange(*range)) : std::nullopt;
      })
      .Case([&](GetProgramIdOp) { return between(0, INT32_MAX - 1); })
      .Case([&](GetNumProgramsOp) { return between(1, INT32_MAX); })
      .Case<SplatOp, UnsplatOp, ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp,
            SplitOp, gpu::ConvertLayoutOp>([&](auto) { return operands[0]; })
      .Case<JoinOp, CatOp>([&](auto) {
        return IntegerValueRange::join(operands[0], operands[1]);
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Whether upstream gives up on the second operand. That is a divisor that may
/// be zero, by which nothing is divided, or a shift by the width or more.
static bool mayBeUndefined(Operation *op, const ConstantIntRanges &second) {
  if (isa<arith::ShRSIOp, arith::ShRUIOp>(op))
    return second.umax().uge(second.umax().getBitWidth());
  return !second.smin().isStrictlyPositive();
}

/// Of a quotient, a remainder or what a shift to the right leaves of a number
/// that is not negative: it is not negative, and not larger.
static std::optional<ConstantIntRanges>
inferPartOfNonNegative(Operation *op, ArrayRef<IntegerValueRange> operands) {
  if (!isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp,
           arith::ShRSIOp, arith::ShRUIOp>(op) ||
      !isNonNegative(operands[0]) || operands[1].isUninitialized() ||
      !mayBeUndefined(op, operands[1].getValue()))
    return std::nullopt;
  // A signed quotient has the sign of the divisor, too; a remainder does not.
  if (isa<arith::DivSIOp>(op) && !isNonNegative(operands[1]))
    return std::nullopt;
  const APInt &most = operands[0].getValue().smax();
  return ConstantIntRanges::fromSigned(APInt::getZero(most.getBitWidth()),
                                       most);
}

LogicalResult ValueRangeAnalysis::visitOperation(
    Operation *op, ArrayRef<const IntegerValueRangeLattice *> args,
    ArrayRef<IntegerValueRangeLattice *> results) {
  SmallVector<IntegerValueRange> operands;
  for (const IntegerValueRangeLattice *arg : args)
    operands.push_back(arg->getValue());
  auto set = [&](Value value, const IntegerValueRange &range) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return;
    IntegerValueRangeLattice *lattice = results[result.getResultNumber()];
    const IntegerValueRange &before = lattice->getValue();
    IntegerValueRange after =
        IntegerValueRange::join(before, restrict(value, range));
    // What goes round in a loop goes through its terminator.
    if (llvm::any_of(value.getUsers(), [](Operation *user) {
          return user->hasTrait<mlir::OpTrait::IsTerminator>();
        }))
      after = widen(before, after);
    propagateIfChanged(lattice, lattice->join(after));
  };

  if (std::optional<IntegerValueRange> range = inferElements(op, operands)) {
    for (Value result : op->getResults())
      set(result, *range);
    return success();
  }
  auto inferrable = dyn_cast<InferIntRangeInterface>(op);
  if (!inferrable) {
    setAllToEntryStates(results);
    return success();
  }
  if (overflow == Overflow::NeverHappens &&
      llvm::none_of(operands, std::mem_fn(&IntegerValueRange::isUninitialized)))
    if (auto range = inferWithoutOverflow(op, operands)) {
      set(op->getResult(0), IntegerValueRange(*range));
      return success();
    }
  if (auto range = inferPartOfNonNegative(op, operands)) {
    set(op->getResult(0), IntegerValueRange(*range));
    return success();
  }
  // Upstream's rule negates the dividend, which the least number does not
  // survive.
  if (isa<arith::CeilDivSIOp>(op) && !operands[0].isUninitialized() &&
      operands[0].getValue().smin().isMinSignedValue()) {
    setAllToEntryStates(results);
    return success();
  }
  inferrable.inferResultRangesFromOptional(operands, set);
  return success();
}

//===----------------------------------------------------------------------===//
// ValueRanges
//===----------------------------------------------------------------------===//

const IntegerValueRange *ValueRanges::lookup(Value value) {
  if (!solver) {
    solver = std::make_unique<DataFlowSolver>();
    solver->load<dataflow::DeadCodeAnalysis>();
    solver->load<dataflow::SparseConstantPropagation>();
    solver->load<ValueRangeAnalysis>(overflow);
    // Where this fails, nothing is known of any value.
    if (failed(solver->initializeAndRun(top)))
      solver = std::make_unique<DataFlowSolver>();
  }
  auto *range = solver->lookupState<IntegerValueRangeLattice>(value);
  return range ? &range->getValue() : nullptr;
}

bool ValueRanges::isNonNegative(Value value) {
  const IntegerValueRange *range = lookup(value);
  return range && triton::isNonNegative(*range);
}

std::optional<int64_t> ValueRanges::getMost(Value value) {
  const IntegerValueRange *range = lookup(value);
  if (!range || range->isUninitialized() ||
      range->getValue().smax().getBitWidth() == 0)
    return std::nullopt;
  return range->getValue().smax().getSExtValue();
}

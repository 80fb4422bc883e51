//===-- AxisInfoTransfer.cpp - Axis info operation by operation -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Throughout, "group" is an aligned run of g neighbours along one axis, and a
// value that is contiguous over a group with a start divisible by g reads
// q*g + j for j in [0, g): such a run does not wrap around, as g divides the
// values at which integers do. Most rules below are one line of arithmetic on
// that form; q may be negative unless a rule says otherwise.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::triton;

using DimVector = AxisInfo::DimVector;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static int64_t gcd(int64_t a, int64_t b) { return std::gcd(a, b); }

template <typename... Rest>
static int64_t gcd(int64_t a, int64_t b, Rest... rest) {
  return gcd(std::gcd(a, b), rest...);
}

/// The product of two divisors (powers of two), without overflow.
static int64_t mulDivisors(int64_t a, int64_t b) {
  if (a > AxisInfo::kMaxDivisibility / b)
    return AxisInfo::kMaxDivisibility;
  return a * b;
}

static unsigned getIntWidth(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isInteger() ? element.getIntOrFloatBitWidth() : 64;
}

/// The canonical form of a known value: sign-extended, but i1 is 0 or 1.
static int64_t canonical(const APInt &value) {
  return value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue();
}

namespace {
/// One axis of an operand or a result.
struct Axis {
  int64_t contiguity = 1;
  int64_t divisibility = 1;
  int64_t constancy = 1;
};

/// An operand, seen along one axis.
class Along {
public:
  Along(const AxisInfo &info, unsigned dim) : info(info), dim(dim) {}
  int64_t contiguity() const { return info.getContiguity(dim); }
  int64_t divisibility() const { return info.getDivisibility(dim); }
  int64_t constancy() const { return info.getConstancy(dim); }
  int64_t divisibilityAt(int64_t group) const {
    return info.getDivisibilityAt(dim, group);
  }
  int64_t divisibilityOfAll() const { return info.getDivisibilityOfAll(); }
  std::optional<int64_t> constant() const { return info.getConstantValue(); }
  int64_t unit() const { return info.getUnit(); }
  /// The longest groups over which this is q*g + j.
  int64_t alignedRun() const {
    return gcd(contiguity(), std::max<int64_t>(divisibility() / unit(), 1));
  }
  /// The longest groups over which this is one multiple of g.
  int64_t alignedConstant() const {
    return gcd(constancy(), divisibilityOfAll());
  }

private:
  const AxisInfo &info;
  unsigned dim;
};
} // namespace

/// Builds the info of a result of `type` axis by axis.
static AxisInfo build(Type type, function_ref<Axis(unsigned dim)> rule,
                      std::optional<int64_t> constant = std::nullopt) {
  DimVector shape = AxisInfo::getShape(type);
  if (constant && !isa<PointerType>(getElementTypeOrSelf(type)))
    return AxisInfo::getConstant(shape, *constant);
  // Half of what the type can count: longer runs have a sign change inside.
  int64_t longest = int64_t(1) << (std::min(getIntWidth(type), 63u) - 1);
  DimVector contiguity, divisibility, constancy;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    Axis axis = rule(dim);
    if (axis.contiguity > longest)
      axis = {longest, gcd(axis.divisibility, longest), axis.constancy};
    contiguity.push_back(axis.contiguity);
    divisibility.push_back(axis.divisibility);
    constancy.push_back(axis.constancy);
  }
  return AxisInfo(std::move(contiguity), std::move(divisibility),
                  std::move(constancy), std::nullopt, AxisInfo::getUnit(type));
}

/// Describes a scalar as the tensor of that shape which repeats it.
static AxisInfo repeat(const AxisInfo &scalar, Type type) {
  return build(
      type,
      [&](unsigned dim) {
        return Axis{1, scalar.getDivisibility(0),
                    AxisInfo::getShape(type)[dim]};
      },
      scalar.getConstantValue());
}

/// What is known of a result of which only equality with its operands' pattern
/// counts: equal operands give equal results.
static AxisInfo constancyOnly(Type type, ArrayRef<AxisInfo> operands) {
  DimVector shape = AxisInfo::getShape(type);
  return build(type, [&](unsigned dim) {
    int64_t constancy = shape[dim];
    for (const AxisInfo &operand : operands)
      if (operand.getRank() == shape.size() && shape.size() != 0)
        constancy = gcd(constancy, operand.getConstancy(dim));
    return Axis{1, 1, constancy};
  });
}

//===----------------------------------------------------------------------===//
// Known values
//===----------------------------------------------------------------------===//

/// Evaluates an integer operation whose operands are known.
static std::optional<int64_t> evaluate(Operation *op,
                                       ArrayRef<AxisInfo> operands) {
  SmallVector<Attribute> values;
  for (auto [operand, info] : llvm::zip(op->getOperands(), operands)) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (!info.getConstantValue() || !isa<IntegerType, IndexType>(element))
      return std::nullopt;
    APInt value(getIntWidth(element), *info.getConstantValue(),
                /*isSigned=*/true, /*implicitTrunc=*/true);
    Attribute attr = IntegerAttr::get(element, value);
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()))
      attr = DenseElementsAttr::get(tensor, value);
    values.push_back(attr);
  }
  SmallVector<OpFoldResult> folded;
  if (values.empty() || failed(op->fold(values, folded)) || folded.size() != 1)
    return std::nullopt;
  auto attr = dyn_cast<Attribute>(folded[0]);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr))
    return canonical(integer.getValue());
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attr))
    if (dense.isSplat())
      return canonical(dense.getSplatValue<APInt>());
  return std::nullopt;
}

static AxisInfo inferConstant(arith::ConstantOp op) {
  Type type = op.getType();
  DimVector shape = AxisInfo::getShape(type);
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    return AxisInfo::getConstant(shape, canonical(integer.getValue()));
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return AxisInfo::getPessimistic(type);
  if (dense.isSplat()) {
    if (auto ints = dyn_cast<DenseIntElementsAttr>(op.getValue()))
      return AxisInfo::getConstant(shape,
                                   canonical(ints.getSplatValue<APInt>()));
    return build(type, [&](unsigned dim) { return Axis{1, 1, shape[dim]}; });
  }
  return AxisInfo::getPessimistic(type);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// x + y, and x - y if `subtract`; `y` counts in `scale`s of x (addptr).
static Axis addAlong(Along x, Along y, bool subtract, int64_t scale = 1) {
  Axis result;
  result.constancy = gcd(x.constancy(), y.constancy());
  result.contiguity = gcd(x.contiguity(), y.constancy());
  if (!subtract)
    result.contiguity =
        std::max(result.contiguity, gcd(x.constancy(), y.contiguity()));
  result.divisibility =
      gcd(x.divisibilityAt(result.contiguity),
          mulDivisors(y.divisibilityAt(result.contiguity), scale));
  return result;
}

static Axis mulAlong(Along x, Along y) {
  for (auto [one, other] : {std::pair(x, y), std::pair(y, x)})
    if (one.constant() == 1)
      return {other.contiguity(), other.divisibility(), other.constancy()};
  return {1, mulDivisors(x.divisibilityOfAll(), y.divisibilityOfAll()),
          gcd(x.constancy(), y.constancy())};
}

/// x / y. `constantOverRuns`: whether numbers between two multiples of y are
/// rounded the same way.
static Axis divAlong(Along x, Along y, bool constantOverRuns) {
  if (y.constant() == 1)
    return {x.contiguity(), x.divisibility(), x.constancy()};
  Axis result;
  result.constancy = gcd(x.constancy(), y.constancy());
  // (q*g + j) / (m*g) does not depend on j.
  if (constantOverRuns)
    result.constancy =
        std::max(result.constancy, gcd(x.alignedRun(), y.alignedConstant()));
  if (y.constant() && *y.constant() > 0 && llvm::isPowerOf2_64(*y.constant())) {
    int64_t divisor = *y.constant();
    // Where it divides every element, quotients are exact. Of a longer run only
    // the first quotient is known to be; of a shorter one that starts at a
    // multiple, there is no other.
    int64_t known = constantOverRuns && x.contiguity() <= divisor
                        ? x.divisibility()
                        : x.divisibilityOfAll();
    if (known % divisor == 0)
      result.divisibility = known / divisor;
  }
  return result;
}

/// The remainder of x / y. `countsUp`: whether it goes up with x between two
/// multiples of y.
static Axis remAlong(Along x, Along y, bool countsUp) {
  Axis result;
  result.constancy = gcd(x.constancy(), y.constancy());
  // (q*g + j) % (m*g) == (q % m)*g + j.
  if (countsUp)
    result.contiguity = gcd(x.alignedRun(), y.alignedConstant());
  result.divisibility =
      gcd(x.divisibilityAt(result.contiguity), y.divisibilityOfAll());
  return result;
}

static Axis andAlong(Along x, Along y) {
  Axis result;
  result.constancy = gcd(x.constancy(), y.constancy());
  result.divisibility = std::max(x.divisibilityOfAll(), y.divisibilityOfAll());
  for (auto [run, mask] : {std::pair(x, y), std::pair(y, x)}) {
    // (q*g + j) & (m*g) == (q & m)*g.
    result.constancy = std::max(result.constancy,
                                gcd(run.alignedRun(), mask.alignedConstant()));
    // x & (2^k - 1) is x % 2^k.
    if (mask.constant() && *mask.constant() >= 0 &&
        *mask.constant() < AxisInfo::kMaxDivisibility &&
        llvm::isPowerOf2_64(*mask.constant() + 1)) {
      int64_t group = gcd(run.alignedRun(), *mask.constant() + 1);
      if (group > 1) {
        result.contiguity = group;
        result.divisibility =
            gcd(run.divisibilityAt(group), *mask.constant() + 1);
      }
    }
  }
  return result;
}

static Axis orAlong(Along x, Along y) {
  Axis result;
  result.constancy = gcd(x.constancy(), y.constancy());
  for (auto [run, other] : {std::pair(x, y), std::pair(y, x)}) {
    // (q*g + j) | (m*g) == (q | m)*g + j, and the same for xor.
    result.contiguity = std::max(
        result.contiguity, gcd(run.alignedRun(), other.alignedConstant()));
    if (other.constant() == 0)
      result.contiguity = std::max(result.contiguity, run.contiguity());
  }
  result.divisibility = gcd(x.divisibilityAt(result.contiguity),
                            y.divisibilityAt(result.contiguity));
  return result;
}

static Axis shlAlong(Along x, Along y) {
  if (!y.constant() || *y.constant() < 0 || *y.constant() > 62)
    return {1, x.divisibilityOfAll(), gcd(x.constancy(), y.constancy())};
  if (*y.constant() == 0)
    return {x.contiguity(), x.divisibility(), x.constancy()};
  return {1, mulDivisors(x.divisibilityOfAll(), int64_t(1) << *y.constant()),
          x.constancy()};
}

/// Of values of `x` and `y`, in runs of `contiguity` of the same one.
static Axis mixedAlong(Along x, Along y, int64_t contiguity) {
  Axis result;
  result.contiguity = contiguity;
  result.constancy = gcd(x.constancy(), y.constancy());
  result.divisibility = gcd(x.divisibilityAt(result.contiguity),
                            y.divisibilityAt(result.contiguity));
  return result;
}

/// Of whichever of the two, the same one in each group.
static Axis eitherAlong(Along x, Along y) {
  return mixedAlong(x, y, gcd(x.contiguity(), y.contiguity()));
}

/// Of a maximum or minimum. Runs compare as their first values do; what wraps
/// around may be the greater one up to there and the smaller one after.
static Axis extremeAlong(Along x, Along y) {
  return mixedAlong(x, y, gcd(x.alignedRun(), y.alignedRun()));
}

static Axis cmpAlong(arith::CmpIPredicate predicate, Along x, Along y) {
  using P = arith::CmpIPredicate;
  Axis result;
  result.constancy = gcd(x.constancy(), y.constancy());
  switch (predicate) {
  case P::slt:
  case P::ult:
  case P::sge:
  case P::uge:
    // q*g + j < m*g exactly if q < m.
    result.constancy =
        std::max(result.constancy, gcd(x.alignedRun(), y.alignedConstant()));
    break;
  case P::sgt:
  case P::ugt:
  case P::sle:
  case P::ule:
    result.constancy =
        std::max(result.constancy, gcd(y.alignedRun(), x.alignedConstant()));
    break;
  case P::eq:
  case P::ne:
    break;
  }
  return result;
}

static AxisInfo inferSelect(arith::SelectOp op, ArrayRef<AxisInfo> operands) {
  const AxisInfo &yes = operands[1], &no = operands[2];
  if (std::optional<int64_t> known = operands[0].getConstantValue())
    return *known ? yes : no;
  bool scalarCondition = !isa<RankedTensorType>(op.getCondition().getType());
  std::optional<int64_t> constant;
  if (yes.getConstantValue() == no.getConstantValue())
    constant = yes.getConstantValue();
  return build(
      op.getType(),
      [&](unsigned dim) {
        Along x(yes, dim), y(no, dim);
        int64_t whole = AxisInfo::getShape(op.getType())[dim];
        int64_t uniform =
            scalarCondition ? whole : operands[0].getConstancy(dim);
        Axis result;
        result.contiguity = gcd(x.contiguity(), y.contiguity(), uniform);
        result.constancy = gcd(x.constancy(), y.constancy(), uniform);
        result.divisibility = gcd(x.divisibilityAt(result.contiguity),
                                  y.divisibilityAt(result.contiguity));
        return result;
      },
      constant);
}

/// Integer width changes that keep the value.
static AxisInfo inferCast(Operation *op, const AxisInfo &source) {
  Type type = op->getResult(0).getType();
  return build(
      type,
      [&](unsigned dim) {
        return Axis{source.getContiguity(dim), source.getDivisibility(dim),
                    source.getConstancy(dim)};
      },
      evaluate(op, source));
}

/// Pointers and the integers they are: runs survive only where a step means the
/// same on both sides.
static AxisInfo inferReinterpretation(Operation *op, const AxisInfo &source) {
  Type type = op->getResult(0).getType();
  bool isInteger = isa<PointerType, IntegerType>(getElementTypeOrSelf(type)) &&
                   isa<PointerType, IntegerType>(
                       getElementTypeOrSelf(op->getOperand(0).getType()));
  bool sameUnit = AxisInfo::getUnit(type) == source.getUnit();
  return build(type, [&](unsigned dim) {
    Axis result{1, 1, source.getConstancy(dim)};
    if (isInteger) {
      result.contiguity = sameUnit ? source.getContiguity(dim) : 1;
      result.divisibility = source.getDivisibilityAt(dim, result.contiguity);
    }
    return result;
  });
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static AxisInfo inferMakeRange(MakeRangeOp op) {
  int64_t start = op.getStart(), end = op.getEnd();
  int64_t size = end - start;
  // What fits into 32 bits, as the range itself does.
  int64_t divisor = std::min<int64_t>(AxisInfo::getDivisor(start), 1 << 30);
  return build(op.getType(), [&](unsigned) { return Axis{size, divisor, 1}; });
}

static AxisInfo inferExpandDims(ExpandDimsOp op, const AxisInfo &source) {
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

static AxisInfo inferBroadcast(BroadcastOp op, const AxisInfo &source) {
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

static AxisInfo inferTrans(TransOp op, const AxisInfo &source) {
  return build(
      op.getType(),
      [&](unsigned dim) {
        unsigned from = op.getOrder()[dim];
        return Axis{source.getContiguity(from), source.getDivisibility(from),
                    source.getConstancy(from)};
      },
      source.getConstantValue());
}

/// Follows an axis of the result only where it is an axis of the source too
/// (unit axes set aside), or where both are the fastest one.
static AxisInfo inferReshape(ReshapeOp op, const AxisInfo &source) {
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
  // Equal axes from the slow end: leading products agree as long as they match.
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

static AxisInfo inferJoin(JoinOp op, const AxisInfo &lhs, const AxisInfo &rhs) {
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

static AxisInfo inferSplit(Value half, const AxisInfo &source) {
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

static AxisInfo inferPassThrough(Type type, const AxisInfo &source) {
  return build(
      type,
      [&](unsigned dim) {
        return Axis{source.getContiguity(dim), source.getDivisibility(dim),
                    source.getConstancy(dim)};
      },
      source.getConstantValue());
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

bool mlir::triton::dependsOnSigns(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp>(op) &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

void mlir::triton::inferAxisInfo(Operation *op, ArrayRef<AxisInfo> operands,
                                 function_ref<bool(unsigned)> isNonNegative,
                                 MutableArrayRef<AxisInfo> results) {
  if (results.empty())
    return;
  if (auto split = dyn_cast<SplitOp>(op)) {
    for (auto [half, info] : llvm::zip(split->getResults(), results))
      info = inferSplit(half, operands[0]);
    return;
  }
  if (results.size() != 1)
    return;

  Type type = op->getResult(0).getType();
  auto binary = [&](auto rule) {
    return build(
        type,
        [&](unsigned dim) {
          return rule(Along(operands[0], dim), Along(operands[1], dim));
        },
        evaluate(op, operands));
  };
  auto divide = [&](bool constantOverRuns) {
    return binary(
        [=](Along x, Along y) { return divAlong(x, y, constantOverRuns); });
  };
  auto remainder = [&](bool countsUp) {
    return binary([=](Along x, Along y) { return remAlong(x, y, countsUp); });
  };
  auto add = [](Along x, Along y) { return addAlong(x, y, false); };
  auto sub = [](Along x, Along y) { return addAlong(x, y, true); };

  results[0] =
      llvm::TypeSwitch<Operation *, AxisInfo>(op)
          .Case([](arith::ConstantOp op) { return inferConstant(op); })
          .Case([&](arith::AddIOp) { return binary(add); })
          .Case([&](arith::SubIOp) { return binary(sub); })
          .Case([&](AddPtrOp) {
            return binary([&](Along x, Along y) {
              return addAlong(x, y, false, AxisInfo::getUnit(type));
            });
          })
          .Case([&](arith::MulIOp) { return binary(mulAlong); })
          .Case([&](arith::DivUIOp) { return divide(true); })
          // Rounds towards zero, so -1/16 and 0/16 are the same but -16/16 is
          // not like -15/16.
          .Case([&](arith::DivSIOp) { return divide(isNonNegative(0)); })
          // Rounds down, but by -16 the other way.
          .Case([&](arith::FloorDivSIOp) { return divide(isNonNegative(1)); })
          .Case([&](arith::RemUIOp) { return remainder(true); })
          // Negative for a negative dividend.
          .Case([&](arith::RemSIOp) { return remainder(isNonNegative(0)); })
          .Case([&](arith::AndIOp) { return binary(andAlong); })
          .Case<arith::OrIOp, arith::XOrIOp>(
              [&](auto) { return binary(orAlong); })
          .Case([&](arith::ShLIOp) { return binary(shlAlong); })
          .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) {
            // A known shift is a division that rounds down.
            std::optional<int64_t> shift = operands[1].getConstantValue();
            if (!shift || *shift < 0 || *shift > 62)
              return constancyOnly(type, operands);
            AxisInfo divisor = AxisInfo::getConstant(AxisInfo::getShape(type),
                                                     int64_t(1) << *shift);
            return build(
                type,
                [&](unsigned dim) {
                  return divAlong(Along(operands[0], dim), Along(divisor, dim),
                                  /*constantOverRuns=*/true);
                },
                evaluate(op, operands));
          })
          .Case<arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(
              [&](auto) { return binary(extremeAlong); })
          .Case([&](arith::CmpIOp cmp) {
            return binary([&](Along x, Along y) {
              return cmpAlong(cmp.getPredicate(), x, y);
            });
          })
          .Case([&](arith::SelectOp select) {
            return inferSelect(select, operands);
          })
          .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
                arith::IndexCastOp, arith::IndexCastUIOp>(
              [&](auto) { return inferCast(op, operands[0]); })
          .Case<BitcastOp, IntToPtrOp, PtrToIntOp>(
              [&](auto) { return inferReinterpretation(op, operands[0]); })
          .Case([](MakeRangeOp range) { return inferMakeRange(range); })
          .Case([&](SplatOp) { return repeat(operands[0], type); })
          .Case([&](UnsplatOp) {
            return build(
                type,
                [&](unsigned) {
                  return Axis{1, operands[0].getDivisibilityOfAll(), 1};
                },
                operands[0].getConstantValue());
          })
          .Case(
              [&](ExpandDimsOp op) { return inferExpandDims(op, operands[0]); })
          .Case([&](BroadcastOp op) { return inferBroadcast(op, operands[0]); })
          .Case([&](TransOp op) { return inferTrans(op, operands[0]); })
          .Case([&](ReshapeOp op) { return inferReshape(op, operands[0]); })
          .Case([&](JoinOp op) {
            return inferJoin(op, operands[0], operands[1]);
          })
          .Case([&](gpu::ConvertLayoutOp) {
            return inferPassThrough(type, operands[0]);
          })
          // Equal addresses, masks and defaults load equal values.
          .Case([&](LoadOp load) {
            bool throughBlockPointer =
                isa<RankedTensorType>(type) &&
                !isa<RankedTensorType>(load.getPtr().getType());
            if (throughBlockPointer || load.getIsVolatile())
              return AxisInfo::getPessimistic(type);
            return constancyOnly(type, operands);
          })
          // Assembly on several elements at once may tell them apart.
          .Case([&](ElementwiseInlineAsmOp inlineAsm) {
            if (inlineAsm.getPackedElement() != 1 || !isMemoryEffectFree(op))
              return AxisInfo::getPessimistic(type);
            return constancyOnly(type, operands);
          })
          .Default([&](Operation *op) {
            if (op->hasTrait<mlir::OpTrait::Elementwise>() &&
                isMemoryEffectFree(op))
              return constancyOnly(type, operands);
            return AxisInfo::getPessimistic(type);
          });
}

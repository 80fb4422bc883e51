//===-- AxisInfoTransfer.h - Rules of axis info ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Throughout, "group" is an aligned run of g neighbours along one axis. A value
// that is contiguous over a group, with a start divisible by g, reads q*g + j
// for j in [0, g). Such a run does not wrap around, as g divides the values at
// which integers do. Most rules are one line of arithmetic on that form; q may
// be negative unless a rule says otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_ANALYSIS_AXISINFOTRANSFER_H
#define TILE_LIB_ANALYSIS_AXISINFOTRANSFER_H

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

namespace mlir::triton::axis {

using DimVector = AxisInfo::DimVector;

inline int64_t gcd(int64_t a, int64_t b) { return std::gcd(a, b); }

template <typename... Rest> int64_t gcd(int64_t a, int64_t b, Rest... rest) {
  return gcd(std::gcd(a, b), rest...);
}

/// The product of two divisors (powers of two), without overflow.
inline int64_t mulDivisors(int64_t a, int64_t b) {
  if (a > AxisInfo::kMaxDivisibility / b)
    return AxisInfo::kMaxDivisibility;
  return a * b;
}

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

/// Builds the info of a result of `type` axis by axis.
AxisInfo build(Type type, function_ref<Axis(unsigned dim)> rule,
               std::optional<int64_t> constant = std::nullopt);

//===----------------------------------------------------------------------===//
// Arithmetic along one axis (AxisInfoArithmetic.cpp)
//===----------------------------------------------------------------------===//

/// x + y, and x - y if `subtract`; `y` counts in `scale`s of x (addptr).
Axis addAlong(Along x, Along y, bool subtract, int64_t scale = 1);
Axis mulAlong(Along x, Along y);
/// x / y. `constantOverRuns`: whether numbers between two multiples of y are
/// rounded the same way.
Axis divAlong(Along x, Along y, bool constantOverRuns);
/// The remainder of x / y. `countsUp`: whether it goes up with x between two
/// multiples of y.
Axis remAlong(Along x, Along y, bool countsUp);
Axis andAlong(Along x, Along y);
Axis orAlong(Along x, Along y);
Axis shlAlong(Along x, Along y);
/// Of whichever of the two, the same one in each group.
Axis eitherAlong(Along x, Along y);
/// Of a maximum or minimum. Runs compare as their first values do; what wraps
/// around may be the greater one up to there and the smaller one after.
Axis extremeAlong(Along x, Along y);
Axis cmpAlong(arith::CmpIPredicate predicate, Along x, Along y);

//===----------------------------------------------------------------------===//
// Operations on shapes (AxisInfoShapes.cpp)
//===----------------------------------------------------------------------===//

AxisInfo inferMakeRange(MakeRangeOp op);
AxisInfo inferExpandDims(ExpandDimsOp op, const AxisInfo &source);
AxisInfo inferBroadcast(BroadcastOp op, const AxisInfo &source);
AxisInfo inferTrans(TransOp op, const AxisInfo &source);
/// Follows an axis of the result only where it is an axis of the source too
/// (unit axes set aside), or where both are the fastest one.
AxisInfo inferReshape(ReshapeOp op, const AxisInfo &source);
AxisInfo inferJoin(JoinOp op, const AxisInfo &lhs, const AxisInfo &rhs);
AxisInfo inferSplit(Value half, const AxisInfo &source);
AxisInfo inferPassThrough(Type type, const AxisInfo &source);

} // namespace mlir::triton::axis

#endif // TILE_LIB_ANALYSIS_AXISINFOTRANSFER_H

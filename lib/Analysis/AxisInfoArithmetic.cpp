//===-- AxisInfoArithmetic.cpp - Axis info of arithmetic ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AxisInfoTransfer.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::axis;

Axis axis::addAlong(Along x, Along y, bool subtract, int64_t scale) {
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

Axis axis::mulAlong(Along x, Along y) {
  for (auto [one, other] : {std::pair(x, y), std::pair(y, x)})
    if (one.constant() == 1)
      return {other.contiguity(), other.divisibility(), other.constancy()};
  return {1, mulDivisors(x.divisibilityOfAll(), y.divisibilityOfAll()),
          gcd(x.constancy(), y.constancy())};
}

Axis axis::divAlong(Along x, Along y, bool constantOverRuns) {
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

Axis axis::remAlong(Along x, Along y, bool countsUp) {
  Axis result;
  result.constancy = gcd(x.constancy(), y.constancy());
  // (q*g + j) % (m*g) == (q % m)*g + j.
  if (countsUp)
    result.contiguity = gcd(x.alignedRun(), y.alignedConstant());
  result.divisibility =
      gcd(x.divisibilityAt(result.contiguity), y.divisibilityOfAll());
  return result;
}

Axis axis::andAlong(Along x, Along y) {
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

Axis axis::orAlong(Along x, Along y) {
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

Axis axis::shlAlong(Along x, Along y) {
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

Axis axis::eitherAlong(Along x, Along y) {
  return mixedAlong(x, y, gcd(x.contiguity(), y.contiguity()));
}

Axis axis::extremeAlong(Along x, Along y) {
  return mixedAlong(x, y, gcd(x.alignedRun(), y.alignedRun()));
}

Axis axis::cmpAlong(arith::CmpIPredicate predicate, Along x, Along y) {
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

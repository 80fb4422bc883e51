//===-- MatrixSums.h - Sums as matrix instructions form them --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the units of Hopper do, as measured on an H200
// (test/gpu/measure_sums.py): they multiply exactly. The results of a group and
// the accumulator are shifted to the largest exponent among them, and lose what
// lies more than `fraction` bits below it. What is left is added exactly. The
// exponent of each is the sum of its factors' exponents, though it may be twice
// as large. The result is truncated to a float of `kept` bits, or rounded to
// the nearest half.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "MatrixTypes.h"

#include <vector>

namespace tile::sim {

struct SumRule {
  unsigned group; ///< how many results are added at once
  int fraction;
  int kept; ///< bits behind the point of a float result; ignored for halves
  /// mma.sync of fp8: the groups begin at zero, and the accumulator is added at
  /// the end, rounded to the nearest.
  bool addsLast = false;

  static SumRule of(Type element, unsigned k, bool isWarpGroup) {
    bool isFp8 = element == Type::E4M3 || element == Type::E5M2;
    if (!isFp8)
      return {k, 25, 23};
    return isWarpGroup ? SumRule{k, 13, 13} : SumRule{k / 2, 25, 23, true};
  }
};

/// An operand's numbers with their exponents, as floats, which vectorize.
struct SumOperand {
  /// Of zero.
  static constexpr float none = -10000;

  /// The values are there; `least` is the exponent of the smallest normal
  /// number.
  void findExponents(int least);

  std::vector<float> values, exponents;
  bool isFinite = true;
  int low = 0, high = 0; ///< of the exponents of other numbers than zero
};

/// The exponent of the smallest normal number of a type of elements, as the
/// instruction sees it.
int leastExponent(Type element, bool isWarpGroup);

/// acc += a * b for one row of A: K numbers from `firstA` on, K rows of `n` of
/// B, `n` sums, in the precision of `type`, F32 or F16.
void addMatrixRow(const SumRule &rule, Type type, const SumOperand &a,
                  size_t firstA, const SumOperand &b, unsigned k, unsigned n,
                  float *acc);

} // namespace tile::sim

//===-- MatrixSumsTest.cpp - Sums of matrix instructions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PTX/Instructions/MatrixSums.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace tile::sim;

namespace {
struct Case {
  Type element, result;
  unsigned k;
  bool isWarpGroup;
  int exponents;   ///< of numbers: from minus this to this
  int accumulated; ///< the same of the accumulator
};

constexpr unsigned columns = 40;

/// A number of few bits, so that a type of elements has it: zero at times.
float number(std::mt19937 &random, int exponents) {
  if (random() % 8 == 0)
    return 0;
  float value = std::ldexp(float(8 + random() % 8) / 8,
                           int(random() % (2 * exponents + 1)) - exponents);
  return random() % 2 ? value : -value;
}

/// A row's sums, where B's first column holds `first` if that is finite, or
/// not.
std::vector<float> sums(const Case &c, unsigned seed, float first) {
  std::mt19937 random(seed);
  SumOperand a, b;
  a.values.push_back(1);
  b.values.push_back(first);
  while (a.values.size() < c.k)
    a.values.push_back(number(random, c.exponents));
  while (b.values.size() < size_t(c.k) * columns)
    b.values.push_back(
        b.values.size() % columns % 7 == 3 ? 0 : number(random, c.exponents));
  int least = leastExponent(c.element, c.isWarpGroup);
  a.findExponents(least);
  b.findExponents(least);
  std::vector<float> acc(columns);
  for (float &value : acc)
    value = number(random, c.accumulated);
  addMatrixRow(SumRule::of(c.element, c.k, c.isWarpGroup), c.result, a, 0, b,
               c.k, columns, acc.data());
  return acc;
}
} // namespace

/// An infinity anywhere sends all columns another way: columns that do not have
/// it must not see that.
TEST(MatrixSums, ColumnsDoNotDependOnEachOther) {
  const Case cases[] = {
      {Type::F16, Type::F32, 16, true, 6, 8},
      {Type::F16, Type::F16, 16, true, 3, 3},
      {Type::F16, Type::F32, 8, false, 14, 14},
      {Type::BF16, Type::F32, 16, true, 40, 60},
      {Type::BF16, Type::F32, 16, true, 4, 126},
      {Type::TF32, Type::F32, 8, true, 30, 30},
      {Type::E4M3, Type::F32, 32, true, 6, 6},
      {Type::E5M2, Type::F16, 32, false, 5, 5},
  };
  for (const Case &c : cases)
    for (unsigned seed = 0; seed < 50; ++seed) {
      std::vector<float> usual = sums(c, seed, 1),
                         other = sums(c, seed,
                                      std::numeric_limits<float>::infinity());
      EXPECT_FALSE(std::isfinite(other[0]));
      for (unsigned n = 1; n < columns; ++n)
        EXPECT_EQ(bitsOfFloat(usual[n]), bitsOfFloat(other[n]))
            << "type " << int(c.element) << ", seed " << seed << ", column "
            << n;
    }
}

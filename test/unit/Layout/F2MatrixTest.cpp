//===-- F2MatrixTest.cpp - Tests of the algebra over F2 -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/F2Matrix.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace mlir::triton;

namespace {

F2Matrix randomMatrix(std::mt19937 &rng, unsigned rows, unsigned cols) {
  F2Matrix m(rows, cols);
  // A low density now and then, to get matrices of low rank.
  unsigned density = 1 + rng() % 4;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < cols; ++c)
      m.set(r, c, rng() % (density + 1) == 0);
  return m;
}

std::set<uint64_t> bruteImage(const F2Matrix &m) {
  std::set<uint64_t> result;
  for (uint64_t x = 0; x < uint64_t(1) << m.numCols(); ++x)
    result.insert(m.apply(x));
  return result;
}

std::set<uint64_t> bruteSpan(llvm::ArrayRef<uint64_t> vectors) {
  std::set<uint64_t> result = {0};
  for (uint64_t v : vectors) {
    std::set<uint64_t> more;
    for (uint64_t w : result)
      more.insert(v ^ w);
    result.insert(more.begin(), more.end());
  }
  return result;
}

TEST(F2Matrix, ApplyAndMultiply) {
  F2Matrix m(3, {0b011, 0b110});
  EXPECT_EQ(m.apply(0b00), 0u);
  EXPECT_EQ(m.apply(0b11), 0b101u);
  EXPECT_TRUE(m.get(0, 0));
  EXPECT_FALSE(m.get(2, 0));
  EXPECT_EQ(F2Matrix::identity(3) * m, m);
  EXPECT_EQ(m.transpose(), F2Matrix(2, {0b01, 0b11, 0b10}));
  EXPECT_EQ(m.transpose().transpose(), m);
}

TEST(F2Matrix, RankKernelImageAgreeWithEnumeration) {
  std::mt19937 rng(1);
  for (int i = 0; i < 300; ++i) {
    unsigned rows = rng() % 7, cols = rng() % 7;
    F2Matrix m = randomMatrix(rng, rows, cols);
    std::set<uint64_t> image = bruteImage(m);
    EXPECT_EQ(uint64_t(1) << m.rank(), image.size());
    EXPECT_EQ(m.rank(), m.transpose().rank());
    EXPECT_EQ(bruteSpan(m.image()), image);

    std::set<uint64_t> kernel;
    for (uint64_t x = 0; x < uint64_t(1) << cols; ++x)
      if (m.apply(x) == 0)
        kernel.insert(x);
    EXPECT_EQ(bruteSpan(m.kernel()), kernel);
    EXPECT_EQ(m.kernel().size() + m.rank(), cols);

    for (uint64_t b = 0; b < uint64_t(1) << rows; ++b) {
      auto x = m.solve(b);
      ASSERT_EQ(x.has_value(), image.count(b) == 1);
      if (x)
        EXPECT_EQ(m.apply(*x), b);
    }
  }
}

TEST(F2Matrix, ReducedEchelonForm) {
  std::mt19937 rng(2);
  for (int i = 0; i < 200; ++i) {
    unsigned rows = 1 + rng() % 6, cols = 1 + rng() % 6;
    F2Matrix m = randomMatrix(rng, rows, cols);
    F2Matrix r = m.rref();
    EXPECT_EQ(r.rref(), r);
    auto pivots = m.pivotColumns();
    EXPECT_EQ(pivots.size(), m.rank());
    for (unsigned k = 0; k < pivots.size(); ++k)
      EXPECT_EQ(r.col(pivots[k]), uint64_t(1) << k);
    // Row operations keep the kernel.
    EXPECT_EQ(bruteSpan(m.kernel()), bruteSpan(r.kernel()));
  }
}

TEST(F2Matrix, Inverses) {
  std::mt19937 rng(3);
  unsigned inverted = 0;
  for (int i = 0; i < 300; ++i) {
    unsigned n = 1 + rng() % 6;
    F2Matrix m = randomMatrix(rng, n, n);
    auto inverse = m.inverse();
    ASSERT_EQ(inverse.has_value(), m.rank() == n);
    if (inverse) {
      ++inverted;
      EXPECT_EQ(*inverse * m, F2Matrix::identity(n));
      EXPECT_EQ(m * *inverse, F2Matrix::identity(n));
    }
    F2Matrix any = randomMatrix(rng, n, 1 + rng() % 6);
    EXPECT_EQ(any * any.pseudoInverse() * any, any);
  }
  EXPECT_GT(inverted, 10u);
  EXPECT_FALSE(F2Matrix(2, 3).inverse());
}

TEST(F2Span, ExpressNamesTheGenerators) {
  F2Span span;
  EXPECT_TRUE(span.insert(0b0110));
  EXPECT_TRUE(span.insert(0b0011));
  EXPECT_FALSE(span.insert(0b0101));
  EXPECT_FALSE(span.insert(0));
  EXPECT_TRUE(span.insert(0b1000));
  EXPECT_EQ(span.dim(), 3u);
  EXPECT_EQ(span.express(0b1101), 0b111u);
  EXPECT_EQ(span.express(0b0011), 0b010u);
  EXPECT_FALSE(span.express(0b0001));
  EXPECT_TRUE(span.contains(0b0101));
  EXPECT_FALSE(span.contains(0b0100));
}

TEST(F2Span, IntersectionAndComplement) {
  std::mt19937 rng(4);
  for (int i = 0; i < 300; ++i) {
    unsigned bits = 1 + rng() % 6;
    F2Matrix::Words a, b;
    for (unsigned n = rng() % 5; n; --n)
      a.push_back(rng() % (1u << bits));
    for (unsigned n = rng() % 5; n; --n)
      b.push_back(rng() % (1u << bits));
    auto spanA = bruteSpan(a), spanB = bruteSpan(b);
    std::set<uint64_t> common;
    for (uint64_t v : spanA)
      if (spanB.count(v))
        common.insert(v);
    auto intersection = intersectSpans(a, b);
    EXPECT_EQ(bruteSpan(intersection), common);
    EXPECT_EQ(uint64_t(1) << intersection.size(), common.size());

    F2Matrix::Words all = a;
    auto complement = complementBasis(a, bits);
    all.append(complement);
    EXPECT_EQ(bruteSpan(all).size(), uint64_t(1) << bits);
    EXPECT_EQ(spanA.size() << complement.size(), uint64_t(1) << bits);
  }
}

} // namespace

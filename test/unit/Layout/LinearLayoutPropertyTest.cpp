//===-- LinearLayoutPropertyTest.cpp - Laws on random layouts -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include "tile/Layout/ColumnAction.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir::triton;
using namespace mlir::triton::test;
using Indices = LinearLayout::NamedSizes;

namespace {

constexpr llvm::StringLiteral kX = "x", kY = "y", kA = "a", kB = "b", kP = "p",
                              kQ = "q", kU = "u";

class Laws : public ::testing::TestWithParam<unsigned> {
protected:
  RandomLayouts random{GetParam()};
  int32_t size() { return 1 << random.below(4); }
  Indices xy() { return {{kX, size()}, {kY, size()}}; }
  Indices ab() { return {{kA, size()}, {kB, size()}}; }
};

TEST_P(Laws, LinearityAndApplication) {
  LinearLayout l = random.any(xy(), ab());
  for (uint64_t i = 0; i < uint64_t(l.getTotalInDimSize()); ++i) {
    EXPECT_EQ(l.applyFlat(i), l.flattenOut(l.apply(l.unflattenIn(i))));
    uint64_t j = random.below(l.getTotalInDimSize());
    EXPECT_EQ(l.applyFlat(i ^ j), l.applyFlat(i) ^ l.applyFlat(j));
    EXPECT_EQ(l.getMatrix().apply(i), l.applyFlat(i));
  }
}

TEST_P(Laws, ComposeIsAssociativeAndApplies) {
  Indices a = xy(), b = ab();
  Indices c = {{kP, size()}, {kQ, size()}}, d = {{kU, size()}};
  LinearLayout f = random.any(a, b), g = random.any(b, c), h = random.any(c, d);
  EXPECT_EQ(f.compose(g).compose(h), f.compose(g.compose(h)));
  EXPECT_EQ(f.compose(LinearLayout::identity(b)), f);
  EXPECT_EQ(LinearLayout::identity(a).compose(f), f);
  for (uint64_t i = 0; i < uint64_t(f.getTotalInDimSize()); ++i)
    EXPECT_EQ(f.compose(g).applyFlat(i), g.applyFlat(f.applyFlat(i)));
}

TEST_P(Laws, Inverses) {
  Indices a = xy();
  LinearLayout f = random.surjective(a, {{kA, a[1].second}, {kB, a[0].second}});
  ASSERT_TRUE(f.isInvertible());
  EXPECT_EQ(f.compose(f.invert()), LinearLayout::identity(a));
  EXPECT_EQ(f.invert().invert(), f);

  LinearLayout g = random.any(xy(), ab());
  EXPECT_EQ(g.compose(g.pseudoinvert()).compose(g), g);
  // Free bits never appear in the result of the pseudo-inverse.
  auto free = g.getFreeVariableMasks();
  for (const auto &[name, basis] : g.pseudoinvert().getBases())
    for (const auto &b : basis)
      for (auto [value, mask] : llvm::zip_equal(b, free))
        EXPECT_EQ(value & mask.second, 0);
}

TEST_P(Laws, SurjectiveInjectiveByCounting) {
  LinearLayout f = random.any(xy(), ab());
  std::set<uint64_t> image;
  for (uint64_t i = 0; i < uint64_t(f.getTotalInDimSize()); ++i)
    image.insert(f.applyFlat(i));
  EXPECT_EQ(f.isSurjective(), int64_t(image.size()) == f.getTotalOutDimSize());
  EXPECT_EQ(f.isInjective(), int64_t(image.size()) == f.getTotalInDimSize());
  unsigned freeBits = 0;
  for (auto [name, mask] : f.getFreeVariableMasks())
    freeBits += llvm::popcount(unsigned(mask));
  EXPECT_EQ(int64_t(image.size()) << freeBits, f.getTotalInDimSize());
}

TEST_P(Laws, InvertAndCompose) {
  Indices out = ab();
  LinearLayout inner = random.any(xy(), out);
  LinearLayout outer = random.surjective({{kX, 16}, {kP, 16}}, out);
  LinearLayout c = inner.invertAndCompose(outer);
  EXPECT_EQ(c.compose(outer), inner);
  EXPECT_EQ(c.getInDims(), inner.getInDims());
  EXPECT_EQ(c.getOutDims(), outer.getInDims());
  // The order of the out dims is of no account.
  EXPECT_EQ(inner.invertAndCompose(outer.transposeOuts({kB, kA})), c);
  EXPECT_TRUE(inner.invertAndCompose(inner).isTrivialOver({kX, kY}));
  LinearLayout zero = LinearLayout::zeros1D(2, kX, kA, out[0].second) *
                      LinearLayout::zeros1D(2, kX, kB, out[1].second);
  EXPECT_EQ(inner.tryInvertAndCompose(zero).has_value(), inner.getRank() == 0);
}

TEST_P(Laws, ProductAndQuotients) {
  LinearLayout f = random.any(xy(), ab());
  LinearLayout g =
      random.any({{kY, size()}, {kX, size()}}, {{kB, size()}, {kA, size()}});
  LinearLayout h = random.any({{kX, size()}, {kP, size()}}, {{kU, size()}});
  EXPECT_EQ((f * g) * h, f * (g * h));
  EXPECT_EQ(f * LinearLayout::empty(), f);
  EXPECT_EQ(LinearLayout::empty() * f, f);

  LinearLayout fg = f * g;
  auto left = fg.divideLeft(f);
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->equalUpToDimOrder(g));
  EXPECT_EQ(f * *left, fg);
  auto right = fg.divideRight(g);
  ASSERT_TRUE(right);
  EXPECT_EQ(*right, f);
  EXPECT_EQ(*right * g, fg);

  // Whatever divides gives back the dividend.
  LinearLayout any = random.any(xy(), ab());
  LinearLayout tile = LinearLayout::identity1D(2, kX, kA);
  if (auto q = any.divideLeft(tile))
    EXPECT_TRUE((tile * *q).equalUpToDimOrder(any));
  if (auto q = any.divideRight(tile))
    EXPECT_TRUE((*q * tile).equalUpToDimOrder(any));

  // Multiplied layouts act on low and high parts separately.
  for (int n = 0; n < 20; ++n) {
    Indices i = f.unflattenIn(random.below(f.getTotalInDimSize()));
    Indices j = g.unflattenIn(random.below(g.getTotalInDimSize()));
    Indices both = {{kX, i[0].second | j[1].second * f.getInDimSize(kX)},
                    {kY, i[1].second | j[0].second * f.getInDimSize(kY)}};
    Indices fi = f.apply(i), gj = g.apply(j);
    EXPECT_EQ(
        fg.apply(both),
        Indices({{kA, fi[0].second | gj[1].second * f.getOutDimSize(kA)},
                 {kB, fi[1].second | gj[0].second * f.getOutDimSize(kB)}}));
  }
}

TEST_P(Laws, Rearranging) {
  LinearLayout f = random.any(xy(), ab());
  EXPECT_EQ(f.transposeIns({kY, kX}).transposeIns({kX, kY}), f);
  EXPECT_EQ(f.transposeOuts({kB, kA}).transposeOuts({kA, kB}), f);
  EXPECT_TRUE(f.transposeIns({kY, kX}).equalUpToDimOrder(f));
  EXPECT_EQ(f.flattenIns().reshapeIns(f.getInDims()), f);
  EXPECT_EQ(f.flattenOuts().reshapeOuts(f.getOutDims()), f);
  EXPECT_EQ(f.sublayout({kX}, {kA, kB}).concatIns(f.sublayout({kY}, {kA, kB})),
            f);
  EXPECT_EQ(f.sublayout({kX, kY}, {kA}).concatOuts(f.sublayout({kX, kY}, {kB})),
            f);
  EXPECT_EQ(LinearLayout(f.getBases(), f.getOutDims(), false), f);
  EXPECT_EQ(hash_value(LinearLayout(f.getBases(), f.getOutDims(), false)),
            hash_value(f));
  int32_t more = f.getOutDimSize(kA) * 4;
  EXPECT_EQ(f.resizeOutDim(kA, more).resizeOutDim(kA, more / 4), f);
}

TEST_P(Laws, NumConsecutive) {
  LinearLayout f = random.distributed(3, 3, 2, {{kA, 8}, {kB, 4}});
  int64_t n = f.getNumConsecutiveInOut();
  // Aligned runs of n stay runs; runs of 2n do not.
  auto runsOf = [&](int64_t n) {
    for (int64_t i = 0; i < f.getTotalInDimSize(); i += n)
      for (int64_t j = 0; j < n; ++j)
        if (f.applyFlat(i + j) != f.applyFlat(i) + j || f.applyFlat(i) % n != 0)
          return false;
    return true;
  };
  EXPECT_TRUE(runsOf(n));
  EXPECT_FALSE(runsOf(2 * n));
}

TEST_P(Laws, ColumnActions) {
  LinearLayout f = random.any({{kRegister, 16}, {kLane, 4}}, ab());
  std::vector<unsigned> order = {0, 1, 2, 3};
  std::shuffle(order.begin(), order.end(), random.rng);
  ColumnAction all(order, kRegister, 4);
  ColumnAction some(llvm::ArrayRef<unsigned>(order).take_front(3), kRegister,
                    4);
  EXPECT_TRUE(all.then(all.inverse()).isIdentity());
  EXPECT_FALSE(some.isIdentity());
  llvm::SmallVector<uint64_t> values;
  for (int r = 0; r < 16; ++r)
    values.push_back(f.applyFlat(r));
  for (const ColumnAction &action : {all, some, all.then(all)}) {
    LinearLayout g = action.apply(f);
    auto moved = action.apply(values);
    ASSERT_EQ(int64_t(moved.size()), g.getInDimSize(kRegister));
    for (size_t r = 0; r < moved.size(); ++r)
      EXPECT_EQ(moved[r], g.applyFlat(r));
  }

  ColumnAction distinct = removeBroadcastedRegisters(f);
  auto kept = distinct.apply(values);
  EXPECT_EQ(std::set<uint64_t>(kept.begin(), kept.end()).size(), kept.size());
  EXPECT_EQ(broadcastRegisters<uint64_t>(kept, f), values);
}

TEST_P(Laws, MoveRegisterBasesFirst) {
  LinearLayout f = random.distributed(4, 2, 0, {{kA, 8}, {kB, 8}});
  uint64_t wanted = f.getFlatBasis(kRegister, random.below(4));
  auto action = moveRegisterBasesFirst(f, {wanted});
  ASSERT_TRUE(action);
  EXPECT_TRUE(action->isPermutation());
  EXPECT_EQ(action->apply(f).getFlatBasis(kRegister, 0), wanted);
  EXPECT_FALSE(moveRegisterBasesFirst(f, {wanted, 0xffff}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Laws, ::testing::Range(0u, 40u));

} // namespace

//===-- LinearLayoutTest.cpp - Layouts by example -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RandomLayouts.h"
#include <gtest/gtest.h>

using namespace mlir::triton;
using llvm::SmallVector;
using llvm::StringRef;
using Indices = LinearLayout::NamedSizes;

namespace {

constexpr llvm::StringLiteral kX = "x", kY = "y", kZ = "z", kA = "a", kB = "b";

TEST(LinearLayout, Empty) {
  LinearLayout empty = LinearLayout::empty();
  EXPECT_EQ(empty.getNumInDims(), 0u);
  EXPECT_EQ(empty.getTotalOutDimSize(), 1);
  EXPECT_TRUE(empty.isInvertible());
  EXPECT_EQ(empty.toString(), "(no in dims)\nwhere out dims are: []");
}

TEST(LinearLayout, OneDimensional) {
  auto id = LinearLayout::identity1D(8, kX, kY);
  EXPECT_EQ(id, LinearLayout({{kX, {{1}, {2}, {4}}}}, {{kY, 8}}));
  auto strided = LinearLayout::strided1D(4, 2, kX, kY);
  EXPECT_EQ(strided.getOutDimSize(kY), 8);
  EXPECT_EQ(strided.apply({{kX, 3}}), Indices({{kY, 6}}));
  EXPECT_FALSE(strided.isSurjective());
  EXPECT_EQ(LinearLayout::strided1D(1, 16, kX, kY).getOutDimSize(kY), 1);
  auto zeros = LinearLayout::zeros1D(4, kX, kY, 2);
  EXPECT_EQ(zeros.apply({{kX, 3}}), Indices({{kY, 0}}));
  EXPECT_EQ(zeros.getOutDimSize(kY), 2);
}

TEST(LinearLayout, IdentityND) {
  auto layout = LinearLayout::identityND(kOffset, {4, 8}, {1, 0}, {kX, kY});
  EXPECT_EQ(layout.getOutDims(), Indices({{kX, 4}, {kY, 8}}));
  EXPECT_EQ(layout.apply({{kOffset, 13}}), Indices({{kX, 1}, {kY, 5}}));
  EXPECT_EQ(
      LinearLayout::identity({{kX, 4}, {kY, 2}}).apply({{kX, 3}, {kY, 1}}),
      Indices({{kX, 3}, {kY, 1}}));
}

TEST(LinearLayout, ApplyIsXorOfBases) {
  LinearLayout layout({{kX, {{1, 1}, {2, 0}}}, {kY, {{0, 3}}}},
                      {{kA, 4}, {kB, 4}}, /*requireSurjective=*/false);
  EXPECT_EQ(layout.apply({{kX, 1}, {kY, 1}}), Indices({{kA, 1}, {kB, 2}}));
  // The order of a named index is of no account.
  EXPECT_EQ(layout.apply({{kY, 1}, {kX, 3}}), Indices({{kA, 3}, {kB, 2}}));
  EXPECT_EQ(layout.getBasis(kX, 0, kB), 1);
  EXPECT_EQ(layout.flattenOut({{kB, 2}, {kA, 3}}), 0b1011u);
  EXPECT_EQ(layout.unflattenIn(5), Indices({{kX, 1}, {kY, 1}}));
}

TEST(LinearLayout, TryCreateExplains) {
  std::string error;
  auto check = [&](const LinearLayout::Bases &bases, Indices outs,
                   bool surjective) {
    error.clear();
    EXPECT_FALSE(LinearLayout::tryCreate(bases, outs, surjective, &error));
    return error;
  };
  EXPECT_EQ(check({{kX, {{1}}}}, {{kA, 3}}, false),
            "size of out dim 'a' must be a positive power of two, but is 3");
  EXPECT_EQ(check({{kX, {{1}}}}, {{kA, 0}}, false),
            "size of out dim 'a' must be a positive power of two, but is 0");
  EXPECT_EQ(check({{kX, {{4}}}}, {{kA, 4}}, false),
            "basis 0 of in dim 'x' has value 4 for out dim 'a' of size 4");
  EXPECT_EQ(check({{kX, {{1, 2}}}}, {{kA, 4}}, false),
            "basis 0 of in dim 'x' has 2 values, but there are 1 out dims");
  EXPECT_EQ(check({{kX, {{1}}}, {kX, {{2}}}}, {{kA, 4}}, false),
            "in dim 'x' appears twice");
  EXPECT_EQ(check({{kX, {{1}}}}, {{kA, 2}, {kA, 2}}, false),
            "out dim 'a' appears twice");
  EXPECT_EQ(check({{kX, {{1}}}}, {{kA, 4}}, true),
            "the bases reach only 2^1 of the 2^2 elements");
  EXPECT_TRUE(LinearLayout::tryCreate({{kX, {{1}}}}, {{kA, 4}}, false));
}

TEST(LinearLayout, FromBasesInfersSizes) {
  auto layout =
      LinearLayout::fromBases({{kX, {{1, 0}, {4, 0}, {2, 0}}}}, {kA, kB});
  EXPECT_EQ(layout.getOutDims(), Indices({{kA, 8}, {kB, 1}}));
}

TEST(LinearLayout, ProductConcatenatesBits) {
  auto layout = LinearLayout::identity1D(2, kX, kA) *
                LinearLayout::identity1D(4, kY, kA) *
                LinearLayout::identity1D(2, kX, kB);
  EXPECT_EQ(layout,
            LinearLayout({{kX, {{1, 0}, {0, 1}}}, {kY, {{2, 0}, {4, 0}}}},
                         {{kA, 8}, {kB, 2}}));
}

TEST(LinearLayout, Questions) {
  LinearLayout broadcast({{kRegister, {{1}, {0}}}, {kLane, {{1}, {2}}}},
                         {{kA, 4}});
  EXPECT_TRUE(broadcast.isSurjective());
  EXPECT_FALSE(broadcast.isInjective());
  EXPECT_EQ(broadcast.getFreeVariableMask(kRegister), 2);
  EXPECT_EQ(broadcast.getFreeVariableMask(kLane), 1);

  EXPECT_EQ(LinearLayout::identity1D(8, kX, kA).getNumConsecutiveInOut(), 8);
  // Another bit disturbs bit 1 of the image.
  LinearLayout shared({{kX, {{1}, {2}}}, {kY, {{6}}}}, {{kA, 8}});
  EXPECT_EQ(shared.getNumConsecutiveInOut(), 2);

  LinearLayout mixed({{kX, {{1, 0}}}, {kY, {{0, 2}, {0, 1}}}},
                     {{kX, 2}, {kY, 4}});
  EXPECT_TRUE(mixed.isTrivialOver({kX}));
  EXPECT_FALSE(mixed.isTrivialOver({kY}));
  EXPECT_TRUE(mixed.sublayoutIsZero({kX}, {kY}));
  EXPECT_EQ(*mixed.quotient({kX}), LinearLayout({{kY, {{2}, {1}}}}, {{kY, 4}}));
  EXPECT_FALSE(mixed.quotient({kY}));
}

TEST(LinearLayout, ResizeAndRemove) {
  LinearLayout layout({{kX, {{1, 0}, {0, 0}, {0, 1}}}}, {{kA, 2}, {kB, 2}});
  EXPECT_EQ(layout.removeZeroBasesAlongDim(kX),
            LinearLayout({{kX, {{1, 0}, {0, 1}}}}, {{kA, 2}, {kB, 2}}));
  EXPECT_EQ(layout.resizeInDim(kX, 2).getBases(),
            LinearLayout::Bases({{kX, {{1, 0}}}}));
  EXPECT_EQ(layout.resizeInDim(kX, 16).getInDimSize(kX), 16);
  EXPECT_EQ(layout.resizeOutDim(kA, 8).getOutShape(),
            SmallVector<int64_t>({8, 2}));
  EXPECT_EQ(layout.resizeOutDim(kA, 8).getBasis(kX, 2, kB), 1);
  EXPECT_EQ(layout.resizeOutDim(kA, 1).removeOutDim(kA),
            layout.sublayout({kX}, {kB}));
  EXPECT_EQ(layout.unsqueezeIn(kY).removeInDim(kY), layout);
  EXPECT_EQ(layout.unsqueezeOut(kZ).removeOutDim(kZ), layout);
}

TEST(LinearLayout, RenameAndReshape) {
  LinearLayout layout = LinearLayout::identity1D(8, kX, kA);
  EXPECT_EQ(layout.renameInDim(kX, kY).renameOutDim(kA, kB),
            LinearLayout::identity1D(8, kY, kB));
  LinearLayout split = layout.reshapeOuts({{kA, 2}, {kB, 4}});
  EXPECT_EQ(split.apply({{kX, 6}}), Indices({{kA, 0}, {kB, 3}}));
  EXPECT_EQ(split.flattenOuts(kA), layout);
  EXPECT_EQ(layout.reshapeIns({{kX, 4}, {kY, 2}}).apply({{kX, 1}, {kY, 1}}),
            Indices({{kA, 5}}));
}

TEST(LinearLayout, Concat) {
  auto a = LinearLayout::identity1D(4, kX, kA);
  auto b = LinearLayout::zeros1D(2, kY, kA, 4);
  EXPECT_EQ(a.concatIns(b),
            LinearLayout({{kX, {{1}, {2}}}, {kY, {{0}}}}, {{kA, 4}}));
  auto c = LinearLayout::identity1D(4, kX, kB);
  EXPECT_EQ(a.concatOuts(c),
            LinearLayout({{kX, {{1, 1}, {2, 2}}}}, {{kA, 4}, {kB, 4}}, false));
}

TEST(LinearLayout, InvertAndComposePrefersStayingInPlace) {
  // Both layouts broadcast over lane bit 1; each lane reads its own copy.
  LinearLayout src({{kRegister, {{1}}}, {kLane, {{2}, {0}}}}, {{kA, 4}});
  LinearLayout dst({{kRegister, {{1}}}, {kLane, {{2}, {0}}}}, {{kA, 4}});
  auto c = dst.invertAndCompose(src);
  EXPECT_TRUE(c.isTrivialOver({kRegister, kLane}));
  // Where they differ, the source's first holder is read.
  LinearLayout dst2({{kRegister, {}}, {kLane, {{2}, {1}}}}, {{kA, 4}});
  auto c2 = dst2.invertAndCompose(src);
  EXPECT_EQ(c2.apply({{kRegister, 0}, {kLane, 2}}),
            Indices({{kRegister, 1}, {kLane, 0}}));
}

TEST(LinearLayout, DivisionFails) {
  LinearLayout layout({{kX, {{2}, {1}}}}, {{kA, 4}});
  EXPECT_FALSE(layout.divideLeft(LinearLayout::identity1D(2, kX, kA)));
  EXPECT_FALSE(layout.divideLeft(LinearLayout::identity1D(2, kY, kA)));
  EXPECT_FALSE(layout.divideLeft(LinearLayout::identity1D(8, kX, kA)));
  EXPECT_TRUE(layout.divideLeft(layout));
}

TEST(LinearLayout, PrintsEveryBasis) {
  LinearLayout layout({{kRegister, {{0, 1}}}, {kLane, {{1, 0}}}, {kWarp, {}}},
                      {{kDim(0), 2}, {kDim(1), 2}});
  EXPECT_EQ(layout.toString(), " - register=1 -> (0, 1)\n"
                               " - lane=1 -> (1, 0)\n"
                               " - warp has size 1\n"
                               "where out dims are: [dim0 (size 2), "
                               "dim1 (size 2)]");
}

TEST(DimNames, Interning) {
  std::string spelled = "register";
  EXPECT_EQ(internDimName(spelled), StringRef(kRegister));
  EXPECT_NE(internDimName(spelled).data(), spelled.data());
  std::string other = "something";
  StringRef first = internDimName(other);
  EXPECT_NE(first.data(), other.data());
  EXPECT_EQ(internDimName("something").data(), first.data());
  EXPECT_EQ(kDim(3), "dim3");
  EXPECT_EQ(kDim(12), "dim12");
}

} // namespace

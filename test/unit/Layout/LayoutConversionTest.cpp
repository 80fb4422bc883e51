//===-- LayoutConversionTest.cpp - Plans carried out on values ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/LayoutConversion.h"
#include "RandomLayouts.h"
#include "Simulate.h"
#include <gtest/gtest.h>

using namespace mlir::triton;
using namespace mlir::triton::test;
using llvm::SmallVector;

namespace {

constexpr llvm::StringLiteral kA = "dim0", kB = "dim1";

LinearLayout layout(LinearLayout::DimBases reg, LinearLayout::DimBases lane,
                    LinearLayout::DimBases warp, LinearLayout::DimBases block,
                    int32_t size) {
  return LinearLayout(
      {{kRegister, reg}, {kLane, lane}, {kWarp, warp}, {kBlock, block}},
      {{kA, size}});
}

/// Does with real values what the plan says, and compares.
void checkShuffles(const LinearLayout &src, const LinearLayout &dst,
                   const ShufflePlan &plan) {
  RegisterFile from = fill(src), wanted = fill(dst);
  ColumnAction distinct = removeBroadcastedRegisters(src);
  for (size_t w = 0; w < from.size(); ++w) {
    size_t lanes = from[w].size();
    std::vector<SmallVector<uint64_t>> sources, results;
    for (auto &registers : from[w])
      sources.push_back(distinct.apply(registers));
    results.resize(lanes, SmallVector<uint64_t>(plan.numDstRegs, ~0ull));
    ASSERT_EQ(sources[0].size(), plan.numSrcRegs);
    for (const ShufflePlan::Round &round : plan.rounds) {
      // Each lane offers one value, chosen by what it knows.
      std::vector<uint64_t> offered;
      for (size_t l = 0; l < lanes; ++l)
        offered.push_back(sources[l][plan.sourceRegister(round, l, w)]);
      for (size_t l = 0; l < lanes; ++l) {
        uint64_t source = plan.sourceLane(round, l, w);
        if (plan.staysInLane(round))
          EXPECT_EQ(source, l);
        if (plan.isButterfly())
          EXPECT_EQ(source, l ^ round.laneXor);
        results[l][plan.destRegister(round, l)] = offered[source];
      }
    }
    for (auto &registers : results)
      registers.truncate(plan.numKeptDstRegs);
    for (size_t l = 0; l < lanes; ++l)
      EXPECT_EQ(broadcastRegisters<uint64_t>(results[l], dst), wanted[w][l])
          << "warp " << w << " lane " << l;
  }
}

/// Checks that the map names a right source within the promised part of the
/// machine, and carries out what can be carried out.
void check(const LinearLayout &src, const LinearLayout &dst,
           const LayoutConversion &conversion) {
  EXPECT_EQ(conversion.map.compose(src), dst);
  RegisterFile from = fill(src), wanted = fill(dst);
  switch (conversion.kind) {
  case ConversionKind::NoOp:
    EXPECT_EQ(from, wanted);
    break;
  case ConversionKind::Registers:
    EXPECT_NE(from, wanted);
    for (size_t w = 0; w < from.size(); ++w)
      for (size_t l = 0; l < from[w].size(); ++l) {
        SmallVector<uint64_t> moved;
        for (unsigned r : conversion.registerMap)
          moved.push_back(from[w][l][r]);
        EXPECT_EQ(moved, wanted[w][l]);
      }
    break;
  case ConversionKind::Lanes:
    EXPECT_TRUE(
        conversion.map.isTrivialOver({kWarp, kBlock}) ||
        conversion.map.sublayout({kWarp, kBlock}, {kWarp, kBlock}) ==
            LinearLayout::identity({{kWarp, src.getInDimSize(kWarp)},
                                    {kBlock, src.getInDimSize(kBlock)}}));
    ASSERT_TRUE(conversion.shuffles);
    checkShuffles(src, dst, *conversion.shuffles);
    break;
  case ConversionKind::SharedMemory:
    EXPECT_TRUE(
        conversion.map.sublayoutIsZero({kRegister, kLane, kWarp}, {kBlock}));
    break;
  case ConversionKind::Cluster:
    break;
  }
}

TEST(LayoutConversion, NoOpAndRegisters) {
  LinearLayout a = layout({{1}, {2}}, {{4}, {8}}, {{16}}, {}, 32);
  EXPECT_EQ(decomposeConversion(a, a).kind, ConversionKind::NoOp);
  LinearLayout b = layout({{2}, {1}}, {{4}, {8}}, {{16}}, {}, 32);
  auto swap = decomposeConversion(a, b);
  EXPECT_EQ(swap.kind, ConversionKind::Registers);
  EXPECT_EQ(swap.registerMap, SmallVector<unsigned>({0, 2, 1, 3}));
  check(a, b, swap);
  // Copies come and go without any movement.
  LinearLayout c = layout({{2}, {0}, {1}}, {{4}, {8}}, {{16}}, {}, 32);
  auto widen = decomposeConversion(a, c);
  EXPECT_EQ(widen.kind, ConversionKind::Registers);
  EXPECT_EQ(widen.registerMap, SmallVector<unsigned>({0, 2, 0, 2, 1, 3, 1, 3}));
  check(a, c, widen);
  check(c, a, decomposeConversion(c, a));
}

TEST(LayoutConversion, TransposeOfRegisterAndLane) {
  LinearLayout a = layout({{1}, {2}}, {{4}, {8}}, {{16}}, {}, 32);
  LinearLayout b = layout({{4}, {2}}, {{1}, {8}}, {{16}}, {}, 32);
  auto c = decomposeConversion(a, b);
  ASSERT_EQ(c.kind, ConversionKind::Lanes);
  // Half of the values stay in their lane; the others go to the neighbour.
  EXPECT_TRUE(c.shuffles->isButterfly());
  EXPECT_EQ(c.shuffles->rounds.size(), 4u);
  EXPECT_EQ(c.shuffles->getNumShuffles(), 2u);
  EXPECT_EQ(c.shuffles->getNumSelects(), 8u);
  // Register bit 1 takes no part.
  ASSERT_EQ(c.shuffles->getPackableBits().size(), 1u);
  EXPECT_EQ(c.shuffles->getPackableBits()[0], std::pair(1u, 1u));
  check(a, b, c);
}

TEST(LayoutConversion, LanePermutation) {
  LinearLayout a = layout({{1}}, {{2}, {4}, {8}}, {}, {}, 16);
  LinearLayout b = layout({{1}}, {{8}, {2}, {4}}, {}, {}, 16);
  auto c = decomposeConversion(a, b);
  ASSERT_EQ(c.kind, ConversionKind::Lanes);
  EXPECT_FALSE(c.shuffles->isButterfly());
  EXPECT_EQ(c.shuffles->getNumShuffles(), 2u);
  EXPECT_EQ(c.shuffles->getNumSelects(), 0u);
  check(a, b, c);
}

TEST(LayoutConversion, SourceWithCopiesStaysInside) {
  // All warps hold everything, so nobody has to ask another warp.
  LinearLayout a = layout({{1}, {2}}, {{4}}, {{0}}, {}, 8);
  LinearLayout b = layout({{1}}, {{4}}, {{2}}, {}, 8);
  auto c = decomposeConversion(a, b);
  EXPECT_EQ(c.kind, ConversionKind::Lanes); // a select by warp, no shuffle
  EXPECT_EQ(c.shuffles->getNumShuffles(), 0u);
  check(a, b, c);
  EXPECT_EQ(decomposeConversion(b, a).kind, ConversionKind::SharedMemory);
}

TEST(LayoutConversion, WarpsAndBlocks) {
  LinearLayout a = layout({{1}}, {{2}}, {{4}}, {{8}}, 16);
  LinearLayout b = layout({{1}}, {{4}}, {{2}}, {{8}}, 16);
  LinearLayout c = layout({{1}}, {{2}}, {{8}}, {{4}}, 16);
  EXPECT_EQ(decomposeConversion(a, b).kind, ConversionKind::SharedMemory);
  EXPECT_EQ(decomposeConversion(a, c).kind, ConversionKind::Cluster);
  check(a, b, decomposeConversion(a, b));
  check(a, c, decomposeConversion(a, c));
}

class Random : public ::testing::TestWithParam<unsigned> {};

TEST_P(Random, PermutedBits) {
  RandomLayouts random(GetParam());
  unsigned kinds[5] = {};
  for (int i = 0; i < 20; ++i) {
    unsigned warps = random.below(2), blocks = random.below(2);
    LinearLayout::NamedSizes outs = {{kA, 1 << random.below(3)},
                                     {kB, 1 << random.below(3)}};
    LinearLayout src = random.distributed(3, 3, warps, outs, blocks);
    LinearLayout dst = random.distributed(3, 3, warps, outs, blocks);
    auto conversion = decomposeConversion(src, dst);
    ++kinds[unsigned(conversion.kind)];
    check(src, dst, conversion);
  }
  EXPECT_GT(kinds[unsigned(ConversionKind::Lanes)], 0u);
}

TEST_P(Random, AnyMatrices) {
  // Not only single bits: swizzled lanes, mixed warps, copies as sums.
  RandomLayouts random(GetParam());
  for (int i = 0; i < 10; ++i) {
    LinearLayout::NamedSizes outs = {{kA, 4}, {kB, 4}};
    auto one = [&](unsigned regs, unsigned lanes) {
      return random.surjective({{kRegister, 1 << regs}, {kLane, 1 << lanes}},
                               outs);
    };
    unsigned lanes = 1 + random.below(3);
    LinearLayout warp = LinearLayout::zeros1D(2, kWarp, kA) *
                        LinearLayout::zeros1D(1, kBlock, kB);
    LinearLayout src = one(4, lanes) * warp, dst = one(5, lanes) * warp;
    auto conversion = decomposeConversion(src, dst);
    EXPECT_LE(conversion.kind, ConversionKind::Lanes);
    check(src, dst, conversion);
    // The warp takes part in the choice of the source.
    LinearLayout mixed = random.surjective({{kRegister, 16},
                                            {kLane, int32_t(1) << lanes},
                                            {kWarp, 2},
                                            {kBlock, 1}},
                                           outs);
    auto toMixed = decomposeConversion(src, mixed);
    EXPECT_LE(toMixed.kind, ConversionKind::Lanes);
    check(src, mixed, toMixed);
  }
}

TEST_P(Random, PackableBitsMoveTogether) {
  RandomLayouts random(GetParam());
  LinearLayout src = random.distributed(4, 3, 0, {{kA, 16}, {kB, 8}});
  LinearLayout dst = random.distributed(4, 3, 0, {{kA, 16}, {kB, 8}});
  auto conversion = decomposeConversion(src, dst);
  if (conversion.kind != ConversionKind::Lanes)
    return;
  const ShufflePlan &plan = *conversion.shuffles;
  for (auto [dstBit, srcBit] : plan.getPackableBits())
    for (const auto &round : plan.rounds) {
      const auto &twin = plan.rounds[round.dstReg ^ (1u << dstBit)];
      EXPECT_EQ(twin.laneXor, round.laneXor);
      EXPECT_EQ(twin.srcReg, round.srcReg ^ (1u << srcBit));
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, ::testing::Range(0u, 30u));

} // namespace

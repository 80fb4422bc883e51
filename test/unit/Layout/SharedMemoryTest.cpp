//===-- SharedMemoryTest.cpp - Vectors and bank conflicts -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/SharedMemory.h"
#include "RandomLayouts.h"
#include "Simulate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir::triton;
using namespace mlir::triton::test;
using llvm::ArrayRef;
using llvm::Log2_32;
using llvm::SmallVector;

namespace {

const SmallVector<llvm::StringRef> kDims = standardOutDimNames(2);

/// Wraps or repeats, as encodings do.
LinearLayout fit(LinearLayout layout, ArrayRef<int64_t> shape,
                 ArrayRef<unsigned> order) {
  for (unsigned d : order) {
    int64_t have = layout.getOutDimSize(kDim(d));
    if (have > shape[d])
      layout = layout.resizeOutDim(kDim(d), shape[d]);
    else
      layout *= LinearLayout::identity1D(shape[d] / have, kRegister, kDim(d));
  }
  return layout.unsqueezeIn(kBlock);
}

LinearLayout blocked(ArrayRef<int64_t> shape, ArrayRef<int64_t> perThread,
                     ArrayRef<int64_t> threads, ArrayRef<int64_t> warps,
                     ArrayRef<unsigned> order) {
  LinearLayout result =
      LinearLayout::identityND(kRegister, perThread, order, kDims) *
      LinearLayout::identityND(kLane, threads, order, kDims) *
      LinearLayout::identityND(kWarp, warps, order, kDims);
  return fit(result, shape, order);
}

/// The accumulator of mma.m16n8, warps 2x2.
LinearLayout mma(ArrayRef<int64_t> shape) {
  LinearLayout result({{kRegister, {{0, 1}, {8, 0}}},
                       {kLane, {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}},
                       {kWarp, {{0, 8}, {16, 0}}}},
                      {{kDim(0), 32}, {kDim(1), 16}});
  return fit(result, shape, {1, 0});
}

/// Issues every instruction of one side, with real addresses, and counts.
/// Also checks that vectors are contiguous and aligned, and that all elements
/// land where the layout says.
unsigned simulate(const LinearLayout &side, const LinearLayout &shared,
                  unsigned elemBits, unsigned vecLog2,
                  std::map<uint64_t, uint64_t> &memory, bool isStore,
                  BankGeometry banks = {}) {
  LinearLayout distinct = removeBroadcastedRegisters(side).apply(side);
  LinearLayout offsets = getOffsetLayout(distinct, shared);
  VectorAccess access = getVectorAccess(offsets, elemBits);
  EXPECT_GE(access.vecLog2, vecLog2);
  LinearLayout moved = access.registers.apply(offsets);
  LinearLayout values = access.registers.apply(distinct);
  unsigned vec = 1u << vecLog2, bytes = elemBits / 8;
  unsigned wavefronts = 0;
  for (int w = 0; w < moved.getInDimSize(kWarp); ++w)
    for (int r = 0; r < moved.getInDimSize(kRegister); r += vec) {
      SmallVector<uint64_t> addresses;
      for (int l = 0; l < moved.getInDimSize(kLane); ++l) {
        uint64_t first = 0, repetition = 0;
        for (unsigned i = 0; i < vec; ++i) {
          LinearLayout::NamedSizes index = {
              {kRegister, r + int(i)}, {kLane, l}, {kWarp, w}, {kBlock, 0}};
          auto at = moved.apply(index);
          EXPECT_EQ(at[0].first, kOffset);
          if (i == 0) {
            first = at[0].second;
            repetition = moved.hasOutDim(kRepetition) ? at[1].second : 0;
            EXPECT_EQ(first % vec, 0u);
          }
          EXPECT_EQ(uint64_t(at[0].second), first + i);
          uint64_t element = values.flattenOut(values.apply(index));
          uint64_t place = (repetition << 32) | (first + i);
          if (isStore)
            memory[place] = element;
          else
            EXPECT_EQ(memory.at(place), element);
        }
        addresses.push_back(first * bytes);
      }
      unsigned simulated = simulateWavefronts(addresses, bytes * vec, banks);
      EXPECT_EQ(simulated, countWavefronts(moved, elemBits, vecLog2, banks));
      wavefronts += w == 0 ? simulated : 0;
    }
  return wavefronts;
}

/// Runs the whole conversion and returns the choice after checking that it has
/// no bank conflicts.
SwizzledLayout check(const LinearLayout &src, const LinearLayout &dst,
                     unsigned elemBits, int64_t maxBytes = 1 << 30,
                     BankGeometry banks = {}) {
  auto choice = chooseSwizzledSharedLayout(src, dst, elemBits, maxBytes, banks);
  EXPECT_TRUE(choice);
  std::map<uint64_t, uint64_t> memory;
  EXPECT_EQ(simulate(src, choice->layout, elemBits, choice->storeVecLog2,
                     memory, /*isStore=*/true, banks),
            choice->storeWavefronts);
  EXPECT_EQ(simulate(dst, choice->layout, elemBits, choice->loadVecLog2, memory,
                     /*isStore=*/false, banks),
            choice->loadWavefronts);
  EXPECT_TRUE(choice->isConflictFree);
  auto stores = getOffsetLayout(src, choice->layout);
  auto loads = getOffsetLayout(dst, choice->layout);
  EXPECT_LE(
      countWavefronts(stores, elemBits, choice->storeVecLog2, banks),
      countIdealWavefronts(stores, elemBits, choice->storeVecLog2, banks));
  EXPECT_LE(countWavefronts(loads, elemBits, choice->loadVecLog2, banks),
            countIdealWavefronts(loads, elemBits, choice->loadVecLog2, banks));
  return *choice;
}

TEST(SwizzledShared, BlockedTranspose) {
  for (unsigned bits : {8, 16, 32, 64})
    for (int64_t vec : {1, 4, 8}) {
      LinearLayout rows =
          blocked({64, 64}, {1, vec}, {32 / 8, 8}, {4, 1}, {1, 0});
      LinearLayout columns =
          blocked({64, 64}, {vec, 1}, {8, 32 / 8}, {1, 4}, {0, 1});
      SwizzledLayout choice = check(rows, columns, bits);
      EXPECT_EQ(choice.getNumElements(), 64 * 64);
      check(columns, rows, bits);
    }
}

TEST(SwizzledShared, OneSideMayBeWider) {
  // fp32 transposed: no common register, but one side can move 16 bytes.
  LinearLayout rows = blocked({64, 64}, {1, 4}, {2, 16}, {4, 1}, {1, 0});
  LinearLayout columns = blocked({64, 64}, {4, 1}, {16, 2}, {1, 4}, {0, 1});
  SwizzledLayout choice = check(rows, columns, 32);
  EXPECT_EQ(std::max(choice.storeVecLog2, choice.loadVecLog2), 2u);
}

TEST(SwizzledShared, SameOrderIsFullyVectorised) {
  LinearLayout a = blocked({64, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0});
  LinearLayout b = blocked({64, 64}, {2, 8}, {8, 4}, {1, 4}, {1, 0});
  SwizzledLayout choice = check(a, b, 16);
  EXPECT_EQ(choice.storeVecLog2, 3u);
  EXPECT_EQ(choice.loadVecLog2, 3u);
}

TEST(SwizzledShared, MmaToBlocked) {
  for (auto shape : {SmallVector<int64_t>{64, 64}, {128, 128}, {32, 256}})
    for (unsigned bits : {8, 16, 32}) {
      LinearLayout b = blocked(shape, {1, 8}, {4, 8}, {4, 1}, {1, 0});
      LinearLayout t = blocked(shape, {8, 1}, {8, 4}, {1, 4}, {0, 1});
      for (const LinearLayout &other : {b, t}) {
        SwizzledLayout choice = check(mma(shape), other, bits);
        EXPECT_EQ(choice.storeVecLog2 > 0, &other == &b || choice.storeVecLog2);
        check(other, mma(shape), bits);
      }
    }
}

TEST(SwizzledShared, SmallTensorsAndCopies) {
  // 32 values held by every lane of every warp several times over.
  LinearLayout all({{kRegister, {{1}, {2}, {4}, {8}, {16}}},
                    {kLane, {{0}, {0}, {0}, {0}, {0}}},
                    {kWarp, {{0}, {0}}},
                    {kBlock, {}}},
                   {{kDim(0), 32}});
  LinearLayout spread({{kRegister, {}},
                       {kLane, {{1}, {2}, {4}, {8}, {16}}},
                       {kWarp, {{0}, {0}}},
                       {kBlock, {}}},
                      {{kDim(0), 32}});
  for (unsigned bits : {8, 16, 32, 64}) {
    check(all, spread, bits);
    check(spread, all, bits);
  }
}

TEST(SwizzledShared, LimitedBufferRepeats) {
  LinearLayout a = blocked({128, 128}, {1, 8}, {4, 8}, {4, 1}, {1, 0});
  LinearLayout b = mma({128, 128});
  SwizzledLayout whole = check(a, b, 16);
  EXPECT_EQ(whole.getNumElements(), 128 * 128);
  SwizzledLayout part = check(a, b, 16, 8 * 1024);
  EXPECT_EQ(part.getNumElements(), 4 * 1024);
  EXPECT_EQ(part.layout.getInDimSize(kRepetition), 4);
}

TEST(SwizzledShared, BlocksKeepTheirOwn) {
  LinearLayout a(
      {{kRegister, {{1}}}, {kLane, {{2}}}, {kWarp, {}}, {kBlock, {{4}}}},
      {{kDim(0), 8}});
  LinearLayout b(
      {{kRegister, {{2}}}, {kLane, {{1}}}, {kWarp, {}}, {kBlock, {{4}}}},
      {{kDim(0), 8}});
  LinearLayout c(
      {{kRegister, {{4}}}, {kLane, {{1}}}, {kWarp, {}}, {kBlock, {{2}}}},
      {{kDim(0), 8}});
  auto choice = chooseSwizzledSharedLayout(a, b, 32);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->getNumElements(), 4);
  EXPECT_EQ(choice->layout.getBasis(kBlock, 0)[0], 4);
  EXPECT_FALSE(chooseSwizzledSharedLayout(a, c, 32));
}

class RandomPairs : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomPairs, NeverConflict) {
  RandomLayouts random(GetParam());
  for (int i = 0; i < 4; ++i) {
    LinearLayout::NamedSizes outs = {{kDim(0), 4 << random.below(4)},
                                     {kDim(1), 4 << random.below(3)}};
    LinearLayout src = random.distributed(5, 5, 1, outs);
    LinearLayout dst = random.distributed(5, 5, 1, outs);
    check(src, dst, 8u << random.below(4));
  }
}

TEST_P(RandomPairs, OtherWarpsAndBanksAreConflictFree) {
  RandomLayouts random(GetParam());
  LinearLayout::NamedSizes outs = {{kDim(0), 16 << random.below(3)},
                                   {kDim(1), 8 << random.below(3)}};
  LinearLayout src = random.distributed(5, 6, 1, outs);
  LinearLayout dst = random.distributed(5, 6, 1, outs);
  for (BankGeometry banks : {BankGeometry{32, 4}, BankGeometry{64, 4},
                             BankGeometry{32, 8}, BankGeometry{16, 4}})
    check(src, dst, 8u << random.below(4), 1 << 30, banks);
}

TEST_P(RandomPairs, EntangledLayoutsWork) {
  RandomLayouts random(GetParam());
  LinearLayout::NamedSizes outs = {{kDim(0), 32}, {kDim(1), 64}};
  LinearLayout::NamedSizes ins = {
      {kRegister, 32}, {kLane, 32}, {kWarp, 2}, {kBlock, 1}};
  LinearLayout src = random.surjective(ins, outs);
  LinearLayout dst = random.surjective(ins, outs);
  for (unsigned bits : {8, 32}) {
    auto choice = chooseSwizzledSharedLayout(src, dst, bits);
    ASSERT_TRUE(choice);
    std::map<uint64_t, uint64_t> memory;
    EXPECT_EQ(simulate(src, choice->layout, bits, choice->storeVecLog2, memory,
                       /*isStore=*/true),
              choice->storeWavefronts);
    EXPECT_EQ(simulate(dst, choice->layout, bits, choice->loadVecLog2, memory,
                       /*isStore=*/false),
              choice->loadWavefronts);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPairs, ::testing::Range(0u, 25u));

TEST(VectorAccess, LimitsAndOrder) {
  LinearLayout shared =
      LinearLayout::identityND(kOffset, {16, 64}, {1, 0}, kDims)
          .unsqueezeIn(kBlock);
  // Registers in an odd order: columns 2, 1, 4, 8.
  LinearLayout side({{kRegister, {{0, 2}, {0, 1}, {0, 4}, {0, 8}}},
                     {kLane, {{0, 16}, {0, 32}, {1, 0}, {2, 0}, {4, 0}}},
                     {kWarp, {{8, 0}}},
                     {kBlock, {}}},
                    {{kDim(0), 16}, {kDim(1), 64}});
  LinearLayout offsets = getOffsetLayout(side, shared);
  VectorAccess wide = getVectorAccess(offsets, 16);
  EXPECT_EQ(wide.vecLog2, 3u);
  EXPECT_EQ(wide.registers.getBits(), ArrayRef<unsigned>({1, 0, 2, 3}));
  EXPECT_EQ(getVectorAccess(offsets, 32).vecLog2, 2u);
  EXPECT_EQ(getVectorAccess(offsets, 8).vecLog2, 4u);
  EXPECT_EQ(getVectorAccess(offsets, 16, 64).vecLog2, 2u);
  EXPECT_EQ(getVectorAccess(offsets, 16, 128, 2).vecLog2, 1u);
  // A lane that disturbs bit 1 makes runs of four unaligned.
  LinearLayout odd({{kRegister, {{0, 1}, {0, 2}, {0, 4}, {0, 8}}},
                    {kLane, {{0, 18}, {0, 32}, {1, 0}, {2, 0}, {4, 0}}},
                    {kWarp, {{8, 0}}},
                    {kBlock, {}}},
                   {{kDim(0), 16}, {kDim(1), 64}});
  EXPECT_EQ(getVectorAccess(getOffsetLayout(odd, shared), 16).vecLog2, 1u);
}

TEST(Wavefronts, KnownPatterns) {
  auto lanesAt = [](LinearLayout::DimBases lanes) {
    return LinearLayout({{kRegister, {}}, {kLane, lanes}}, {{kOffset, 1 << 12}},
                        /*requireSurjective=*/false);
  };
  auto strided = [&](int32_t s) {
    return lanesAt({{s}, {2 * s}, {4 * s}, {8 * s}, {16 * s}});
  };
  EXPECT_EQ(countWavefronts(strided(1), 32, 0), 1u);
  EXPECT_EQ(countWavefronts(strided(2), 32, 0), 2u);
  EXPECT_EQ(countWavefronts(strided(32), 32, 0), 32u);
  EXPECT_EQ(countWavefronts(strided(4), 32, 2), 4u);
  EXPECT_EQ(countWavefronts(strided(32), 32, 2), 32u);
  EXPECT_EQ(countWavefronts(strided(1), 16, 0), 1u);
  EXPECT_EQ(countWavefronts(strided(64), 16, 0), 32u);
  EXPECT_EQ(countWavefronts(lanesAt({{0}, {0}, {0}, {0}, {0}}), 32, 0), 1u);
  EXPECT_EQ(countWavefronts(lanesAt({{1}, {2}, {4}, {32}, {64}}), 32, 0), 4u);
}

TEST(RegisterExchanges, NeighbouringRows) {
  // 32-bit results of wgmma, in rows of 128 bytes whose chunks of 16 bytes are
  // xor-ed with the row: two rows share two chunks.
  LinearLayout offsets({{kRegister, {{1}, {256}, {8}, {16}, {2048}}},
                        {kLane, {{2}, {4}, {32 ^ 4}, {64 ^ 8}, {128 ^ 16}}}},
                       {{kOffset, 1 << 12}}, /*requireSurjective=*/false);
  EXPECT_EQ(countWavefronts(offsets, 32, 1), 4u);
  auto exchanges = chooseRegisterExchanges(offsets, 32, 1);
  ASSERT_EQ(exchanges.size(), 1u);
  LinearLayout exchanged = exchangeRegisters(offsets, exchanges[0]);
  EXPECT_EQ(countWavefronts(exchanged, 32, 1), 2u);
  EXPECT_EQ(getVectorAccess(exchanged, 32).vecLog2, 1u);
  // Every lane has the same elements, in another order.
  for (int32_t lane = 0; lane < 32; ++lane) {
    std::set<int32_t> before, after;
    for (int32_t r = 0; r < 32; ++r) {
      before.insert(offsets.apply({{kRegister, r}, {kLane, lane}})[0].second);
      after.insert(exchanged.apply({{kRegister, r}, {kLane, lane}})[0].second);
    }
    EXPECT_EQ(before, after);
  }
  // Rows of all banks: no other register helps, so nothing is exchanged.
  LinearLayout column({{kRegister, {{32}, {64}}},
                       {kLane, {{128}, {256}, {512}, {1024}, {2048}}}},
                      {{kOffset, 1 << 12}}, /*requireSurjective=*/false);
  EXPECT_TRUE(chooseRegisterExchanges(column, 32, 0).empty());
}

} // namespace

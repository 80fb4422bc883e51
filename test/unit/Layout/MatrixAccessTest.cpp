//===-- MatrixAccessTest.cpp - ldmatrix carried out on memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/MatrixAccess.h"
#include "RandomLayouts.h"
#include "Simulate.h"
#include "tile/Layout/SharedMemory.h"
#include <gtest/gtest.h>

using namespace mlir::triton;
using namespace mlir::triton::test;
using llvm::SmallVector;

namespace {

/// A 64x64 buffer, row-major, with 16-byte chunks xored by the row.
LinearLayout sharedRows(unsigned elemBits, bool swizzled = true) {
  LinearLayout::DimBases bases;
  for (int32_t c = 1; c < 64; c *= 2)
    bases.push_back({0, c});
  int32_t vec = 128 / elemBits;
  for (int32_t r = 1; r < 64; r *= 2)
    bases.push_back({r, swizzled ? r % 8 * vec % 64 : 0});
  return LinearLayout({{kOffset, bases}, {kBlock, {}}},
                      {{kDim(0), 64}, {kDim(1), 64}});
}

LinearLayout swapDims(const LinearLayout &layout) {
  return layout.renameOutDim(kDim(0), "t")
      .renameOutDim(kDim(1), kDim(0))
      .renameOutDim("t", kDim(1))
      .transposeOuts({kDim(0), kDim(1)});
}

/// The left operand of mma.m16n8 with `kWidth` values along K in a register,
/// four warps along M.
LinearLayout leftOperand(int32_t kWidth) {
  LinearLayout::DimBases regs, lanes;
  for (int32_t k = 1; k < kWidth; k *= 2)
    regs.push_back({0, k});
  regs.push_back({8, 0});
  for (int32_t k = 4 * kWidth; k < 64; k *= 2)
    regs.push_back({0, k});
  return LinearLayout(
      {{kRegister, regs},
       {kLane, {{0, kWidth}, {0, 2 * kWidth}, {1, 0}, {2, 0}, {4, 0}}},
       {kWarp, {{16, 0}, {32, 0}}},
       {kBlock, {}}},
      {{kDim(0), 64}, {kDim(1), 64}});
}

/// Executes the instruction as the ISA describes it, on a memory whose
/// elements name themselves, and compares with what the layout wants.
void check(const LinearLayout &operand, const LinearLayout &shared,
           unsigned elemBits, const MatrixAccess &access) {
  LinearLayout offsets =
      access.registers.apply(getOffsetLayout(operand, shared));
  LinearLayout wanted = access.registers.apply(operand);
  unsigned perRow = 128 / elemBits, pack = 1u << access.packLog2;
  unsigned matrices = 1u << access.matricesLog2;
  auto offsetOf = [&](int r, int l, int w) {
    return offsets
        .apply({{kRegister, r}, {kLane, l}, {kWarp, w}, {kBlock, 0}})[0]
        .second;
  };
  for (int w = 0; w < offsets.getInDimSize(kWarp); ++w) {
    for (int r = 0; r < offsets.getInDimSize(kRegister);
         r += access.getNumElements()) {
      SmallVector<uint64_t> addresses;
      for (int l = 0; l < 32; ++l)
        addresses.push_back(
            access.rowOffsets.apply({{kLane, l}, {kWarp, w}, {kBlock, 0}})[0]
                .second ^
            offsetOf(r, 0, 0));
      SmallVector<uint64_t> bytes;
      for (unsigned i = 0; i < 8 * matrices; ++i) {
        EXPECT_EQ(addresses[i] % perRow, 0u);
        bytes.push_back(addresses[i] * elemBits / 8);
      }
      EXPECT_EQ(simulateWavefronts(bytes, 16), access.wavefronts);
      for (int l = 0; l < 32; ++l)
        for (unsigned m = 0; m < matrices; ++m)
          for (unsigned e = 0; e < pack; ++e) {
            uint64_t from;
            if (access.sortsBytes) {
              // Bytes m % 2 and m % 2 + 2 of two matrices, the second one's
              // first where bit 1 of the lane is set.
              unsigned matrix = (m & ~1u) + (e / 2 ^ (l >> 1 & 1));
              from = addresses[8 * matrix + 2 * (l % 4) + e % 2] + 2 * (l / 4) +
                     m % 2;
            } else if (access.transposed)
              from = addresses[8 * m + 2 * (l % 4) + e] + l / 4;
            else
              from = addresses[8 * m + l / 4] + pack * (l % 4) + e;
            auto element = shared.apply({{kOffset, from}, {kBlock, 0}});
            EXPECT_EQ(element, wanted.apply({{kRegister, r + m * pack + e},
                                             {kLane, l},
                                             {kWarp, w},
                                             {kBlock, 0}}));
          }
    }
  }
}

TEST(MatrixAccess, Plain) {
  for (unsigned bits : {8, 16, 32}) {
    LinearLayout a = leftOperand(32 / bits), shared = sharedRows(bits);
    auto access =
        getMatrixAccess(getOffsetLayout(a, shared), bits, /*transposed=*/false);
    ASSERT_TRUE(access);
    EXPECT_EQ(access->matricesLog2, 2u);
    EXPECT_EQ(access->wavefronts, bits == 8 ? 8u : 4u);
    check(a, shared, bits, *access);
  }
}

TEST(MatrixAccess, Transposed) {
  // The operand lies in memory with M contiguous.
  LinearLayout a = leftOperand(2), shared = swapDims(sharedRows(16));
  auto offsets = getOffsetLayout(a, shared);
  EXPECT_FALSE(getMatrixAccess(offsets, 16, /*transposed=*/false));
  auto access = getMatrixAccess(offsets, 16, /*transposed=*/true);
  ASSERT_TRUE(access);
  EXPECT_EQ(access->matricesLog2, 2u);
  EXPECT_EQ(access->wavefronts, 4u);
  check(a, shared, 16, *access);
  // Other widths cannot be transposed so.
  for (unsigned bits : {8, 32}) {
    auto other =
        getOffsetLayout(leftOperand(32 / bits), swapDims(sharedRows(bits)));
    EXPECT_FALSE(getMatrixAccess(other, bits, /*transposed=*/true));
    EXPECT_FALSE(getMatrixAccess(other, bits, /*transposed=*/false));
  }
}

TEST(MatrixAccess, TransposedBytes) {
  // Row 8 of the operand is row 1 in memory, where M is contiguous.
  LinearLayout a = leftOperand(4);
  LinearLayout::Bases bases;
  for (auto [name, dimBases] : a.getBases()) {
    for (auto &basis : dimBases)
      if (int32_t row = basis[0] % 16)
        basis[0] = row == 8 ? 1 : 2 * row;
    bases.push_back({name, dimBases});
  }
  LinearLayout reordered(bases, a.getOutDims());
  for (bool swizzled : {true, false}) {
    LinearLayout shared = swapDims(sharedRows(8, swizzled));
    auto offsets = getOffsetLayout(reordered, shared);
    EXPECT_FALSE(getMatrixAccess(offsets, 8, /*transposed=*/false));
    auto access = getMatrixAccess(offsets, 8, /*transposed=*/true);
    ASSERT_TRUE(access && access->sortsBytes);
    EXPECT_EQ(access->matricesLog2, 2u);
    check(reordered, shared, 8, *access);
  }
  // A row of 16 bytes has to be whole, and neighbours with one thread.
  EXPECT_FALSE(getMatrixAccess(getOffsetLayout(a, swapDims(sharedRows(8))), 8,
                               /*transposed=*/true));
}

TEST(MatrixAccess, CountsConflicts) {
  LinearLayout a = leftOperand(2), shared = sharedRows(16, /*swizzled=*/false);
  auto access =
      getMatrixAccess(getOffsetLayout(a, shared), 16, /*transposed=*/false);
  ASSERT_TRUE(access);
  EXPECT_EQ(access->wavefronts, 32u);
  check(a, shared, 16, *access);
}

TEST(MatrixAccess, FewerMatrices) {
  LinearLayout a = leftOperand(2), shared = sharedRows(16);
  auto offsets = getOffsetLayout(a, shared);
  for (unsigned max : {1, 2}) {
    auto access = getMatrixAccess(offsets, 16, false, max);
    ASSERT_TRUE(access);
    EXPECT_EQ(1u << access->matricesLog2, max);
    EXPECT_EQ(access->wavefronts, max);
    check(a, shared, 16, *access);
  }
}

TEST(MatrixAccess, WiderRegistersDoNotFit) {
  // Eight values along K for each lane: rows do not pass through four lanes.
  LinearLayout a = leftOperand(8), shared = sharedRows(16);
  EXPECT_FALSE(getMatrixAccess(getOffsetLayout(a, shared), 16, false));
}

} // namespace

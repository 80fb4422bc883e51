//===-- SharedLayoutTest.cpp - Shared memory against its formulas ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "EncodingTest.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

using SharedLayoutTest = EncodingTest;

std::string swizzled(int vec, int perPhase, int maxPhase,
                     const std::string &order,
                     const std::string &name = "swizzled_shared") {
  return name + "<{vec = " + std::to_string(vec) +
         ", perPhase = " + std::to_string(perPhase) +
         ", maxPhase = " + std::to_string(maxPhase) + ", order = " + order +
         "}>";
}

std::string nvmma(int bytes, bool transposed, int bits,
                  const std::string &more = "") {
  return "nvmma_shared<{swizzlingByteWidth = " + std::to_string(bytes) +
         ", transposed = " + (transposed ? "true" : "false") +
         ", elementBitWidth = " + std::to_string(bits) + more + "}>";
}

TEST_F(SharedLayoutTest, Swizzled) {
  for (auto [vec, perPhase, maxPhase] :
       {std::tuple(1, 1, 1), {8, 1, 8}, {8, 2, 4}, {4, 2, 8}, {1, 1, 16}}) {
    auto offset = [&](int64_t row, int64_t col, int64_t columns) {
      int64_t phase = (row / perPhase) % maxPhase;
      return row * columns + ((col / vec) ^ phase) * vec + col % vec;
    };
    expectOffsets(
        layoutOf({32, 64}, swizzled(vec, perPhase, maxPhase, "[1, 0]")),
        [&](ArrayRef<int64_t> at) { return offset(at[0], at[1], 64); });
    expectOffsets(
        layoutOf({64, 32}, swizzled(vec, perPhase, maxPhase, "[0, 1]")),
        [&](ArrayRef<int64_t> at) { return offset(at[1], at[0], 64); });
  }
}

TEST_F(SharedLayoutTest, SwizzledOfOtherRanks) {
  expectOffsets(layoutOf({128}, swizzled(1, 1, 1, "[0]")),
                [](ArrayRef<int64_t> at) { return at[0]; });
  expectOffsets(layoutOf({4, 8, 16}, swizzled(4, 1, 4, "[2, 1, 0]")),
                [](ArrayRef<int64_t> at) {
                  return at[0] * 128 + at[1] * 16 +
                         ((at[2] / 4) ^ (at[1] % 4)) * 4 + at[2] % 4;
                });
}

TEST_F(SharedLayoutTest, SwizzleWiderThanTheRowWraps) {
  LinearLayout layout = layoutOf({8, 16}, swizzled(8, 1, 8, "[1, 0]"));
  EXPECT_TRUE(layout.isInvertible());
  expectOffsets(layout, [](ArrayRef<int64_t> at) {
    return at[0] * 16 + (at[1] ^ (at[0] % 8 * 8 % 16));
  });
}

TEST_F(SharedLayoutTest, SwizzledInACluster) {
  LinearLayout layout = layoutOf(
      {16, 32},
      "swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0], "
      "CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>");
  EXPECT_EQ(layout.getInDimSize(kBlock), 2);
  expectOffsets(layout, [](ArrayRef<int64_t> at) {
    int64_t row = at[0] % 8;
    return row * 32 + ((at[1] / 4) ^ (row % 4)) * 4 + at[1] % 4;
  });
}

TEST_F(SharedLayoutTest, Rotating) {
  expectOffsets(
      layoutOf({64, 32}, swizzled(4, 2, 8, "[1, 0]", "amd_rotating_shared")),
      [](ArrayRef<int64_t> at) {
        int64_t phase = (at[0] / 2 % 8) ^ (at[0] / 2 / 8 % 8);
        return at[0] * 32 + ((at[1] / 4) ^ phase) * 4 + at[1] % 4;
      });
}

TEST_F(SharedLayoutTest, NvmmaSwizzles) {
  // The pattern of TMA and of matrix descriptors, by byte address. Bits 4 to 6
  // are xored with bits 7 to 9 for 128 bytes. For 64 bytes it is 4 to 5 with 7
  // to 8, for 32 bytes 4 with 7.
  for (auto [width, maskBits] : {std::pair(128, 3), {64, 2}, {32, 1}}) {
    for (int bits : {8, 16, 32}) {
      int64_t panel = width * 8 / bits;
      auto offset = [&](int64_t row, int64_t col, int64_t rows) {
        int64_t inPanel = (row * panel + col % panel) * bits / 8;
        inPanel ^= ((inPanel >> 7) & ((1 << maskBits) - 1)) << 4;
        return (col / panel) * rows * panel + inPanel * 8 / bits;
      };
      int64_t wide = 4 * panel;
      expectOffsets(
          layoutOf({32, wide}, nvmma(width, false, bits)),
          [&](ArrayRef<int64_t> at) { return offset(at[0], at[1], 32); });
      expectOffsets(
          layoutOf({wide, 32}, nvmma(width, true, bits)),
          [&](ArrayRef<int64_t> at) { return offset(at[1], at[0], 32); });
      // Fewer rows than one repeat of the swizzle.
      expectOffsets(
          layoutOf({4, panel}, nvmma(width, false, bits)),
          [&](ArrayRef<int64_t> at) { return offset(at[0], at[1], 4); });
      // Without the swizzle only the panels are left.
      LinearLayout plain = nvmmaSharedToUnswizzledLayout(
          {32, wide}, parse(nvmma(width, false, bits)));
      expectOffsets(plain, [&](ArrayRef<int64_t> at) {
        return at[1] / panel * 32 * panel + at[0] * panel + at[1] % panel;
      });
    }
  }
}

TEST_F(SharedLayoutTest, NvmmaWithoutSwizzle) {
  // Panels of 16 bytes: eight of their rows are a core matrix.
  expectOffsets(layoutOf({16, 64}, nvmma(0, false, 16)),
                [](ArrayRef<int64_t> at) {
                  return at[1] / 8 * 16 * 8 + at[0] * 8 + at[1] % 8;
                });
  expectOffsets(layoutOf({16, 64}, nvmma(0, true, 16)),
                [](ArrayRef<int64_t> at) {
                  return at[0] / 8 * 64 * 8 + at[1] * 8 + at[0] % 8;
                });
  // No matrices are in a tensor of higher rank: it has whole rows.
  expectOffsets(
      layoutOf({2, 16, 64}, nvmma(0, false, 16, ", rank = 3")),
      [](ArrayRef<int64_t> at) { return (at[0] * 16 + at[1]) * 64 + at[2]; });
}

TEST_F(SharedLayoutTest, NvmmaOfHigherRank) {
  // All outer dims are rows of one panel.
  expectOffsets(layoutOf({2, 16, 128}, nvmma(128, false, 16, ", rank = 3")),
                [](ArrayRef<int64_t> at) {
                  int64_t row = at[0] * 16 + at[1];
                  int64_t byte = (row * 64 + at[2] % 64) * 2;
                  byte ^= ((byte >> 7) & 7) << 4;
                  return at[2] / 64 * 32 * 64 + byte / 2;
                });
}

TEST_F(SharedLayoutTest, NvmmaNeedsFullRows) {
  EXPECT_EQ(reasonAgainst({64, 32}, nvmma(128, false, 16)),
            "a swizzle of 128 bytes needs rows of at least 64 elements, but "
            "they have 32");
}

TEST_F(SharedLayoutTest, NvmmaFp4Padded) {
  // Every 16 bytes hold 8 bytes of data.
  LinearLayout layout =
      layoutOf({8, 64}, nvmma(128, false, 8, ", fp4Padded = true"));
  EXPECT_TRUE(layout.isSurjective());
  EXPECT_EQ(layout.getInDimSize(kOffset), 8 * 128);
  for (int row = 0; row < 8; ++row)
    for (int col = 0; col < 64; ++col) {
      int chunk = (col / 8) ^ row;
      int offset = row * 128 + chunk * 16 + col % 8;
      auto at = layout.apply({{kOffset, offset}, {kBlock, 0}});
      EXPECT_EQ(at[0].second, row);
      EXPECT_EQ(at[1].second, col);
    }
}

TEST_F(SharedLayoutTest, PaddedAndLinear) {
  expectOffsets(
      layoutOf({64, 64},
               "padded_shared<[256:+16] {order = [1, 0], shape = [64, 64]}>"),
      [](ArrayRef<int64_t> at) { return at[0] * 64 + at[1]; });
  LinearLayout layout =
      layoutOf({2, 4}, "shared_linear<{offset = [[0, 1], [0, 2], [1, 2]]}, "
                       "alignment = 16>");
  expectOffsets(layout, [](ArrayRef<int64_t> at) {
    return at[0] * 4 + (at[1] ^ (2 * at[0]));
  });
  // A larger buffer repeats the pattern.
  EXPECT_EQ(layoutOf({4, 4}, "shared_linear<{offset = [[0, 1], [0, 2], "
                             "[1, 2]]}, alignment = 16>")
                .getBasis(kOffset, 3),
            (SmallVector<int32_t, 4>{2, 0}));
}

TEST_F(SharedLayoutTest, MemDescTypes) {
  Attribute encoding = parse(swizzled(8, 1, 8, "[1, 0]"));
  Attribute space = SharedMemorySpaceAttr::get(&context);
  Type f16 = Float16Type::get(&context);
  LinearLayout whole = toLinearLayout({64, 64}, encoding);
  // An array of buffers, and a part of a buffer, have the layout of one whole.
  EXPECT_EQ(toLinearLayout(MemDescType::get({3, 64, 64}, f16, encoding, space)),
            whole);
  EXPECT_EQ(toLinearLayout(MemDescType::get({64, 16}, f16, encoding, space,
                                            /*mutableMemory=*/true, {64, 64})),
            whole);
}

} // namespace

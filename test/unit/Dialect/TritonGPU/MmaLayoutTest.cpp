//===-- MmaLayoutTest.cpp - Fragments against the instruction manuals -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "EncodingTest.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

using MmaLayoutTest = EncodingTest;
using Coords = SmallVector<int64_t>;

std::string mmaV2(const std::string &warps = "[1, 1]") {
  return "nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = " +
         warps + ", instrShape = [16, 8]}>";
}
std::string mmaV3(const std::string &instr, const std::string &warps) {
  return "nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = " +
         warps + ", instrShape = " + instr + "}>";
}
std::string operand(int opIdx, int kWidth, const std::string &parent) {
  return "dot_op<{opIdx = " + std::to_string(opIdx) + ", parent = #ttg." +
         parent + ", kWidth = " + std::to_string(kWidth) + "}>";
}

TEST_F(MmaLayoutTest, AccumulatorOfM16N8) {
  // PTX ISA, "Matrix Fragments for mma.m16n8k16", C and D:
  //   groupID = %laneid >> 2, threadID_in_group = %laneid % 4
  //   row = groupID for c0, c1; groupID + 8 for c2, c3
  //   col = threadID_in_group * 2 + (i & 1)
  expectOwners(layoutOf({16, 8}, mmaV2()), [](int i, int lane, int, int) {
    int group = lane >> 2, inGroup = lane % 4;
    return Coords{i < 2 ? group : group + 8, inGroup * 2 + (i & 1)};
  });
}

TEST_F(MmaLayoutTest, WarpsAndRepeats) {
  expectOwners(layoutOf({64, 64}, mmaV2("[2, 2]")),
               [](int i, int lane, int warp, int) {
                 int repeat = i / 4, repeatN = repeat % 4, repeatM = repeat / 4;
                 int row = (lane >> 2) + (i % 4 < 2 ? 0 : 8);
                 int col = lane % 4 * 2 + (i & 1);
                 return Coords{row + 16 * (warp / 2) + 32 * repeatM,
                               col + 8 * (warp % 2) + 16 * repeatN};
               });
}

TEST_F(MmaLayoutTest, Batch) {
  LinearLayout layout = layoutOf(
      {4, 16, 8}, "nvidia_mma<{versionMajor = 2, versionMinor = 0, "
                  "warpsPerCTA = [2, 1, 1], instrShape = [1, 16, 8]}>");
  expectOwners(layout, [](int i, int lane, int warp, int) {
    return Coords{warp + 2 * (i / 4), (lane >> 2) + (i % 4 < 2 ? 0 : 8),
                  lane % 4 * 2 + (i & 1)};
  });
}

TEST_F(MmaLayoutTest, OperandsOfM16N8K16Half) {
  // A (.f16): row = groupID for a0,a1,a4,a5 else groupID + 8
  //           col = threadID_in_group * 2 + (i & 1) [+ 8 for i >= 4]
  expectOwners(layoutOf({16, 16}, operand(0, 2, mmaV2())),
               [](int i, int lane, int, int) {
                 int group = lane >> 2, inGroup = lane % 4;
                 bool upper = (i >= 0 && i < 2) || (i >= 4 && i < 6);
                 return Coords{upper ? group : group + 8,
                               inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
               });
  // B (.f16): row = threadID_in_group * 2 + (i & 1) [+ 8 for i >= 2]
  //           col = groupID
  expectOwners(
      layoutOf({16, 8}, operand(1, 2, mmaV2())), [](int i, int lane, int, int) {
        return Coords{lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane >> 2};
      });
}

TEST_F(MmaLayoutTest, OperandsOfM16N8K8Tf32) {
  // A (.tf32): row = groupID for a0 and a2, groupID + 8 for a1 and a3
  //            col = threadID_in_group for a0, a1; + 4 for a2, a3
  expectOwners(layoutOf({16, 8}, operand(0, 1, mmaV2())),
               [](int i, int lane, int, int) {
                 return Coords{(lane >> 2) + (i == 1 || i == 3 ? 8 : 0),
                               lane % 4 + (i >= 2 ? 4 : 0)};
               });
  // B (.tf32): row = threadID_in_group for b0; + 4 for b1, col = groupID
  expectOwners(layoutOf({8, 8}, operand(1, 1, mmaV2())),
               [](int i, int lane, int, int) {
                 return Coords{lane % 4 + (i == 1 ? 4 : 0), lane >> 2};
               });
}

TEST_F(MmaLayoutTest, OperandsOfM16N8K32Int8) {
  // A (.s8): row = groupID for 0 <= i < 4 and 8 <= i < 12, else groupID + 8
  //          col = threadID_in_group * 4 + (i & 3) [+ 16 for i >= 8]
  expectOwners(layoutOf({16, 32}, operand(0, 4, mmaV2())),
               [](int i, int lane, int, int) {
                 bool upper = i < 4 || (i >= 8 && i < 12);
                 return Coords{(lane >> 2) + (upper ? 0 : 8),
                               lane % 4 * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
               });
  // B (.s8): row = threadID_in_group * 4 + (i & 3) [+ 16 for i >= 4]
  expectOwners(
      layoutOf({32, 8}, operand(1, 4, mmaV2())), [](int i, int lane, int, int) {
        return Coords{lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0), lane >> 2};
      });
}

TEST_F(MmaLayoutTest, OperandsRepeatAlongKFirst) {
  // Warps of the other operand's dim hold copies.
  expectOwners(layoutOf({64, 32}, operand(0, 2, mmaV2("[2, 2]"))),
               [](int i, int lane, int warp, int) {
                 int e = i % 8, repeatK = i / 8 % 2, repeatM = i / 16;
                 bool upper = e < 2 || (e >= 4 && e < 6);
                 return Coords{(lane >> 2) + (upper ? 0 : 8) + 16 * (warp / 2) +
                                   32 * repeatM,
                               lane % 4 * 2 + (e & 1) + (e >= 4 ? 8 : 0) +
                                   16 * repeatK};
               });
  expectOwners(layoutOf({32, 64}, operand(1, 2, mmaV2("[2, 2]"))),
               [](int i, int lane, int warp, int) {
                 int e = i % 4, repeatK = i / 4 % 2, repeatN = i / 8;
                 return Coords{lane % 4 * 2 + (e & 1) + (e >= 2 ? 8 : 0) +
                                   16 * repeatK,
                               (lane >> 2) + 8 * (warp % 2) + 16 * repeatN};
               });
}

TEST_F(MmaLayoutTest, WgmmaAccumulator) {
  // PTX ISA, "Matrix Fragments for wgmma.mma_async.m64nNk*", D:
  //   row = 16 * (warp % 4) + groupID [+ 8 for d2, d3 of each four]
  //   col = 8 * (i / 4) + threadID_in_group * 2 + (i & 1)
  expectOwners(layoutOf({64, 64}, mmaV3("[16, 64, 16]", "[4, 1]")),
               [](int i, int lane, int warp, int) {
                 return Coords{16 * warp + (lane >> 2) + (i % 4 < 2 ? 0 : 8),
                               8 * (i / 4) + lane % 4 * 2 + (i & 1)};
               });
  // Two warp groups along M, two instructions along N.
  expectOwners(layoutOf({128, 64}, mmaV3("[16, 32, 16]", "[8, 1]")),
               [](int i, int lane, int warp, int) {
                 return Coords{16 * warp + (lane >> 2) + (i % 4 < 2 ? 0 : 8),
                               8 * (i / 4) + lane % 4 * 2 + (i & 1)};
               });
  // Warp groups side by side: M is counted first.
  expectOwners(layoutOf({64, 64}, mmaV3("[16, 32, 16]", "[4, 2]")),
               [](int i, int lane, int warp, int) {
                 return Coords{
                     16 * (warp % 4) + (lane >> 2) + (i % 4 < 2 ? 0 : 8),
                     32 * (warp / 4) + 8 * (i / 4) + lane % 4 * 2 + (i & 1)};
               });
}

TEST_F(MmaLayoutTest, WgmmaLeftOperand) {
  expectOwners(
      layoutOf({64, 16}, operand(0, 2, mmaV3("[16, 64, 16]", "[4, 1]"))),
      [](int i, int lane, int warp, int) {
        bool upper = i < 2 || (i >= 4 && i < 6);
        return Coords{16 * warp + (lane >> 2) + (upper ? 0 : 8),
                      lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
      });
}

TEST_F(MmaLayoutTest, ClusterOfBlocks) {
  std::string parent =
      "nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], "
      "CTAsPerCGA = [2, 2], CTASplitNum = [2, 2], CTAOrder = [1, 0], "
      "instrShape = [16, 8]}>";
  expectOwners(layoutOf({64, 16}, parent), [](int i, int lane, int warp,
                                              int block) {
    return Coords{(lane >> 2) + (i < 2 ? 0 : 8) + 16 * warp + 32 * (block / 2),
                  lane % 4 * 2 + (i & 1) + 8 * (block % 2)};
  });
  // Blocks side by side along N need the same rows of A.
  LinearLayout a = layoutOf({64, 16}, operand(0, 2, parent));
  EXPECT_EQ(a.getBasis(kBlock, 0), (SmallVector<int32_t, 4>{0, 0}));
  EXPECT_EQ(a.getBasis(kBlock, 1), (SmallVector<int32_t, 4>{32, 0}));
  LinearLayout b = layoutOf({16, 16}, operand(1, 2, parent));
  EXPECT_EQ(b.getBasis(kBlock, 0), (SmallVector<int32_t, 4>{0, 8}));
  EXPECT_EQ(b.getBasis(kBlock, 1), (SmallVector<int32_t, 4>{0, 0}));
}

TEST_F(MmaLayoutTest, WidthsThatAreNoLayout) {
  EXPECT_EQ(reasonAgainst({64, 256}, mmaV3("[16, 24, 16]", "[4, 1]")),
            "the width of a matrix instruction in a layout must be a power of "
            "two of at least 8, but is 24");
}

TEST_F(MmaLayoutTest, Mfma) {
  auto mfma = [](const std::string &instr, bool transposed) {
    return "amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = " +
           instr + ", isTransposed = " + (transposed ? "true" : "false") + "}>";
  };
  // CDNA3 ISA, 32x32 output: column lane % 32, rows in groups of four.
  auto at32 = [](int i, int lane, int, int) {
    return Coords{8 * (i / 4) + 4 * (lane / 32) + i % 4, lane % 32};
  };
  expectOwners(layoutOf({32, 32}, mfma("[32, 32, 8]", false)), at32);
  expectOwners(layoutOf({32, 32}, mfma("[32, 32, 8]", true)),
               [&](int i, int lane, int w, int b) {
                 Coords c = at32(i, lane, w, b);
                 return Coords{c[1], c[0]};
               });
  expectOwners(layoutOf({16, 16}, mfma("[16, 16, 16]", false)),
               [](int i, int lane, int, int) {
                 return Coords{4 * (lane / 16) + i, lane % 16};
               });
  expectOwners(layoutOf({32, 8}, operand(0, 4, mfma("[32, 32, 8]", false))),
               [](int i, int lane, int, int) {
                 return Coords{lane % 32, 4 * (lane / 32) + i};
               });
  expectOwners(layoutOf({16, 16}, operand(1, 4, mfma("[16, 16, 16]", true))),
               [](int i, int lane, int, int) {
                 return Coords{4 * (lane / 16) + i, lane % 16};
               });
}

TEST_F(MmaLayoutTest, Wmma) {
  auto wmma = [](int version) {
    return "amd_wmma<{version = " + std::to_string(version) +
           ", isTranspose = false, warpsPerCTA = [1, 1]}>";
  };
  // RDNA3: the halves of the warp alternate rows; RDNA4: eight rows each.
  expectOwners(layoutOf({16, 16}, wmma(1)), [](int i, int lane, int, int) {
    return Coords{2 * i + lane / 16, lane % 16};
  });
  expectOwners(layoutOf({16, 16}, wmma(2)), [](int i, int lane, int, int) {
    return Coords{8 * (lane / 16) + i, lane % 16};
  });
  // RDNA3 operands: both halves hold the same 16 values along K.
  expectOwners(layoutOf({16, 16}, operand(0, 16, wmma(1))),
               [](int i, int lane, int, int) { return Coords{lane % 16, i}; });
  expectOwners(layoutOf({16, 16}, operand(1, 8, wmma(2))),
               [](int i, int lane, int, int) {
                 return Coords{8 * (lane / 16) + i, lane % 16};
               });
}

} // namespace

//===-- DistributedLayoutTest.cpp - blocked, linear, slice, dot_op --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "EncodingTest.h"
#include <random>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

using DistributedLayoutTest = EncodingTest;
using Coords = SmallVector<int64_t>;

/// Takes the coordinates of `index` in a box out of it, dims in `order`.
Coords takeCoords(int &index, ArrayRef<unsigned> sizes,
                  ArrayRef<unsigned> order) {
  Coords result(sizes.size());
  for (unsigned dim : order) {
    result[dim] = index % sizes[dim];
    index /= sizes[dim];
  }
  return result;
}

/// Where an element of a blocked layout lies, by counting.
Coords blockedOwner(BlockedEncodingAttr encoding, ArrayRef<int64_t> shape,
                    int reg, int lane, int warp, int block) {
  unsigned rank = shape.size();
  ArrayRef<unsigned> order = encoding.getOrder();
  CTALayoutAttr ctas = encoding.getCTALayout();
  Coords inThread = takeCoords(reg, encoding.getSizePerThread(), order);
  Coords inWarp = takeCoords(lane, encoding.getThreadsPerWarp(), order);
  Coords inBlock = takeCoords(warp, encoding.getWarpsPerCTA(), order);
  Coords inCluster =
      takeCoords(block, ctas.getCTAsPerCGA(), ctas.getCTAOrder());
  SmallVector<unsigned> repeats;
  Coords part;
  for (unsigned d = 0; d < rank; ++d) {
    part.push_back(std::max<int64_t>(1, shape[d] / ctas.getCTASplitNum()[d]));
    int64_t tile = encoding.getSizePerThread()[d] *
                   encoding.getThreadsPerWarp()[d] *
                   encoding.getWarpsPerCTA()[d];
    repeats.push_back(std::max<int64_t>(1, part[d] / tile));
  }
  Coords repeat = takeCoords(reg, repeats, order);
  EXPECT_EQ(reg, 0);
  Coords result;
  for (unsigned d = 0; d < rank; ++d) {
    int64_t at = repeat[d];
    at = at * encoding.getWarpsPerCTA()[d] + inBlock[d];
    at = at * encoding.getThreadsPerWarp()[d] + inWarp[d];
    at = at * encoding.getSizePerThread()[d] + inThread[d];
    at = at % part[d] + inCluster[d] % ctas.getCTASplitNum()[d] * part[d];
    result.push_back(at % shape[d]);
  }
  return result;
}

TEST_F(DistributedLayoutTest, BlockedByHand) {
  LinearLayout layout = layoutOf(
      {16, 64}, "blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], "
                "warpsPerCTA = [4, 1], order = [1, 0]}>");
  EXPECT_EQ(layout,
            LinearLayout({{kRegister, {{0, 1}, {0, 2}, {8, 0}}},
                          {kLane, {{0, 4}, {0, 8}, {0, 16}, {0, 32}, {1, 0}}},
                          {kWarp, {{2, 0}, {4, 0}}},
                          {kBlock, {}}},
                         {{kDim(0), 16}, {kDim(1), 64}}));
}

TEST_F(DistributedLayoutTest, BlockedWraps) {
  // Two columns where the layout has room for eight.
  LinearLayout layout = layoutOf(
      {32, 2}, "blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 2], "
               "warpsPerCTA = [2, 2], order = [1, 0]}>");
  EXPECT_EQ(layout,
            LinearLayout({{kRegister, {{0, 1}, {0, 0}}},
                          {kLane, {{0, 0}, {1, 0}, {2, 0}, {4, 0}, {8, 0}}},
                          {kWarp, {{0, 0}, {16, 0}}},
                          {kBlock, {}}},
                         {{kDim(0), 32}, {kDim(1), 2}}));
}

TEST_F(DistributedLayoutTest, BlockedRandom) {
  std::mt19937 rng(7);
  for (int i = 0; i < 300; ++i) {
    unsigned rank = 1 + rng() % 3;
    SmallVector<unsigned> sizes(rank, 1), threads(rank, 1), warps(rank, 1),
        order(rank), ctas(rank, 1), split(rank, 1), ctaOrder(rank);
    SmallVector<int64_t> shape(rank, 1);
    for (unsigned d = 0; d < rank; ++d) {
      order[d] = ctaOrder[d] = d;
      sizes[d] = 1u << rng() % 3;
      shape[d] = int64_t(1) << rng() % (rank == 3 ? 5 : 7);
      ctas[d] = 1u << rng() % 2;
      split[d] = rng() % 2 ? ctas[d] : 1;
    }
    for (int n = 0; n < 5; ++n)
      threads[rng() % rank] *= 2;
    for (unsigned n = rng() % 3; n; --n)
      warps[rng() % rank] *= 2;
    std::shuffle(order.begin(), order.end(), rng);
    std::shuffle(ctaOrder.begin(), ctaOrder.end(), rng);
    auto encoding = BlockedEncodingAttr::get(
        &context, sizes, threads, warps, order,
        CTALayoutAttr::get(&context, ctas, split, ctaOrder));
    LinearLayout layout = toLinearLayout(shape, encoding);
    EXPECT_TRUE(layout.isSurjective());
    // The attribute may count blocks that hold copies along another dim.
    CTALayoutAttr stored = encoding.getCTALayout();
    if (stored.getCTAsPerCGA() != ArrayRef(ctas) ||
        stored.getCTAOrder() != ArrayRef(ctaOrder))
      continue;
    expectOwners(layout, [&](int reg, int lane, int warp, int block) {
      return blockedOwner(encoding, shape, reg, lane, warp, block);
    });
  }
}

TEST_F(DistributedLayoutTest, Linear) {
  std::string text = "linear<{register = [[0, 1], [8, 0]], "
                     "lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], "
                     "warp = [[16, 0], [32, 0]], block = []}>";
  LinearLayout own = cast<LinearEncodingAttr>(parse(text)).getLinearLayout();
  EXPECT_EQ(layoutOf({64, 8}, text), own);
  // Larger shapes take more registers, smaller ones wrap.
  LinearLayout larger = layoutOf({64, 16}, text);
  EXPECT_EQ(larger.getInDimSizeLog2(kRegister), 3u);
  EXPECT_EQ(larger.getBasis(kRegister, 2, kDim(1)), 8);
  LinearLayout smaller = layoutOf({16, 8}, text);
  EXPECT_EQ(smaller.getBasis(kWarp, 0, kDim(0)), 0);
  EXPECT_TRUE(smaller.isSurjective());
}

TEST_F(DistributedLayoutTest, LinearGrowsInPlaceOfCopies) {
  std::string text = "linear<{register = [[0, 0], [0, 1]], "
                     "lane = [[0, 0], [0, 2], [0, 0], [0, 0], [0, 0]], "
                     "warp = [[0, 0]], block = []}>";
  EXPECT_EQ(layoutOf({1, 4}, text),
            cast<LinearEncodingAttr>(parse(text)).getLinearLayout());
  LinearLayout larger = layoutOf({4, 4}, text);
  EXPECT_EQ(larger.sublayout({kRegister}, {kDim(0), kDim(1)}),
            LinearLayout({{kRegister, {{0, 1}, {1, 0}, {2, 0}}}},
                         {{kDim(0), 4}, {kDim(1), 4}},
                         /*requireSurjective=*/false));
}

TEST_F(DistributedLayoutTest, SliceDropsADimAndCopiesInRegisters) {
  std::string parent =
      "blocked<{sizePerThread = [2, 4], threadsPerWarp = [8, 4], "
      "warpsPerCTA = [2, 2], order = [1, 0]}>";
  LinearLayout rows =
      layoutOf({64}, "slice<{dim = 1, parent = #ttg." + parent + "}>");
  EXPECT_EQ(rows, LinearLayout({{kRegister, {{1}, {32}}},
                                {kLane, {{0}, {0}, {2}, {4}, {8}}},
                                {kWarp, {{0}, {16}}},
                                {kBlock, {}}},
                               {{kDim(0), 64}}));
  LinearLayout columns =
      layoutOf({16}, "slice<{dim = 0, parent = #ttg." + parent + "}>");
  EXPECT_EQ(columns, LinearLayout({{kRegister, {{1}, {2}}},
                                   {kLane, {{4}, {8}, {0}, {0}, {0}}},
                                   {kWarp, {{0}, {0}}},
                                   {kBlock, {}}},
                                  {{kDim(0), 16}}));
}

TEST_F(DistributedLayoutTest, SliceAgreesWithItsParent) {
  // The owner of (i, j) in the parent owns i in the slice, whatever j.
  Attribute parent =
      parse("blocked<{sizePerThread = [1, 2, 1], threadsPerWarp = [2, 2, 8], "
            "warpsPerCTA = [1, 2, 2], order = [2, 0, 1]}>");
  SmallVector<int64_t> shape = {4, 8, 32};
  LinearLayout whole = toLinearLayout(shape, parent);
  for (unsigned dim = 0; dim < 3; ++dim) {
    SmallVector<int64_t> sliced(shape);
    sliced.erase(sliced.begin() + dim);
    LinearLayout slice =
        toLinearLayout(sliced, SliceEncodingAttr::get(&context, dim, parent));
    EXPECT_TRUE(slice.isSurjective());
    LinearLayout projected = whole.removeOutDim(kDim(dim));
    for (unsigned i = dim; i < 2; ++i)
      projected = projected.renameOutDim(kDim(i + 1), kDim(i));
    EXPECT_EQ(projected.removeZeroBasesAlongDim(kRegister), slice);
  }
}

TEST_F(DistributedLayoutTest, SliceOfSlice) {
  LinearLayout layout = layoutOf(
      {16}, "slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = "
            "#ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = "
            "[4, 2, 4], warpsPerCTA = [1, 2, 2], order = [2, 1, 0]}>}>}>");
  EXPECT_EQ(layout, LinearLayout({{kRegister, {{1}}},
                                  {kLane, {{2}, {4}, {0}, {0}, {0}}},
                                  {kWarp, {{8}, {0}}},
                                  {kBlock, {}}},
                                 {{kDim(0), 16}}));
}

TEST_F(DistributedLayoutTest, DotOperandOfBlocked) {
  std::string parent =
      "blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 8], "
      "warpsPerCTA = [2, 1], order = [1, 0]}>";
  auto blocked = cast<BlockedEncodingAttr>(parse(parent));
  SmallVector<int64_t> resultShape = {32, 64};
  LinearLayout result = toLinearLayout(resultShape, blocked);
  LinearLayout a =
      layoutOf({32, 16}, "dot_op<{opIdx = 0, parent = #ttg." + parent + "}>");
  LinearLayout b =
      layoutOf({16, 64}, "dot_op<{opIdx = 1, parent = #ttg." + parent + "}>");
  // Each thread has, for every element of the result that it owns, the whole
  // row of A and the whole column of B.
  for (int lane = 0; lane < 32; ++lane) {
    for (int warp = 0; warp < 2; ++warp) {
      auto owned = [&](const LinearLayout &layout) {
        std::set<std::pair<int, int>> set;
        for (int r = 0; r < layout.getInDimSize(kRegister); ++r) {
          auto at = layout.apply(
              {{kRegister, r}, {kLane, lane}, {kWarp, warp}, {kBlock, 0}});
          set.insert({at[0].second, at[1].second});
        }
        return set;
      };
      auto rows = owned(a), columns = owned(b);
      std::set<std::pair<int, int>> neededA, neededB;
      for (auto [i, j] : owned(result))
        for (int k = 0; k < 16; ++k) {
          neededA.insert({i, k});
          neededB.insert({k, j});
        }
      EXPECT_EQ(rows, neededA);
      EXPECT_EQ(columns, neededB);
    }
  }
  EXPECT_EQ(a.getInDimSize(kRegister), 16 * 2 * (32 / 16));
}

TEST_F(DistributedLayoutTest, Refusals) {
  std::string blocked = "blocked<{sizePerThread = [1], threadsPerWarp = [32], "
                        "warpsPerCTA = [4], order = [0]}>";
  EXPECT_EQ(reasonAgainst({48}, blocked),
            "layouts need dimensions that are powers of two, but one has size "
            "48");
  EXPECT_EQ(reasonAgainst({16, 16}, blocked),
            "encoding of rank 1 does not fit a shape of rank 2");
  EXPECT_TRUE(failed(
      tryToLinearLayout({16}, UnitAttr::get(&context), /*emitError=*/nullptr)));
}

TEST_F(DistributedLayoutTest, ContiguousRunsAreAligned) {
  Type f32 = Float32Type::get(&context);
  auto contiguous = [&](const std::string &registers,
                        const std::string &lanes) {
    Attribute encoding =
        parse("linear<{register = " + registers + ", lane = " + lanes +
              ", warp = [], block = []}>");
    return getContigPerThread(RankedTensorType::get({4, 32}, f32, encoding));
  };
  std::string registers = "[[0, 1], [0, 2]]";
  EXPECT_EQ(contiguous(registers, "[[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]]"),
            SmallVector<unsigned>({1, 4}));
  // One lane starts at column 6.
  EXPECT_EQ(contiguous(registers, "[[0, 6], [0, 8], [0, 16], [1, 0], [2, 0]]"),
            SmallVector<unsigned>({1, 2}));
  // So does a register.
  EXPECT_EQ(contiguous("[[0, 1], [0, 2], [1, 2]]",
                       "[[0, 4], [0, 8], [0, 16], [2, 0], [0, 0]]"),
            SmallVector<unsigned>({1, 2}));
}

TEST_F(DistributedLayoutTest, TensorType) {
  Attribute encoding = parse("blocked<{sizePerThread = [1], threadsPerWarp = "
                             "[32], warpsPerCTA = [4], order = [0]}>");
  auto type =
      RankedTensorType::get({256}, Float32Type::get(&context), encoding);
  EXPECT_EQ(toLinearLayout(type), toLinearLayout({256}, encoding));
}

} // namespace

//===-- TensorMemoryLayoutTest.cpp - Places and instructions by formula ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The places of elements are compared with the tables of the PTX ISA, element
// by element. Instructions for random buffers are executed by the rules of
// tcgen05.ld: what a register gets must be the element that the layout says.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// A place: element of the column, column, lane, block.
using Found = std::array<int64_t, 4>;

class TensorMemoryLayoutTest : public ::testing::Test {
protected:
  TensorMemoryLayoutTest() {
    context.loadDialect<gpu::TritonGPUDialect, TritonNvidiaGPUDialect>();
  }

  gpu::MemDescType parse(const std::string &text) {
    Type type = parseType(text, &context);
    EXPECT_TRUE(type) << text;
    return cast<gpu::MemDescType>(type);
  }

  gpu::MemDescType buffer(int64_t m, int64_t n, StringRef element,
                          StringRef encoding) {
    return parse(llvm::formatv("!ttg.memdesc<{0}x{1}x{2}, "
                               "#ttnvgpu.tensor_memory_encoding<{3}>, "
                               "#ttnvgpu.tensor_memory, mutable>",
                               m, n, element, encoding)
                     .str());
  }

  void expectPlaces(gpu::MemDescType type,
                    llvm::function_ref<Found(int64_t, int64_t)> formula) {
    LinearLayout places = getTensorMemoryPlaces(type);
    for (int64_t m = 0; m < type.getShape()[0]; ++m)
      for (int64_t n = 0; n < type.getShape()[1]; ++n) {
        Found found{};
        for (auto [i, part] : llvm::enumerate(
                 places.apply({{kDim(0), int32_t(m)}, {kDim(1), int32_t(n)}})))
          found[i] = part.second;
        ASSERT_EQ(found, formula(m, n)) << m << ", " << n;
      }
  }

  MLIRContext context;
};

TEST_F(TensorMemoryLayoutTest, AccumulatorOf128Rows) {
  expectPlaces(
      buffer(128, 64, "f32", "blockM = 128, blockN = 64, colStride = 1"),
      [](int64_t m, int64_t n) { return Found{0, n, m, 0}; });
}

TEST_F(TensorMemoryLayoutTest, AccumulatorOf64Rows) {
  expectPlaces(buffer(64, 64, "f32", "blockM = 64, blockN = 64, colStride = 1"),
               [](int64_t m, int64_t n) {
                 return Found{0, n, m / 16 * 32 + m % 16, 0};
               });
}

TEST_F(TensorMemoryLayoutTest, BlocksOfRows) {
  expectPlaces(
      buffer(256, 64, "f32", "blockM = 64, blockN = 32, colStride = 1"),
      [](int64_t m, int64_t n) {
        int64_t block = m / 64, row = m % 64;
        return Found{0, block / 2 * 64 + n,
                     row / 16 * 32 + row % 16 + block % 2 * 16, 0};
      });
}

TEST_F(TensorMemoryLayoutTest, HalvesInColumns) {
  expectPlaces(
      buffer(128, 64, "f16", "blockM = 128, blockN = 64, colStride = 1"),
      [](int64_t m, int64_t n) { return Found{n % 2, n / 2, m, 0}; });
  expectPlaces(
      buffer(256, 64, "f16", "blockM = 128, blockN = 64, colStride = 2"),
      [](int64_t m, int64_t n) {
        return Found{0, m / 128 * 64 + n, m % 128, 0};
      });
  expectPlaces(
      buffer(128, 64, "i8", "blockM = 128, blockN = 64, colStride = 2"),
      [](int64_t m, int64_t n) { return Found{n % 2 * 2, n / 2, m, 0}; });
}

TEST_F(TensorMemoryLayoutTest, PairsOfBlocks) {
  expectPlaces(
      buffer(256, 64, "f32",
             "blockM = 128, blockN = 64, colStride = 1, CTASplitM = "
             "2, twoCTAs = true"),
      [](int64_t m, int64_t n) { return Found{0, n, m % 128, m / 128}; });
  expectPlaces(buffer(128, 64, "f32",
                      "blockM = 64, blockN = 64, colStride = 1, CTASplitM = 2, "
                      "twoCTAs = true"),
               [](int64_t m, int64_t n) {
                 return Found{0, n % 32, m % 64 + n / 32 * 64, m / 64};
               });
}

TEST_F(TensorMemoryLayoutTest, Scales) {
  for (int64_t rows : {32, 64, 128, 256})
    for (int64_t scales : {1, 4, 8, 16})
      expectPlaces(
          parse(llvm::formatv("!ttg.memdesc<{0}x{1}xi8, "
                              "#ttnvgpu.tensor_memory_scales_encoding<>, "
                              "#ttnvgpu.tensor_memory, mutable>",
                              rows, scales)
                    .str()),
          [&](int64_t row, int64_t k) {
            return Found{k % 4, row / 32 + rows / 32 * (k / 4), row % 32, 0};
          });
}

/// The lane and the column that register `r` of lane `t` has (PTX ISA,
/// "Matrix fragments for tcgen05.ld and st").
std::pair<int64_t, int64_t> getCell(const TensorMemoryAccess &access, int t,
                                    int r) {
  switch (access.shape) {
  case TensorShape::L32x32b:
    return {t, r};
  case TensorShape::L16x64b:
    return {(t >> 2) + 8 * (t & 1), ((t >> 1) & 1) + 2 * r};
  case TensorShape::L16x128b:
    return {(t >> 2) + 8 * (r & 1), (t & 3) + 4 * (r >> 1)};
  case TensorShape::L16x256b:
    return {(t >> 2) + 8 * ((r >> 1) & 1),
            2 * (t & 3) + (r & 1) + 8 * (r >> 2)};
  case TensorShape::L16x32bx2:
    return {t & 15, r};
  }
  return {};
}

TEST_F(TensorMemoryLayoutTest, InstructionsReachTheElements) {
  std::mt19937 random(0);
  auto pick = [&](ArrayRef<int> values) {
    return values[random() % values.size()];
  };
  unsigned numMatched = 0;
  while (numMatched < 300) {
    int bits = pick({8, 16, 32}), stride = pick({1, 2, 4});
    if (bits * stride > 32)
      continue;
    int blockM = pick({64, 128}), blockN = 1 << random() % 8;
    bool pair = random() % 4 == 0;
    int64_t m = blockM * pick({1, 1, 2, 4}) * (pair ? 2 : 1);
    int64_t n = blockN * pick({1, 1, 2});
    std::string encoding = llvm::formatv(
        "blockM = {0}, blockN = {1}, colStride = {2}{3}", blockM, blockN,
        stride, pair ? ", CTASplitM = 2, twoCTAs = true" : "");
    auto type =
        buffer(m, n, bits == 32 ? "f32" : "i" + std::to_string(bits), encoding);
    if (failed(getTensorMemoryFootprint(type)))
      continue;
    unsigned numWarps = pick({4, 8, 16});
    StringRef shape = std::array<StringRef, 5>{
        "32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"}[random() % 5];
    auto layout = getTensorMemoryRegisters(
        type, numWarps, *parseTensorShape(shape), random() % 2);
    if (!layout)
      continue;
    ++numMatched;
    Attribute registers = gpu::LinearEncodingAttr::get(&context, *layout);
    auto tensor = RankedTensorType::get(type.getShape(), type.getElementType(),
                                        registers);
    auto access = getTensorMemoryAccess(tensor, type);
    ASSERT_TRUE(succeeded(access)) << layout->toString() << shape.str();
    EXPECT_EQ(access->getShapeName(), shape);

    LinearLayout elements = toLinearLayout(tensor);
    LinearLayout places = getTensorMemoryPlaces(type);
    for (auto [r, position] : llvm::enumerate(access->positions))
      for (int t = 0; t < 32; ++t)
        for (unsigned w = 0; w < numWarps; ++w) {
          // By the layout.
          auto coordinates = elements.apply({{kRegister, int32_t(r)},
                                             {kLane, t},
                                             {kWarp, int32_t(w)},
                                             {kBlock, 0}});
          auto place = places.apply(coordinates);
          // By the instruction.
          auto [lane, column] = getCell(*access, t, position.word);
          unsigned slot = position.slot;
          if (access->packsHalves) {
            column = 2 * column + position.slot;
            slot = 0;
          }
          if (access->shape == TensorShape::L16x32bx2 && t >= 16)
            column += access->secondHalf;
          int64_t start = access->starts[position.instruction] + (w % 4 << 21);
          for (auto [i, more] : llvm::enumerate(access->warpStarts))
            if (w >> (2 + i) & 1)
              start += more;
          ASSERT_EQ(place[0].second, int64_t(slot)) << encoding << shape.str();
          ASSERT_EQ(place[1].second, column + (start & 0xffff))
              << encoding << shape.str();
          ASSERT_EQ(place[2].second, lane + (start >> 16))
              << encoding << shape.str();
        }
  }
}

/// What each bit of a block's number counts: rows (0) or columns (1) by a power
/// of two, or nothing (-1).
struct BlockOrder {
  std::vector<std::array<int, 2>> bits; ///< dimension, step
  int64_t rowParts = 1, columnParts = 1;

  std::array<int64_t, 2> getPart(unsigned block) const {
    std::array<int64_t, 2> part{0, 0};
    for (auto [i, bit] : llvm::enumerate(bits))
      if (bit[0] >= 0 && block >> i & 1)
        part[bit[0]] += bit[1];
    return part;
  }
  std::string print() const {
    std::string text = "[";
    for (auto [i, bit] : llvm::enumerate(bits))
      text += llvm::formatv("{0}[{1}, {2}]", i ? ", " : "",
                            bit[0] == 0 ? bit[1] : 0, bit[0] == 1 ? bit[1] : 0)
                  .str();
    return text + "]";
  }
};

/// All orders of the given number of bits, with the powers of two of each
/// dimension in any order.
std::vector<BlockOrder> getOrders(unsigned numBits) {
  std::vector<BlockOrder> found;
  unsigned count = 1;
  for (unsigned bit = 0; bit < numBits; ++bit)
    count *= 3;
  for (unsigned code = 0; code < count; ++code) {
    std::vector<int> dims;
    for (unsigned bit = 0, rest = code; bit < numBits; ++bit, rest /= 3)
      dims.push_back(int(rest % 3) - 1);
    std::array<std::vector<int>, 2> steps;
    for (int dim : dims)
      if (dim >= 0)
        steps[dim].push_back(1 << steps[dim].size());
    do {
      do {
        BlockOrder order;
        std::array<unsigned, 2> next{0, 0};
        for (int dim : dims)
          order.bits.push_back({dim, dim < 0 ? 0 : steps[dim][next[dim]++]});
        order.rowParts = 1 << steps[0].size();
        order.columnParts = 1 << steps[1].size();
        found.push_back(order);
      } while (std::next_permutation(steps[1].begin(), steps[1].end()));
    } while (std::next_permutation(steps[0].begin(), steps[0].end()));
  }
  return found;
}

TEST_F(TensorMemoryLayoutTest, BlocksInAnyOrder) {
  constexpr int64_t kRows = 128, kColumns = 32;
  constexpr StringLiteral kOfOne = "blockM = 64, blockN = 16, colStride = 1";
  LinearLayout one =
      getTensorMemoryPlaces(buffer(kRows, kColumns, "f32", kOfOne));
  for (unsigned numBits : {1, 2, 3})
    for (const BlockOrder &order : getOrders(numBits)) {
      std::string encoding = kOfOne.str() + ", CGALayout = " + order.print();
      auto type = buffer(kRows * order.rowParts, kColumns * order.columnParts,
                         "f32", encoding);
      // The first block that has the part of an element.
      expectPlaces(type, [&](int64_t m, int64_t n) {
        Found place{};
        for (auto [i, part] :
             llvm::enumerate(one.apply({{kDim(0), int32_t(m % kRows)},
                                        {kDim(1), int32_t(n % kColumns)}})))
          place[i] = part.second;
        std::array<int64_t, 2> part{m / kRows, n / kColumns};
        while (order.getPart(place[3]) != part)
          ++place[3];
        return place;
      });
      if (HasFatalFailure())
        FAIL() << encoding;

      // Registers of a block hold the elements of its part.
      auto layout = getTensorMemoryRegisters(type, 4, TensorShape::L32x32b);
      ASSERT_TRUE(layout) << encoding;
      auto registers = gpu::LinearEncodingAttr::get(&context, *layout);
      auto tensor = RankedTensorType::get(type.getShape(),
                                          type.getElementType(), registers);
      EXPECT_TRUE(succeeded(getTensorMemoryAccess(tensor, type))) << encoding;
      LinearLayout elements = toLinearLayout(tensor);
      for (unsigned block = 0; block < 1u << elements.getInDimSizeLog2(kBlock);
           ++block) {
        auto at = elements.apply(
            {{kRegister, 0}, {kLane, 0}, {kWarp, 0}, {kBlock, int32_t(block)}});
        EXPECT_EQ(at[0].second / kRows, order.getPart(block)[0]) << encoding;
        EXPECT_EQ(at[1].second / kColumns, order.getPart(block)[1]) << encoding;
      }
    }
}

TEST_F(TensorMemoryLayoutTest, BlocksInAnotherOrder) {
  // Of two orders that divide a matrix alike, each fits itself alone.
  constexpr StringLiteral kOfOne = "blockM = 128, blockN = 32, colStride = 1";
  for (const BlockOrder &order : getOrders(3))
    for (const BlockOrder &other : getOrders(3)) {
      if (order.rowParts != other.rowParts ||
          order.columnParts != other.columnParts)
        continue;
      auto make = [&](const BlockOrder &of) {
        return buffer(128 * of.rowParts, 32 * of.columnParts, "f32",
                      kOfOne.str() + ", CGALayout = " + of.print());
      };
      auto type = make(order);
      auto layout =
          getTensorMemoryRegisters(make(other), 4, TensorShape::L32x32b);
      ASSERT_TRUE(layout);
      auto tensor = RankedTensorType::get(
          type.getShape(), type.getElementType(),
          gpu::LinearEncodingAttr::get(&context, *layout));
      EXPECT_EQ(succeeded(getTensorMemoryAccess(tensor, type)),
                order.bits == other.bits)
          << order.print() << " " << other.print();
    }
}

TEST_F(TensorMemoryLayoutTest, LayoutsThatDoNotFit) {
  auto type =
      buffer(128, 64, "f32", "blockM = 128, blockN = 64, colStride = 1");
  auto fits = [&](std::string text) {
    Attribute encoding =
        parseAttribute("#ttg.linear<{" + text + "}>", &context);
    EXPECT_TRUE(encoding);
    return succeeded(getTensorMemoryAccess(
        RankedTensorType::get(type.getShape(), type.getElementType(), encoding),
        type));
  };
  std::string columns = "register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], "
                        "[0, 32]], ",
              lanes = "lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], ",
              warps = "warp = [[32, 0], [64, 0]], block = []";
  EXPECT_TRUE(fits(columns + lanes + warps));
  // Registers in another order, or copies of them, cost nothing.
  EXPECT_TRUE(fits("register = [[0, 32], [0, 2], [0, 1], [0, 8], [0, 16], [0, "
                   "4], [0, 0]], " +
                   lanes + warps));
  EXPECT_TRUE(fits("register = [[0, 1], [0, 3], [0, 4], [0, 8], [0, 16], [0, "
                   "32]], " +
                   lanes + warps));
  // Warps that hold what lies in another window.
  EXPECT_FALSE(fits(columns + lanes + "warp = [[64, 0], [32, 0]], block = []"));
  // Lanes in an order that no shape has.
  EXPECT_FALSE(fits(
      columns + "lane = [[2, 0], [1, 0], [4, 0], [8, 0], [16, 0]], " + warps));
}

} // namespace

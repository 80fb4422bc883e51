//===-- TensorCoreOperandsTest.cpp - Operands of tcgen05 ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A descriptor is right where the instruction reads each element from where the
// layout of the buffer has it. The PTX ISA has the rules by which it finds
// them. They are written down here once more, and compared with the layout for
// all elements of all tiles.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Register.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/InstructionDescriptor.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/MatrixDescriptor.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Layout/DimNames.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia;

namespace {

/// A descriptor as the hardware reads it.
struct Decoded {
  uint64_t bits;

  uint32_t field(unsigned at) const { return (bits >> at & 0x3fff) << 4; }
  uint32_t leading() const { return field(16); }
  uint32_t stride() const { return field(32); }
  uint32_t span() const {
    switch (bits >> 61) {
    case 0:
      return 16;
    case 2:
      return 128;
    case 4:
      return 64;
    case 6:
      return 32;
    default:
      return 0;
    }
  }
  uint32_t permute(uint32_t address) const {
    return address ^ (address >> 7 & (span() / 16 - 1)) << 4;
  }
  /// The byte of an element of a tile that starts at byte `start`, where rows
  /// are those of K.
  uint32_t getPlain(uint32_t start, uint32_t row, uint32_t byteOfK) const {
    uint32_t at = start + row / 8 * stride() + row % 8 * span();
    if (span() == 16)
      return at + byteOfK / 16 * leading() + byteOfK % 16;
    return permute(at + byteOfK);
  }
  /// The same where neighbours along M or N are neighbours in memory.
  uint32_t getTransposed(uint32_t start, uint32_t byteOfRow, uint32_t k) const {
    if (span() == 16)
      return start + byteOfRow / 16 * stride() + k / 8 * leading() +
             k % 8 * 16 + byteOfRow % 16;
    return permute(start + byteOfRow / span() * leading() + k / 8 * stride() +
                   k % 8 * span() + byteOfRow % span());
  }
};

class TensorCoreOperands : public testing::Test {
protected:
  TensorCoreOperands() {
    DialectRegistry registry;
    registry.insert<TritonDialect, triton::gpu::TritonGPUDialect>();
    backends::nvidia::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  LinearLayout getLayout(int swizzle, bool transposed, unsigned bits,
                         int64_t rows, int64_t columns, bool isPadded = false) {
    std::string text = llvm::formatv(
        "!ttg.memdesc<{0}x{1}xi{2}, #ttg.nvmma_shared<{{"
        "swizzlingByteWidth = {3}, transposed = {4}, "
        "elementBitWidth = {2}{5}}>, #ttg.shared_memory>",
        rows, columns, bits, swizzle, transposed ? "true" : "false",
        isPadded ? ", fp4Padded = true" : "");
    return toLinearLayout(
        cast<triton::gpu::MemDescType>(parseType(text, &context)));
  }

  /// Compares all elements. Of a padded buffer, `k` counts pairs.
  void check(const LinearLayout &layout, const MatrixTile &tile,
             bool isTransposed, StringRef what) {
    auto found = matchMatrixDescriptor(layout, tile, MatrixUnit::TensorMemory);
    ASSERT_TRUE(found) << what.str();
    EXPECT_EQ(found->isTransposed, isTransposed) << what.str();
    Decoded decoded{found->bits};
    EXPECT_EQ(found->bits >> 46 & 7, 1u);
    LinearLayout inverse = layout.pseudoinvert();
    uint32_t bytes = tile.elementBits / 8;
    // Where the program's tiles start, in the program's coordinates.
    int64_t perPlace = tile.isPadded4 ? 2 : 1;
    for (int64_t outer = 0; outer < tile.outerShape; ++outer)
      for (int64_t k = 0; k < tile.innerShape; ++k) {
        SmallVector<std::pair<StringRef, int32_t>> at{
            {kDim(0), int32_t(tile.outerDim == 0 ? outer : k)},
            {kDim(1), int32_t(tile.outerDim == 0 ? k : outer)}};
        uint32_t expected = inverse.apply(at).front().second * bytes;
        int64_t tileOuter = outer / tile.outerSize * tile.outerSize,
                tileK = k / tile.innerSize * tile.innerSize;
        uint32_t start = found->getOffset(tileOuter, tileK * perPlace);
        uint32_t row = outer - tileOuter, inK = k - tileK;
        // Eight bytes of pairs are sixteen elements, each a byte of the unit's.
        uint32_t byteOfK =
            tile.isPadded4 ? inK / 8 * 16 + inK % 8 : inK * bytes;
        uint32_t actual = isTransposed
                              ? decoded.getTransposed(start, row * bytes, inK)
                              : decoded.getPlain(start, row, byteOfK);
        ASSERT_EQ(actual, expected) << what.str() << ": element " << outer
                                    << " of M or N, " << k << " of K";
      }
  }

  MLIRContext context;
};

TEST_F(TensorCoreOperands, EachElementIsReadFromItsPlace) {
  for (unsigned bits : {8, 16, 32})
    for (int swizzle : {0, 32, 64, 128})
      for (bool alongM : {false, true})
        for (int64_t outerSize : {64, 128, 256})
          for (unsigned outerDim : {0, 1}) {
            int64_t step = 256 / bits, inner = 128, outer = 256;
            // Row-major buffers have K along rows where M is the first
            // dimension.
            bool rowMajorAlongK = outerDim == 0;
            bool turned = alongM == rowMajorAlongK;
            int64_t shape[] = {outerDim == 0 ? outer : inner,
                               outerDim == 0 ? inner : outer};
            LinearLayout layout =
                getLayout(swizzle, turned, bits, shape[0], shape[1]);
            MatrixTile tile{outerDim, 1 - outerDim, outerSize, step,
                            outer,    inner,        bits};
            std::string what = llvm::formatv(
                "{0} bits, swizzle {1}, along {2}, tile of {3}, dimension {4}",
                bits, swizzle, alongM ? "M" : "K", outerSize, outerDim);
            if (alongM && bits == 32) {
              EXPECT_FALSE(
                  matchMatrixDescriptor(layout, tile, MatrixUnit::TensorMemory))
                  << what;
              continue;
            }
            check(layout, tile, alongM, what);
          }
}

TEST_F(TensorCoreOperands, PairsWithPaddingAreReadAsBytes) {
  // The padded width is that of the swizzle: 64 pairs are 128 bytes.
  LinearLayout layout = getLayout(128, false, 8, 128, 128, /*isPadded=*/true);
  MatrixTile tile{0, 1, 128, 16, 128, 128, 8};
  tile.isPadded4 = true;
  check(layout, tile, /*isTransposed=*/false, "padded pairs");
  tile.isPadded4 = false;
  EXPECT_FALSE(matchMatrixDescriptor(layout, tile, MatrixUnit::TensorMemory));
}

TEST_F(TensorCoreOperands, ElementsOfFourBitsLieAlongK) {
  LinearLayout layout = getLayout(128, true, 8, 128, 128);
  MatrixTile tile{0, 1, 128, 32, 128, 128, 8};
  tile.mayBeTransposed = false;
  EXPECT_FALSE(matchMatrixDescriptor(layout, tile, MatrixUnit::TensorMemory));
}

TEST_F(TensorCoreOperands, OnlyHalvesOfWgmmaLieAlongM) {
  LinearLayout layout = getLayout(128, true, 8, 128, 128);
  MatrixTile tile{0, 1, 64, 32, 128, 128, 8};
  EXPECT_TRUE(matchMatrixDescriptor(layout, tile, MatrixUnit::TensorMemory));
  EXPECT_FALSE(matchMatrixDescriptor(layout, tile, MatrixUnit::WarpGroup));
}

//===----------------------------------------------------------------------===//
// Instruction descriptors
//===----------------------------------------------------------------------===//

TEST_F(TensorCoreOperands, WordsSayTypesAndShapes) {
  Builder b(&context);
  auto word = [&](Type a, Type second, Type d, unsigned m, unsigned n,
                  bool turnA = false, bool turnB = false) {
    auto mma = findTensorMma(a, second, d);
    mma->m = m;
    mma->n = n;
    mma->aTransposed = turnA;
    mma->bTransposed = turnB;
    return mma->getDescriptor();
  };
  Type f16 = b.getF16Type(), bf16 = b.getBF16Type(), f32 = b.getF32Type(),
       i8 = b.getI8Type(), e4m3 = b.getType<Float8E4M3FNType>(),
       e5m2 = b.getType<Float8E5M2Type>();
  EXPECT_EQ(word(f16, f16, f32, 128, 128), 0x08200010u);
  EXPECT_EQ(word(f16, f16, f16, 128, 128), 0x08200000u);
  EXPECT_EQ(word(bf16, bf16, f32, 128, 128, true, true), 0x08218490u);
  EXPECT_EQ(word(f32, f32, f32, 128, 128), 0x08200910u);
  EXPECT_EQ(word(e5m2, e5m2, f32, 128, 128), 0x08200490u);
  EXPECT_EQ(word(e4m3, e5m2, f32, 64, 256), 0x04400410u);
  EXPECT_EQ(word(i8, i8, b.getI32Type(), 128, 128), 0x082004a0u);
  EXPECT_EQ(word(f16, f16, f32, 256, 128), 0x10200010u);
  EXPECT_FALSE(findTensorMma(bf16, bf16, f16));
  EXPECT_FALSE(findTensorMma(f16, bf16, f32));
  EXPECT_FALSE(findTensorMma(i8, i8, f32));
}

TEST_F(TensorCoreOperands, WordsSayWhichScalesAreUsed) {
  Builder b(&context);
  using T = ScaleDotElemType;
  Type e4m3 = b.getType<Float8E4M3FNType>(), bytes = b.getI8Type();
  auto of = [](std::optional<TensorMma> mma) {
    mma->m = mma->n = 128;
    return *mma;
  };
  TensorMma mxf8 = of(findScaledTensorMma(T::E4M3, T::E4M3, false, bytes, 32));
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(mxf8.getDescriptor(i, i), 0x08a00000u | i << 29 | i << 4);
  EXPECT_EQ(of(findScaledTensorMma(T::E4M3, T::E2M1, false, bytes, 32))
                .getDescriptor(),
            0x08a01400u);
  TensorMma mxf4 = of(findScaledTensorMma(T::E2M1, T::E2M1, true, bytes, 32));
  EXPECT_EQ(mxf4.getDescriptor(), 0x08a00480u);
  EXPECT_EQ(mxf4.getDescriptor(2, 2), 0x48a004a0u);
  EXPECT_EQ(mxf4.getK(), 64u);
  TensorMma nvf4 = of(findScaledTensorMma(T::E2M1, T::E2M1, true, e4m3, 16));
  EXPECT_EQ(nvf4.getDescriptor(), 0x08200480u);
  EXPECT_EQ(nvf4.getSuffix(), ".kind::mxf4nvf4.block_scale.block16");
  // Scales of e4m3 belong to 16 elements of four bits.
  EXPECT_FALSE(findScaledTensorMma(T::E2M1, T::E2M1, true, e4m3, 32));
  EXPECT_FALSE(findScaledTensorMma(T::E4M3, T::E4M3, false, e4m3, 32));
  EXPECT_FALSE(findScaledTensorMma(T::E4M3, T::E4M3, false, bytes, 16));
  EXPECT_FALSE(findScaledTensorMma(T::BF16, T::E4M3, false, bytes, 32));
}

TEST_F(TensorCoreOperands, ShapesThatThereAre) {
  Builder b(&context);
  auto has = [](TensorMma mma, unsigned m, unsigned n, bool twoBlocks = false,
                bool turnB = false) {
    mma.m = m;
    mma.n = n;
    mma.bTransposed = turnB;
    return mma.checkShape(twoBlocks).empty();
  };
  Type f16 = b.getF16Type(), bytes = b.getI8Type(),
       e5m2 = b.getType<Float8E5M2Type>();
  TensorMma half = *findTensorMma(f16, f16, b.getF32Type());
  TensorMma byte = *findTensorMma(e5m2, e5m2, b.getF32Type());
  TensorMma integer = *findTensorMma(bytes, bytes, b.getI32Type());
  TensorMma scaled = *findScaledTensorMma(
      ScaleDotElemType::E4M3, ScaleDotElemType::E4M3, false, bytes, 32);
  EXPECT_TRUE(has(half, 64, 8));
  EXPECT_TRUE(has(half, 128, 256));
  EXPECT_FALSE(has(half, 128, 512));
  EXPECT_FALSE(has(half, 256, 128));
  EXPECT_TRUE(has(half, 256, 128, /*twoBlocks=*/true));
  EXPECT_TRUE(has(half, 128, 16, /*twoBlocks=*/true));
  EXPECT_FALSE(has(half, 128, 8, /*twoBlocks=*/true));
  EXPECT_FALSE(has(half, 64, 64, /*twoBlocks=*/true));
  EXPECT_TRUE(has(byte, 64, 8));
  EXPECT_FALSE(has(byte, 64, 8, /*twoBlocks=*/false, /*turnB=*/true));
  EXPECT_FALSE(has(byte, 256, 16, /*twoBlocks=*/true, /*turnB=*/true));
  EXPECT_TRUE(has(integer, 64, 24));
  EXPECT_FALSE(has(integer, 64, 40));
  EXPECT_FALSE(has(integer, 256, 16, /*twoBlocks=*/true));
  EXPECT_TRUE(has(scaled, 128, 64));
  EXPECT_FALSE(has(scaled, 64, 64));
}

} // namespace

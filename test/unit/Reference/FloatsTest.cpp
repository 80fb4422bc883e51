//===-- FloatsTest.cpp - Formats of the executor against APFloat ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Floats.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::triton::reference;

namespace {

class FloatsTest : public testing::Test {
protected:
  MLIRContext context;

  /// The formats that APFloat rounds to as we do.
  SmallVector<FloatType> getNarrowTypes() {
    return {
        Float16Type::get(&context),        BFloat16Type::get(&context),
        Float8E5M2Type::get(&context),     Float8E4M3FNType::get(&context),
        Float8E4M3FNUZType::get(&context), Float8E5M2FNUZType::get(&context)};
  }

  static double decode(FloatType type, uint64_t bits) {
    llvm::APFloat value(type.getFloatSemantics(),
                        llvm::APInt(type.getWidth(), bits));
    bool losesInfo;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  }
};

TEST_F(FloatsTest, DecodesEveryNumber) {
  for (FloatType type : getNarrowTypes()) {
    const FloatFormat *format = FloatFormat::get(type);
    ASSERT_NE(format, nullptr);
    for (uint64_t bits = 0; bits < uint64_t(1) << type.getWidth(); ++bits) {
      double expected = decode(type, bits), found = format->decode(bits);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(found)) << bits;
        continue;
      }
      EXPECT_EQ(found, expected) << bits;
      EXPECT_EQ(std::signbit(found), std::signbit(expected)) << bits;
      // Back again; infinities of 8 bits saturate.
      if (std::isfinite(found) || type.getWidth() > 8)
        EXPECT_EQ(format->encode(found), bits);
    }
  }
}

/// Numbers at and next to the middle of neighbours, and beyond the largest.
TEST_F(FloatsTest, RoundsAsAPFloat) {
  std::mt19937_64 random(1);
  for (FloatType type : getNarrowTypes()) {
    const FloatFormat *format = FloatFormat::get(type);
    uint64_t largest = format->encode(1e300);
    for (int i = 0; i < 30'000; ++i) {
      uint64_t a = random() % (uint64_t(1) << (type.getWidth() - 1));
      double x = decode(type, a), y = decode(type, a + 1);
      if (!std::isfinite(x) || !std::isfinite(y))
        continue;
      double middle = (x + y) / 2;
      for (double value : {middle, std::nextafter(middle, x),
                           std::nextafter(middle, y), -middle}) {
        llvm::APFloat exact(value);
        bool losesInfo;
        exact.convert(type.getFloatSemantics(),
                      llvm::APFloat::rmNearestTiesToEven, &losesInfo);
        EXPECT_EQ(format->encode(value), exact.bitcastToAPInt().getZExtValue())
            << value;
        llvm::APFloat cut(value);
        cut.convert(type.getFloatSemantics(), llvm::APFloat::rmTowardZero,
                    &losesInfo);
        EXPECT_EQ(format->encode(value, /*towardsZero=*/true),
                  cut.bitcastToAPInt().getZExtValue())
            << value;
      }
    }
    // 8-bit floats saturate, the others overflow.
    EXPECT_EQ(std::isinf(format->decode(largest)), type.getWidth() == 16);
  }
}

TEST_F(FloatsTest, IntegersAreRoundedOnce) {
  const FloatFormat *f32 = FloatFormat::get(Float32Type::get(&context)),
                    *bf16 = FloatFormat::get(BFloat16Type::get(&context));
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    int64_t value = int64_t(random()) >> (random() % 64);
    EXPECT_EQ(float(f32->decode(encodeInteger(*f32, value))), float(value));
    llvm::APFloat exact(llvm::APFloat::BFloat());
    exact.convertFromAPInt(llvm::APInt(64, value, /*isSigned=*/true),
                           /*IsSigned=*/true,
                           llvm::APFloat::rmNearestTiesToEven);
    EXPECT_EQ(encodeInteger(*bf16, value),
              exact.bitcastToAPInt().getZExtValue())
        << value;
  }
}

/// A half without the top bit of its exponent; 1.75 at most.
TEST_F(FloatsTest, Fp8E4B15) {
  const FloatFormat *format =
      FloatFormat::get(Float8E4M3B11FNUZType::get(&context));
  EXPECT_EQ(format->decode(0x7e), 1.75);
  EXPECT_EQ(format->decode(0x78), 1.0);
  EXPECT_EQ(format->encode(100.0), 0x7eu);
  EXPECT_EQ(format->encode(-1.0), 0xf8u);
  // Ties go away from zero.
  EXPECT_EQ(format->encode(1.0625), 0x79u);
}

} // namespace

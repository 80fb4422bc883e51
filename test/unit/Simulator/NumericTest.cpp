//===-- NumericTest.cpp - Small floating-point formats --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Numeric.h"

#include <gtest/gtest.h>

#include <random>

using namespace tile::sim;

namespace {
TEST(Numeric, HalfRoundTripsAllValues) {
  for (uint32_t b = 0; b < 0x10000; ++b) {
    float f = floatFromHalf(uint16_t(b));
    bool nan = (b & 0x7fff) > 0x7c00;
    ASSERT_EQ(nan, f != f) << b;
    ASSERT_EQ(halfFromFloat(f), nan ? nanF16 : b) << b;
    if (!nan) {
      ASSERT_EQ(double(f), decodeSmall(b, formatF16)) << b;
    }
  }
}

TEST(Numeric, FastHalfRoundingIsTheGeneralOne) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 2000000; ++i) {
    uint32_t bits = uint32_t(rng());
    // Half of the numbers lie where half precision has values at all.
    if (i & 1)
      bits = (bits & 0x807fffff) | (100 + bits % 50) << 23;
    float f = floatOfBits(bits);
    ASSERT_EQ(halfFromFloat(f), halfFromDouble(f)) << bits;
    ASSERT_EQ(bf16FromFloat(f), bf16FromDouble(f)) << bits;
  }
}

TEST(Numeric, SmallFormatsRoundTrip) {
  for (const SmallFormat *format :
       {&formatE4M3, &formatE5M2, &formatE2M1, &formatE2M3, &formatE3M2}) {
    uint32_t count = 2u << (format->exponentBits + format->mantissaBits);
    for (uint32_t b = 0; b < count; ++b) {
      double d = decodeSmall(b, *format);
      if (d == d) {
        ASSERT_EQ(encodeSmall(d, *format, Round::Nearest, false), b);
      }
    }
  }
  EXPECT_EQ(encodeSmall(1e9, formatE4M3, Round::Nearest, true), 0x7eu);
  EXPECT_EQ(encodeSmall(1e9, formatE4M3, Round::Nearest, false), 0x7fu);
  EXPECT_EQ(encodeSmall(1e9, formatE5M2, Round::Nearest, false), 0x7cu);
  EXPECT_EQ(encodeSmall(1e9, formatE5M2, Round::Zero, false), 0x7bu);
}

TEST(Numeric, FusedMultiplyAddRoundsOnce) {
  std::mt19937_64 rng(2);
  for (int i = 0; i < 2000000; ++i) {
    auto draw = [&] {
      uint32_t bits = uint32_t(rng());
      return floatOfBits(i % 3 ? (bits & 0x807fffff) | (117 + bits % 20) << 23
                               : bits);
    };
    float a = draw(), b = draw(), c = draw();
    if (i % 5 == 0)
      c = -(a * b);
    float want = std::fma(a, b, c), got = fusedFloat(a, b, c);
    if (want != want)
      ASSERT_NE(got, got);
    else
      ASSERT_EQ(bitsOfFloat(want), bitsOfFloat(got))
          << a << " " << b << " " << c;
  }
}
} // namespace

//===-- Numeric.h - Bit patterns of the floating-point formats ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tile::sim {

inline float floatOfBits(uint32_t b) { return std::bit_cast<float>(b); }
inline double doubleOfBits(uint64_t b) { return std::bit_cast<double>(b); }
inline uint32_t bitsOfFloat(float f) { return std::bit_cast<uint32_t>(f); }
inline uint64_t bitsOfDouble(double d) { return std::bit_cast<uint64_t>(d); }

enum class Round : uint8_t { Nearest, Zero, Down, Up, Away };

/// Results that are not numbers have one bit pattern per format.
inline constexpr uint32_t nanF32 = 0x7fffffff;
inline constexpr uint16_t nanF16 = 0x7fff, nanBF16 = 0x7fff;

inline float canonical(float f) { return f == f ? f : floatOfBits(nanF32); }
inline float flush(float f) {
  uint32_t b = bitsOfFloat(f);
  return floatOfBits((b & 0x7f800000) ? b : b & 0x80000000);
}
template <bool Ftz> inline float ftzIf(float f) {
  if constexpr (Ftz)
    return flush(f);
  return f;
}
/// Clamps to [0, 1]; not a number becomes 0.
template <class T> inline T saturate(T f) {
  return f > T(0) ? (f < T(1) ? f : T(1)) : T(0);
}

//===-- Half --------------------------------------------------------------===//

inline float floatFromHalf(uint16_t h) {
  // Scaling by a power of two turns the subnormals into normal numbers without
  // a branch.
  uint32_t magnitude = uint32_t(h & 0x7fff) << 13;
  float scaled = floatOfBits(magnitude) * 0x1p112f;
  uint32_t bits = bitsOfFloat(scaled);
  bits = (h & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : bits;
  return floatOfBits(bits | uint32_t(h & 0x8000) << 16);
}

/// Round to nearest even; every NaN becomes 0x7fff.
inline uint16_t halfFromFloat(float f) {
  uint32_t bits = bitsOfFloat(f), sign = (bits >> 16) & 0x8000,
           magnitude = bits & 0x7fffffff;
  uint32_t normal = magnitude + 0xc8000fff + ((magnitude >> 13) & 1);
  normal >>= 13;
  // Below the smallest normal number the float adder does the rounding.
  uint32_t tiny = bitsOfFloat(floatOfBits(magnitude) + 0.5f) - 0x3f000000;
  uint32_t out = magnitude < 0x38800000 ? tiny : normal;
  out = magnitude >= 0x477ff000 ? 0x7c00 : out;
  out |= sign;
  return uint16_t(magnitude > 0x7f800000 ? nanF16 : out);
}

inline float floatFromBf16(uint16_t h) {
  return floatOfBits(uint32_t(h) << 16);
}
inline uint16_t bf16FromFloat(float f) {
  uint32_t bits = bitsOfFloat(f);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? nanBF16 : rounded);
}

//===-- Any small format --------------------------------------------------===//

/// Shape of a small binary format.
struct SmallFormat {
  int exponentBits, mantissaBits, bias;
  enum Special : uint8_t {
    Ieee,
    NanOnly,
    Finite
  } special; ///< NanOnly: all ones is NaN, no infinity
  uint16_t nan;
  uint32_t maxFinite() const;
};
inline constexpr SmallFormat formatF16{5, 10, 15, SmallFormat::Ieee, 0x7fff};
inline constexpr SmallFormat formatBF16{8, 7, 127, SmallFormat::Ieee, 0x7fff};
inline constexpr SmallFormat formatE4M3{4, 3, 7, SmallFormat::NanOnly, 0x7f};
inline constexpr SmallFormat formatE5M2{5, 2, 15, SmallFormat::Ieee, 0x7f};
inline constexpr SmallFormat formatE2M1{2, 1, 1, SmallFormat::Finite, 0};
inline constexpr SmallFormat formatE2M3{2, 3, 1, SmallFormat::Finite, 0};
inline constexpr SmallFormat formatE3M2{3, 2, 3, SmallFormat::Finite, 0};

inline uint32_t SmallFormat::maxFinite() const {
  uint32_t all = (1u << (exponentBits + mantissaBits)) - 1;
  return special == Ieee      ? (((1u << exponentBits) - 1) << mantissaBits) - 1
         : special == NanOnly ? all - 1
                              : all;
}

/// Rounds a double into a small format, once. With `finite`, overflow gives the
/// largest finite number.
uint32_t encodeSmall(double value, const SmallFormat &format, Round round,
                     bool finite);
double decodeSmall(uint32_t bits, const SmallFormat &format);

/// ue8m0 holds a power of two, 2^(bits - 127), or, as 255, no number. It has no
/// sign: that of `value` is ignored. `round` is Up or Zero.
inline double scaleFromUE8M0(uint8_t bits) {
  return bits == 255 ? std::nan("") : std::ldexp(1.0, int(bits) - 127);
}
uint8_t encodeUE8M0(double value, Round round, bool finite);

inline uint16_t halfFromDouble(double d) {
  return uint16_t(encodeSmall(d, formatF16, Round::Nearest, false));
}
inline uint16_t bf16FromDouble(double d) {
  return uint16_t(encodeSmall(d, formatBF16, Round::Nearest, false));
}

/// Float to tf32: 10 bits of mantissa in a float's place.
uint32_t tf32FromFloat(float f, Round round);
/// Double to float in a given direction.
float floatFromDouble(double d, Round round);

/// a + b rounded to odd: rounding it again to half the precision or less is
/// rounding once.
inline double addToOdd(double a, double b) {
  double s = a + b;
  double t = s - a;
  double error = (a - (s - t)) + (b - t);
  uint64_t bits = bitsOfDouble(s);
  bool inexact = error != 0 && (bits & 1) == 0 && s - s == 0;
  // Towards the error: up in magnitude if it has the sign of the sum.
  bool up = (error > 0) == (s > 0);
  return inexact ? doubleOfBits(up ? bits + 1 : bits - 1) : s;
}

/// Fused multiply-add in single precision: double multiplies exactly.
inline float fusedFloat(float a, float b, float c) {
  return float(addToOdd(double(a) * double(b), double(c)));
}

/// The approximations of .ftz.f64 see the upper half of their operand, and give
/// the upper half of a result.
template <class F> inline double coarse(double a, F f) {
  auto flushed = [](double x) {
    return (bitsOfDouble(x) >> 52 & 0x7ff) ? x : std::copysign(0.0, x);
  };
  if (a != a)
    return doubleOfBits(0x7fffffff00000000);
  double r =
      flushed(f(flushed(doubleOfBits(bitsOfDouble(a) & 0xffffffff00000000))));
  if (r != r)
    return doubleOfBits(0x7fffffff00000000);
  // To nearest: the sum may carry into the exponent, as it should.
  uint64_t bits = bitsOfDouble(r);
  return std::isinf(r) ? r
                       : doubleOfBits((bits + 0x80000000) & 0xffffffff00000000);
}

} // namespace tile::sim

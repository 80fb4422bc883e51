//===-- Numeric.cpp - Rounding into small floating-point formats ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Numeric.h"

#include <algorithm>

using namespace tile::sim;

/// Rounds a non-negative real to an integer; `negative` tells the sign of what
/// it belongs to.
static double roundMagnitude(double m, Round round, bool negative) {
  double low = std::floor(m), rest = m - low;
  switch (round) {
  case Round::Nearest:
    return rest > 0.5 || (rest == 0.5 && std::fmod(low, 2.0) != 0) ? low + 1
                                                                   : low;
  case Round::Away:
    return rest >= 0.5 ? low + 1 : low;
  case Round::Zero:
    return low;
  case Round::Down:
    return negative && rest > 0 ? low + 1 : low;
  case Round::Up:
    return !negative && rest > 0 ? low + 1 : low;
  }
  return low;
}

uint32_t tile::sim::encodeSmall(double value, const SmallFormat &format,
                                Round round, bool finite) {
  bool negative = std::signbit(value);
  uint32_t sign =
      negative ? 1u << (format.exponentBits + format.mantissaBits) : 0;
  uint32_t infinity = ((1u << format.exponentBits) - 1) << format.mantissaBits;
  if (value != value)
    return format.special == SmallFormat::Finite ? format.maxFinite()
                                                 : format.nan;
  double magnitude = std::fabs(value);
  auto overflow = [&]() -> uint32_t {
    bool toFinite = finite || round == Round::Zero ||
                    (round == Round::Down && !negative) ||
                    (round == Round::Up && negative);
    if (format.special == SmallFormat::Finite ||
        (toFinite && (finite || !std::isinf(magnitude))))
      return sign | format.maxFinite();
    return sign | (format.special == SmallFormat::NanOnly ? uint32_t(format.nan)
                                                          : infinity);
  };
  if (std::isinf(magnitude))
    return overflow();
  if (magnitude == 0)
    return sign;
  int exponent = std::ilogb(magnitude);
  int lowest = 1 - format.bias;
  int scale = std::max(exponent, lowest) - format.mantissaBits;
  double mantissa =
      roundMagnitude(std::ldexp(magnitude, -scale), round, negative);
  if (mantissa == 0)
    return sign;
  // A carry out of the mantissa moves the exponent up by itself.
  uint32_t units = uint32_t(mantissa);
  uint32_t hidden = 1u << format.mantissaBits;
  uint32_t bits =
      units < hidden
          ? units
          : units +
                uint32_t(std::max(exponent, lowest) + format.bias - 1) * hidden;
  if (bits > format.maxFinite())
    return overflow();
  return sign | bits;
}

uint8_t tile::sim::encodeUE8M0(double value, Round round, bool finite) {
  constexpr int bias = 127, most = 254, nan = 255;
  double magnitude = std::fabs(value);
  if (magnitude != magnitude)
    return nan;
  if (std::isinf(magnitude))
    return finite ? most : nan;
  // Nothing is smaller than the smallest of them.
  if (magnitude <= std::ldexp(1.0, -bias))
    return 0;
  int exponent = std::ilogb(magnitude);
  exponent += round == Round::Up && magnitude != std::ldexp(1.0, exponent);
  if (exponent + bias > most)
    return finite ? most : nan;
  return uint8_t(exponent + bias);
}

double tile::sim::decodeSmall(uint32_t bits, const SmallFormat &format) {
  int all = format.exponentBits + format.mantissaBits;
  bool negative = bits >> all & 1;
  uint32_t magnitude = bits & ((1u << all) - 1);
  uint32_t exponent = magnitude >> format.mantissaBits,
           mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  double value;
  if (format.special == SmallFormat::Ieee &&
      exponent == (1u << format.exponentBits) - 1)
    value = mantissa ? NAN : INFINITY;
  else if (format.special == SmallFormat::NanOnly &&
           magnitude == (1u << all) - 1)
    value = NAN;
  else if (exponent == 0)
    value = std::ldexp(double(mantissa), 1 - format.bias - format.mantissaBits);
  else
    value = std::ldexp(double(mantissa | 1u << format.mantissaBits),
                       int(exponent) - format.bias - format.mantissaBits);
  return negative ? -value : value;
}

uint32_t tile::sim::tf32FromFloat(float f, Round round) {
  uint32_t bits = bitsOfFloat(f), magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return nanF32;
  if (magnitude == 0x7f800000)
    return bits;
  uint32_t add = round == Round::Nearest ? 0xfff + ((magnitude >> 13) & 1)
                 : round == Round::Away  ? 0x1000
                                         : 0;
  return (bits & 0x80000000) | ((magnitude + add) & ~0x1fffu);
}

float tile::sim::floatFromDouble(double d, Round round) {
  float f = float(d);
  if (round == Round::Nearest || f != f || double(f) == d)
    return f;
  bool tooHigh = double(f) > d;
  switch (round) {
  case Round::Down:
    return tooHigh ? std::nextafterf(f, -INFINITY) : f;
  case Round::Up:
    return tooHigh ? f : std::nextafterf(f, INFINITY);
  default:
    if (std::isinf(d))
      return f;
    return std::fabs(double(f)) > std::fabs(d) ? std::nextafterf(f, 0.0f) : f;
  }
}

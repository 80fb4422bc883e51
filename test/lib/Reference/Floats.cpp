//===-- Floats.cpp - Floats of all formats --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Floats.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::triton::reference;

const FloatFormat *FloatFormat::get(Type type) {
  static const FloatFormat f64{64, 52, 1023, IEEE}, f32{32, 23, 127, IEEE},
      f16{16, 10, 15, IEEE}, bf16{16, 7, 127, IEEE}, e5m2{8, 2, 15, IEEE},
      e4m3{8, 3, 7, FiniteOnly}, e4m3uz{8, 3, 8, UnsignedZero},
      e5m2uz{8, 2, 16, UnsignedZero}, e4b15{8, 3, 15, FP8E4B15};
  Type element = getElementTypeOrSelf(type);
  return TypeSwitch<Type, const FloatFormat *>(element)
      .Case([](Float64Type) { return &f64; })
      .Case([](Float32Type) { return &f32; })
      .Case([](Float16Type) { return &f16; })
      .Case([](BFloat16Type) { return &bf16; })
      .Case([](Float8E5M2Type) { return &e5m2; })
      .Case([](Float8E4M3FNType) { return &e4m3; })
      .Case([](Float8E4M3FNUZType) { return &e4m3uz; })
      .Case([](Float8E5M2FNUZType) { return &e5m2uz; })
      .Case([](Float8E4M3B11FNUZType) { return &e4b15; })
      .Default([](Type) { return nullptr; });
}

double FloatFormat::decode(uint64_t bits) const {
  if (width == 64)
    return llvm::bit_cast<double>(bits);
  if (width == 32)
    return llvm::bit_cast<float>(uint32_t(bits));
  bool negative = bits >> (width - 1);
  uint64_t magnitude = bits & ((uint64_t(1) << (width - 1)) - 1);
  if (kind == UnsignedZero && negative && magnitude == 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (kind == FiniteOnly && magnitude == 0x7f)
    return std::numeric_limits<double>::quiet_NaN();
  int exponent = magnitude >> mantissa;
  uint64_t fraction = magnitude & ((uint64_t(1) << mantissa) - 1);
  int top = (1 << (width - 1 - mantissa)) - 1;
  double value;
  if (kind == IEEE && exponent == top)
    value = fraction ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(double(fraction), 1 - bias - int(mantissa));
  else
    value = std::ldexp(double(fraction | (uint64_t(1) << mantissa)),
                       exponent - bias - int(mantissa));
  return negative ? -value : value;
}

uint64_t FloatFormat::encode(double value, bool towardsZero) const {
  if (width == 64)
    return llvm::bit_cast<uint64_t>(value);
  if (width == 32 && !towardsZero)
    return llvm::bit_cast<uint32_t>(float(value));
  uint64_t sign = uint64_t(std::signbit(value)) << (width - 1);
  uint64_t top = (uint64_t(1) << (width - 1 - mantissa)) - 1;
  uint64_t infinity = top << mantissa;
  // The largest finite number.
  uint64_t largest = infinity - 1;
  if (kind == UnsignedZero)
    largest = 0x7f;
  else if (kind != IEEE)
    largest = 0x7e;
  if (std::isnan(value)) {
    if (kind == UnsignedZero)
      return uint64_t(1) << (width - 1);
    if (kind == FP8E4B15) // It has none.
      return sign | largest;
    return sign |
           (kind == FiniteOnly ? uint64_t(0x7f)
                               : infinity | uint64_t(1) << (mantissa - 1));
  }
  // 8-bit floats have no infinity to overflow to.
  bool saturates = width == 8;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | (saturates ? largest : infinity);
  if (magnitude == 0)
    return kind == UnsignedZero ? 0 : sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  double scaled = std::ldexp(magnitude, int(mantissa) - exponent);
  double rounded;
  if (towardsZero)
    rounded = std::trunc(scaled);
  else if (kind == FP8E4B15) // Ties away from zero.
    rounded = std::round(scaled);
  else
    rounded = std::nearbyint(scaled);
  // The bits of neighbours are neighbours: a carry goes into the exponent.
  uint64_t bits = uint64_t(rounded);
  if (bits >> mantissa)
    bits += uint64_t(exponent + bias - 1) << mantissa;
  if (bits > largest)
    bits = saturates || towardsZero ? largest : infinity;
  if (bits == 0 && kind == UnsignedZero)
    return 0;
  return sign | bits;
}

uint64_t mlir::triton::reference::encodeInteger(const FloatFormat &format,
                                                __int128 value) {
  bool negative = value < 0;
  auto magnitude = (unsigned __int128)(negative ? -value : value);
  if (format.width == 64) {
    double wide = double(magnitude);
    return format.encode(negative ? -wide : wide);
  }
  // What is cut is still seen to be there: the other formats round far above.
  int shift = 0;
  while (magnitude >> 52) {
    magnitude = (magnitude >> 1) | (magnitude & 1);
    ++shift;
  }
  double wide = std::ldexp(double(uint64_t(magnitude)), shift);
  return format.encode(negative ? -wide : wide);
}

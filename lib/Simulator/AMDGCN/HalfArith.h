//===-- HalfArith.h - Arithmetic in half precision --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A sum or product of two halves is exact in double precision, and so is
// rounded once.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "FloatArith.h"

namespace tile::sim::amdgcn {

inline float floatOf(Half h) { return floatFromHalf(h.bits); }
inline Half nearestHalf(double d) { return {halfFromDouble(d)}; }
/// Of a value that is a half already.
inline Half exactHalf(float f) { return {halfFromFloat(f)}; }
inline uint16_t halfTowardsZero(float a) {
  return uint16_t(encodeSmall(a, formatF16, Round::Zero, false));
}

inline Half addHalf(Half a, Half b) {
  return exactHalf(floatOf(a) + floatOf(b));
}
inline Half subHalf(Half a, Half b) {
  return exactHalf(floatOf(a) - floatOf(b));
}
inline Half mulHalf(Half a, Half b) {
  return exactHalf(floatOf(a) * floatOf(b));
}
inline Half fuseHalf(Half a, Half b, Half c) {
  return nearestHalf(addToOdd(double(floatOf(a)) * floatOf(b), floatOf(c)));
}
/// G in single precision, of whose results these are halves.
template <auto G> Half inHalf(Half a) { return exactHalf(G(floatOf(a))); }
template <auto G> Half inHalf2(Half a, Half b) {
  return exactHalf(G(floatOf(a), floatOf(b)));
}
inline constexpr auto leastHalf = inHalf2<leastNumber<float>>;
inline constexpr auto mostHalf = inHalf2<mostNumber<float>>;
inline constexpr auto minimumHalf = inHalf2<minimum<float>>;
inline constexpr auto maximumHalf = inHalf2<maximum<float>>;
inline Half least3Half(Half a, Half b, Half c) {
  return leastHalf(leastHalf(a, b), c);
}
inline Half most3Half(Half a, Half b, Half c) {
  return mostHalf(mostHalf(a, b), c);
}
inline Half minimum3Half(Half a, Half b, Half c) {
  return minimumHalf(minimumHalf(a, b), c);
}
inline Half maximum3Half(Half a, Half b, Half c) {
  return maximumHalf(maximumHalf(a, b), c);
}
/// A function that hardware approximates.
template <auto G> Half approximateHalf(Half a) {
  return nearestHalf(G(double(floatOf(a))));
}

} // namespace tile::sim::amdgcn

//===-- pair.h - Numbers with twice the bits ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "device.h"

/// high + low, low being less than half a unit of high's last place.
typedef struct {
  double high, low;
} Pair;

INLINE Pair pairOf(double x, double y) {
  double sum = x + y, other = sum - x;
  return (Pair){sum, (x - (sum - other)) + (y - other)};
}
INLINE Pair multiply(Pair x, Pair y) {
  double product = x.high * y.high;
  double low = __builtin_fma(x.high, y.high, -product) +
               (x.high * y.low + x.low * y.high);
  return pairOf(product, low);
}
INLINE Pair add(Pair x, Pair y) {
  Pair sum = pairOf(x.high, y.high);
  return pairOf(sum.high, sum.low + (x.low + y.low));
}

/// log(x) for positive finite x, with some twenty bits more than fp64 has.
INLINE Pair longLogarithm(double x) {
  int exponent;
  double mantissa = __builtin_frexp(x, &exponent);
  if (mantissa < 0x1.6a09e667f3bcdp-1) {
    mantissa *= 2.0;
    exponent -= 1;
  }
  // log(m) = 2 atanh(s), s = (m - 1) / (m + 1): a series in z = s^2, whose
  // first terms need the bits.
  Pair down = pairOf(mantissa, 1.0);
  double up = mantissa - 1.0; // exact
  double s = up / down.high;
  double lost = __builtin_fma(-s, down.high, up) - s * down.low;
  Pair root = pairOf(s, lost / down.high), z = multiply(root, root);
  double tail = 0.0;
#pragma unroll
  for (int k = 25; k >= 9; k -= 2)
    tail = tail * z.high + 1.0 / k;
  // 1/3, 1/5 and 1/7 to twice the bits.
  Pair series = add((Pair){0x1.2492492492492p-3, 0x1.2492492492492p-58},
                    multiply(z, (Pair){tail, 0.0}));
  series = add((Pair){0x1.999999999999ap-3, -0x1.999999999999ap-57},
               multiply(z, series));
  series = add((Pair){0x1.5555555555555p-2, 0x1.5555555555555p-56},
               multiply(z, series));
  series = add((Pair){1.0, 0.0}, multiply(z, series));
  Pair value = multiply(root, series);
  value = (Pair){2.0 * value.high, 2.0 * value.low};
  Pair scale = multiply((Pair){exponent, 0.0},
                        (Pair){0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56});
  return add(scale, value);
}

INLINE double exponential(Pair x) {
  double value = __nv_exp(x.high);
  return value < infinity() ? __builtin_fma(value, x.low, value) : value;
}

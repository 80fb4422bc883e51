//===-- norms.c - Remainders, lengths and powers, for AMD GPUs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "pair.h"

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

typedef struct {
  double rest;
  int isOdd; ///< the quotient
} Division;

/// Long division, bit by bit, of positive finite numbers: it is exact.
INLINE Division divide(double x, double y) {
  int above, below;
  u64 rest = (u64)(__builtin_frexp(x, &above) * 0x1p53),
      by = (u64)(__builtin_frexp(y, &below) * 0x1p53);
  if (above < below)
    return (Division){x, 0};
  int isOdd = 0;
  for (int i = above - below;; --i) {
    isOdd = rest >= by;
    rest -= isOdd ? by : 0;
    if (i == 0)
      break;
    rest <<= 1;
  }
  return (Division){__builtin_ldexp((double)rest, below - 53), isOdd};
}

double __nv_fmod(double x, double y) {
  double size = __builtin_fabs(x), by = __builtin_fabs(y);
  if (!(size < infinity()) || !(by > 0.0))
    return notANumber();
  if (by == infinity() || size == 0.0)
    return x;
  return __builtin_copysign(divide(size, by).rest, x);
}

double __nv_remainder(double x, double y) {
  double size = __builtin_fabs(x), by = __builtin_fabs(y);
  if (!(size < infinity()) || !(by > 0.0))
    return notANumber();
  if (by == infinity() || size == 0.0)
    return x;
  Division d = divide(size, by);
  double other = by - d.rest;
  if (d.rest > other || (d.rest == other && d.isOdd))
    d.rest = -other;
  return __builtin_copysign(1.0, x) * d.rest;
}
SINGLE2(fmod)
SINGLE2(remainder)

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// A root and what it lacks, times a power of two.
typedef struct {
  double root, low;
  int exponent;
} Length;

INLINE Length lengthOf(double x, double y, double z, double w) {
  double sizes[] = {__builtin_fabs(x), __builtin_fabs(y), __builtin_fabs(z),
                    __builtin_fabs(w)};
  double most = 0.0;
  for (int i = 0; i < 4; ++i) {
    if (sizes[i] == infinity())
      return (Length){infinity(), 0.0, 0};
    most = sizes[i] > most || sizes[i] != sizes[i] ? sizes[i] : most;
  }
  if (!(most > 0.0))
    return (Length){most, 0.0, 0};
  int exponent;
  (void)__builtin_frexp(most, &exponent);
  double sum = 0.0, low = 0.0;
  for (int i = 0; i < 4; ++i) {
    double scaled = __builtin_ldexp(sizes[i], -exponent);
    double square = scaled * scaled;
    double next = sum + square, other = next - sum;
    low += __builtin_fma(scaled, scaled, -square) +
           ((sum - (next - other)) + (square - other));
    sum = next;
  }
  double root = __builtin_sqrt(sum);
  low = (__builtin_fma(-root, root, sum) + low) / (2.0 * root);
  return (Length){root, low, exponent};
}
INLINE double lengthValue(Length l) {
  return __builtin_ldexp(l.root + l.low, l.exponent);
}
INLINE double reciprocalValue(Length l) {
  double near = 1.0 / l.root;
  if (near > 0.0 && near < infinity())
    near += near * (__builtin_fma(-near, l.root, 1.0) - near * l.low);
  return __builtin_ldexp(near, -l.exponent);
}

double __nv_hypot(double x, double y) {
  return lengthValue(lengthOf(x, y, 0.0, 0.0));
}
double __nv_rhypot(double x, double y) {
  return reciprocalValue(lengthOf(x, y, 0.0, 0.0));
}
double __nv_norm3d(double x, double y, double z) {
  return lengthValue(lengthOf(x, y, z, 0.0));
}
double __nv_rnorm3d(double x, double y, double z) {
  return reciprocalValue(lengthOf(x, y, z, 0.0));
}
double __nv_norm4d(double x, double y, double z, double w) {
  return lengthValue(lengthOf(x, y, z, w));
}
double __nv_rnorm4d(double x, double y, double z, double w) {
  return reciprocalValue(lengthOf(x, y, z, w));
}
SINGLE2(hypot)
SINGLE2(rhypot)
float __nv_norm3df(float x, float y, float z) {
  return (float)__nv_norm3d(x, y, z);
}
float __nv_rnorm3df(float x, float y, float z) {
  return (float)__nv_rnorm3d(x, y, z);
}
float __nv_norm4df(float x, float y, float z, float w) {
  return (float)__nv_norm4d(x, y, z, w);
}
float __nv_rnorm4df(float x, float y, float z, float w) {
  return (float)__nv_rnorm4d(x, y, z, w);
}

double __nv_rcbrt(double x) {
  double root = __nv_cbrt(x), near = 1.0 / root;
  if (!(__builtin_fabs(near) < infinity()) || near == 0.0)
    return near;
  // cbrt's own error, by one step of Newton's method.
  double cube = near * near * near;
  return near + near * __builtin_fma(-cube, x, 1.0) * (1.0 / 3.0);
}
SINGLE(rcbrt)

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

double __nv_powi(double x, int n) {
  u32 count = n < 0 ? -(u32)n : (u32)n;
  double power = 1.0;
  for (double factor = x; count; count >>= 1, factor *= factor)
    if (count & 1)
      power *= factor;
  return n < 0 ? 1.0 / power : power;
}
float __nv_powif(float x, int n) { return (float)__nv_powi(x, n); }

double __nv_pow(double base, double exponent) {
  if (exponent == 0.0 || base == 1.0)
    return 1.0;
  if (base != base || exponent != exponent)
    return notANumber();
  double size = __builtin_fabs(base), range = __builtin_fabs(exponent);
  int isWhole = __builtin_rint(exponent) == exponent;
  int isOdd = isWhole && range < 0x1p53 && ((i64)exponent & 1);
  double value;
  if (size == 1.0)
    value = 1.0;
  else if (size == 0.0 || size == infinity() || range == infinity())
    value = (size > 1.0) == (exponent > 0.0) ? infinity() : 0.0;
  else {
    Pair power = multiply(longLogarithm(size), (Pair){exponent, 0.0});
    if (!(__builtin_fabs(power.high) < 800.0))
      value = power.high > 0.0 ? infinity() : 0.0;
    else
      value = exponential(power);
  }
  if (toBits(base) >> 63) {
    if (!isWhole && size != 0.0 && size < infinity() && range < infinity())
      return notANumber();
    if (isOdd)
      value = -value;
  }
  return value;
}

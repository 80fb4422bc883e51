//===-- special.c - Gamma, error and Bessel functions, for AMD GPUs -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "pair.h"

static const double kPi = 0x1.921fb54442d18p+1;
static const double kRootHalf = 0x1.6a09e667f3bcdp-1;

//===----------------------------------------------------------------------===//
// Gamma
//===----------------------------------------------------------------------===//

/// What log(gamma(x)) is beyond (x - 1/2) log(x) - x + log(2 pi) / 2:
/// Stirling's series, for x from 12 on.
INLINE double stirling(double x) {
  double z = 1.0 / (x * x);
  double sum = 1.0 / 156.0;
  sum = sum * z - 691.0 / 360360.0;
  sum = sum * z + 1.0 / 1188.0;
  sum = sum * z - 1.0 / 1680.0;
  sum = sum * z + 1.0 / 1260.0;
  sum = sum * z - 1.0 / 360.0;
  sum = sum * z + 1.0 / 12.0;
  return sum / x;
}

/// log(gamma(x)) for x > 0, with more bits than fp64 has: so much may cancel.
INLINE Pair longLogGamma(double x) {
  // gamma(x) = gamma(x + n) / (x (x + 1) ... (x + n - 1))
  Pair y = {x, 0.0}, product = {1.0, 0.0}, one = {1.0, 0.0};
  while (y.high < 12.0) {
    product = multiply(product, y);
    y = add(y, one);
  }
  Pair log = longLogarithm(y.high);
  log = add(log, (Pair){y.low / y.high, 0.0});
  Pair value = multiply(add(y, (Pair){-0.5, 0.0}), log);
  value = add(value, (Pair){-y.high, -y.low});
  // log(2 pi) / 2
  value = add(value, (Pair){0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55});
  value = add(value, (Pair){stirling(y.high), 0.0});
  Pair extra = longLogarithm(product.high);
  extra = add(extra, (Pair){product.low / product.high, 0.0});
  return add(value, (Pair){-extra.high, -extra.low});
}
INLINE double logGammaPositive(double x) {
  if (x == 1.0 || x == 2.0)
    return 0.0;
  return longLogGamma(x).high;
}

double __nv_lgamma(double x) {
  if (x != x)
    return x;
  if (__builtin_fabs(x) == infinity())
    return infinity();
  if (x > 0.0)
    return x > 1e306 ? infinity() : logGammaPositive(x);
  if (x == __builtin_floor(x))
    return infinity();
  // gamma(x) gamma(-x) = -pi / (x sin(pi x))
  double sine = __builtin_fabs(__nv_sinpi(x) * x);
  return __nv_log(kPi / sine) - logGammaPositive(-x);
}

double __nv_tgamma(double x) {
  if (x == 0.0)
    return __builtin_copysign(infinity(), x);
  if (x == infinity())
    return x;
  if (!(x > 0.0) && x == __builtin_floor(x))
    return notANumber();
  if (x != x || x == -infinity())
    return notANumber();
  if (x < 0.5) {
    // gamma(x) gamma(1 - x) = pi / sin(pi x)
    if (x < -190.0)
      return __builtin_copysign(0.0, __nv_sinpi(x));
    return kPi / (__nv_sinpi(x) * __nv_tgamma(1.0 - x));
  }
  if (x > 172.0)
    return infinity();
  return exponential(longLogGamma(x));
}

//===----------------------------------------------------------------------===//
// Error functions and the normal distribution
//===----------------------------------------------------------------------===//

double __nv_erfcx(double x) {
  if (x < 25.0) {
    double square = x * x, lost = __builtin_fma(x, x, -square);
    double power = __nv_exp(square);
    return (power + power * lost) * __nv_erfc(x);
  }
  // 1 / (x sqrt(pi)) (1 - 1 / (2 x^2) + 3 / (4 x^4) - ...)
  double z = -0.5 / (x * x), sum = 1.0;
#pragma unroll
  for (int k = 15; k > 0; k -= 2)
    sum = 1.0 + k * z * sum;
  return sum * (0x1.20dd750429b6dp-1 / x);
}

double __nv_normcdf(double x) {
  // What rounding took from the argument matters in the tail.
  double t = -x * kRootHalf;
  double low = __builtin_fma(-x, kRootHalf, -t) - x * -0x1.bdd3413b26456p-55;
  double value = 0.5 * __nv_erfc(t);
  if (t > 0.0 && t < 40.0)
    value -= 0x1.20dd750429b6dp-1 * __nv_exp(-t * t) * low;
  return value;
}

/// The x for which erfc(x) = y, 0 < y <= 1: Newton's method, made cubic, from
/// an asymptotic first guess.
INLINE double inverseComplement(double y) {
  double t = __builtin_sqrt(-2.0 * __nv_log(0.5 * y));
  double x = kRootHalf * (t - (2.30753 + t * 0.27061) /
                                  (1.0 + t * (0.99229 + t * 0.04481)));
#pragma unroll 1
  for (int i = 0; i < 3; ++i) {
    double error = __nv_erfc(x) - y;
    double slope = 0x1.20dd750429b6dp+0 * __nv_exp(-x * x); // 2 / sqrt(pi)
    double step = error / slope;
    x += step / (1.0 + x * step);
  }
  return x;
}

double __nv_erfcinv(double y) {
  if (!(y >= 0.0 && y <= 2.0))
    return notANumber();
  if (y == 0.0 || y == 2.0)
    return y == 0.0 ? infinity() : -infinity();
  return y <= 1.0 ? inverseComplement(y) : -inverseComplement(2.0 - y);
}

double __nv_erfinv(double x) {
  double size = __builtin_fabs(x);
  if (!(size <= 1.0))
    return notANumber();
  if (size == 1.0)
    return __builtin_copysign(infinity(), x);
  if (size < 1e-8)
    return x * 0x1.c5bf891b4ef6bp-1; // sqrt(pi) / 2
  double value;
  if (size > 0.5)
    value = inverseComplement(1.0 - size); // exact
  else {
    value = size * 0x1.c5bf891b4ef6bp-1;
#pragma unroll 1
    for (int i = 0; i < 5; ++i) {
      double error = __nv_erf(value) - size;
      double slope = 0x1.20dd750429b6dp+0 * __nv_exp(-value * value);
      double step = error / slope;
      value -= step / (1.0 + value * step);
    }
  }
  return __builtin_copysign(value, x);
}

double __nv_normcdfinv(double y) {
  if (!(y >= 0.0 && y <= 1.0))
    return notANumber();
  if (y == 0.5)
    return 0.0;
  return -__nv_erfcinv(2.0 * y) * (2.0 * kRootHalf);
}

//===----------------------------------------------------------------------===//
// Bessel functions
//===----------------------------------------------------------------------===//

/// Amplitude and phase of J and Y for large x (Hankel's series): what their
/// cosine and sine are multiplied by.
typedef struct {
  double even, odd;
} Hankel;

INLINE Hankel hankel(int order, double x) {
  double mu = 4.0 * order * order, term = 1.0, even = 1.0, odd = 0.0;
#pragma unroll 1
  for (int k = 1; k < 40; ++k) {
    double next =
        term * (mu - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (8.0 * k * x);
    if (__builtin_fabs(next) > __builtin_fabs(term) ||
        __builtin_fabs(next) < 1e-18)
      break;
    term = next;
    if (k & 1)
      odd += k & 2 ? -term : term;
    else
      even += k & 2 ? -term : term;
  }
  return (Hankel){even, odd};
}

/// J and Y of order 0 or 1 for x from 25 on.
INLINE double oscillation(int order, double x, int isY) {
  Hankel h = hankel(order, x);
  double s = __nv_sin(x), c = __nv_cos(x);
  // sin and cos of x - (order / 2 + 1 / 4) pi
  double sine = kRootHalf * (order ? -s - c : s - c);
  double cosine = kRootHalf * (order ? s - c : s + c);
  double scale = __builtin_sqrt(2.0 / (kPi * x));
  return scale * (isY ? sine * h.even + cosine * h.odd
                      : cosine * h.even - sine * h.odd);
}

/// (x / 2)^n / n! sum_k (-+ x^2 / 4)^k / (k! (n + 1) ... (n + k))
INLINE double series(int order, double x, double sign) {
  double z = sign * 0.25 * x * x, term = 1.0;
  for (int k = 1; k <= order; ++k)
    term *= 0.5 * x / k;
  double sum = term;
#pragma unroll 1
  for (int k = 1; k < 400; ++k) {
    term *= z / ((double)k * (k + order));
    sum += term;
    if (__builtin_fabs(term) < 1e-18 * __builtin_fabs(sum))
      break;
  }
  return sum;
}

/// J of orders 0 to `order` by recurrence from above (Miller's method), for
/// 0 < x < 1000: J_order, and for Y_0 and Y_1 Neumann's series.
typedef struct {
  double value, zero, even, odd;
} Miller;

INLINE Miller miller(int order, double x) {
  int most = (int)x > order ? (int)x : order;
  int start = 2 * ((most + 24 + (int)(6.0 * __builtin_sqrt(most))) / 2);
  double above = 0.0, here = 1e-290, norm = 0.0, value = 0.0, even = 0.0,
         odd = 0.0;
#pragma unroll 1
  for (int k = start; k > 0; --k) {
    double below = 2.0 * k / x * here - above;
    above = here;
    here = below;
    if (__builtin_fabs(here) > 1e200) {
      here *= 1e-200;
      above *= 1e-200;
      norm *= 1e-200;
      value *= 1e-200;
      even *= 1e-200;
      odd *= 1e-200;
    }
    int now = k - 1;
    if (now == order)
      value = here;
    double sign = now & 2 ? -1.0 : 1.0, half = now / 2;
    if (now > 0 && (now & 1) == 0) {
      norm += 2.0 * here;
      even += sign * here / half;
    } else if (now > 1) {
      odd += sign * here * now / (half * (half + 1.0));
    }
  }
  norm += here;
  return (Miller){value / norm, here / norm, even / norm, odd / norm};
}

double __nv_jn(int n, double x) {
  if (x != x)
    return x;
  int isNegative = ((n < 0) != (x < 0.0)) && (n & 1);
  int order = n < 0 ? -n : n;
  double size = __builtin_fabs(x), value;
  if (size == infinity())
    value = 0.0;
  else if (size == 0.0)
    value = order == 0 ? 1.0 : 0.0;
  else if (size < 2.0)
    value = series(order, size, -1.0);
  else if (order < 2 && size >= 25.0)
    value = oscillation(order, size, 0);
  else if (order > 1 && size > order && size >= 25.0) {
    double before = oscillation(0, size, 0);
    value = oscillation(1, size, 0);
    for (int k = 1; k < order; ++k) {
      double next = 2.0 * k / size * value - before;
      before = value;
      value = next;
    }
  } else
    value = miller(order, size).value;
  return isNegative ? -value : value;
}
double __nv_j0(double x) { return __nv_jn(0, x); }
double __nv_j1(double x) { return __nv_jn(1, x); }

/// Y_0 = 2 / pi ((log(x / 2) + gamma) J_0 - 2 sum_k (-1)^k J_2k / k)
INLINE double bessel0(double x) {
  if (x >= 25.0)
    return oscillation(0, x, 1);
  Miller m = miller(0, x);
  double log = __nv_log(0.5 * x) + 0x1.2788cfc6fb619p-1;
  return 2.0 / kPi * (log * m.value - 2.0 * m.even);
}

/// Y_1 = -Y_0' = 2 / pi ((log(x / 2) + gamma - 1) J_1 - J_0 / x
///                       - sum_k (-1)^k (2 k + 1) / (k (k + 1)) J_2k+1)
INLINE double bessel1(double x) {
  if (x >= 25.0)
    return oscillation(1, x, 1);
  Miller m = miller(1, x);
  double log = __nv_log(0.5 * x) + (0x1.2788cfc6fb619p-1 - 1.0);
  return 2.0 / kPi * (log * m.value - m.odd - m.zero / x);
}

double __nv_yn(int n, double x) {
  if (x != x || x < 0.0)
    return notANumber();
  int order = n < 0 ? -n : n;
  double sign = n < 0 && (n & 1) ? -1.0 : 1.0;
  if (x == 0.0)
    return sign * -infinity();
  if (x == infinity())
    return 0.0;
  double before = bessel0(x);
  if (order == 0)
    return before;
  double value = bessel1(x);
#pragma unroll 1
  for (int k = 1; k < order && value > -infinity(); ++k) {
    double next = 2.0 * k / x * value - before;
    before = value;
    value = next;
  }
  return sign * value;
}
double __nv_y0(double x) { return __nv_yn(0, x); }
double __nv_y1(double x) { return __nv_yn(1, x); }

/// Modified: the series has no signs, so it is exact enough wherever it ends.
INLINE double modified(int order, double x) {
  double size = __builtin_fabs(x), value;
  if (size < 30.0)
    value = series(order, size, 1.0);
  else if (size > 720.0)
    value = size != size ? size : infinity();
  else {
    double mu = 4.0 * order, term = 1.0, sum = 1.0;
#pragma unroll 1
    for (int k = 1; k < 30; ++k) {
      term *= -(mu - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (8.0 * k * size);
      sum += term;
    }
    double half = __nv_exp(0.5 * size);
    value = half * (sum / __builtin_sqrt(2.0 * kPi * size)) * half;
  }
  return order & 1 ? __builtin_copysign(value, x) : value;
}
double __nv_cyl_bessel_i0(double x) { return modified(0, x); }
double __nv_cyl_bessel_i1(double x) { return modified(1, x); }

SINGLE(cyl_bessel_i0)
SINGLE(cyl_bessel_i1)
SINGLE(erfcinv)
SINGLE(erfcx)
SINGLE(erfinv)
SINGLE(j0)
SINGLE(j1)
SINGLE(lgamma)
SINGLE(normcdf)
SINGLE(normcdfinv)
SINGLE(tgamma)
SINGLE(y0)
SINGLE(y1)
float __nv_jnf(int n, float x) { return (float)__nv_jn(n, x); }
float __nv_ynf(int n, float x) { return (float)__nv_yn(n, x); }

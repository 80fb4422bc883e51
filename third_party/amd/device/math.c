//===-- math.c - Mathematical functions for AMD GPUs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What neither the hardware nor LLVM has. The names are those of the device
// library that programs know. All is computed in fp64: results in fp32 are
// rounded once from those, and so almost always the nearest float.
//
// Polynomials are Chebyshev fits, highest power first; how far results are from
// exact ones is measured by test_device_library.py, on the host, for which this
// file compiles as well.
//
//===----------------------------------------------------------------------===//

#include "device.h"

static const double kLn2High = 0x1.62e42fee00000p-1;
static const double kLn2Low = 0x1.a39ef35793c76p-33;
static const double kHalfPi = 0x1.921fb54442d18p+0;
static const double kHalfPiLow = 0x1.1a62633145c07p-54;
static const double kHalfPiLowest = -0x1.f1976b7ed8fbcp-110;

INLINE double evaluate(const double *coefficients, int count, double x) {
  double result = coefficients[0];
#pragma unroll
  for (int i = 1; i < count; ++i)
    result = __builtin_fma(result, x, coefficients[i]);
  return result;
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// exp(r) - 1 - r for |r| up to log(2) / 2.
INLINE double expTail(double r) {
  static const double inverseFactorials[] = {0x1.93974a8c07c9dp-37,
                                             0x1.6124613a86d09p-33,
                                             0x1.1eed8eff8d898p-29,
                                             0x1.ae64567f544e4p-26,
                                             0x1.27e4fb7789f5cp-22,
                                             0x1.71de3a556c734p-19,
                                             0x1.a01a01a01a01ap-16,
                                             0x1.a01a01a01a01ap-13,
                                             0x1.6c16c16c16c17p-10,
                                             0x1.1111111111111p-7,
                                             0x1.5555555555555p-5,
                                             0x1.5555555555555p-3,
                                             0x1p-1};
  return r * r * evaluate(inverseFactorials, COUNT(inverseFactorials), r);
}

/// x = count * log(2) + high + low.
typedef struct {
  double count, high, low;
} Reduced;

INLINE Reduced reduceByLn2(double x) {
  double count = __builtin_rint(x * 0x1.71547652b82fep+0);
  double high = __builtin_fma(-count, kLn2High, x);
  double low = -count * kLn2Low;
  double sum = high + low;
  return (Reduced){count, sum, (high - sum) + low};
}

double __nv_exp(double x) {
  if (x > 710.0)
    return infinity();
  if (x < -750.0)
    return 0.0;
  Reduced r = reduceByLn2(x);
  double power = 1.0 + (r.high + (r.low + expTail(r.high)));
  return __builtin_ldexp(power, (int)r.count);
}

double __nv_exp2(double x) {
  if (x > 1024.0)
    return infinity();
  if (x < -1080.0)
    return 0.0;
  double count = __builtin_rint(x), rest = x - count;
  double high = rest * 0x1.62e42fefa39efp-1;
  double low = __builtin_fma(rest, 0x1.62e42fefa39efp-1, -high) +
               rest * 0x1.abc9e3b39803fp-56;
  double power = 1.0 + (high + (low + expTail(high)));
  return __builtin_ldexp(power, (int)count);
}

double __nv_exp10(double x) {
  if (x > 309.0)
    return infinity();
  if (x < -330.0)
    return 0.0;
  // x * log2(10) = count + rest
  double count = __builtin_rint(x * 0x1.a934f0979a371p+1);
  double rest = __builtin_fma(count, -0x1.34413509f79ffp-2, x);
  rest = __builtin_fma(count, 0x1.9dc1da994fd21p-59, rest);
  double high = rest * 0x1.26bb1bbb55516p+1;
  double low = __builtin_fma(rest, 0x1.26bb1bbb55516p+1, -high) +
               rest * -0x1.f48ad494ea3e9p-53;
  double power = 1.0 + (high + (low + expTail(high)));
  return __builtin_ldexp(power, (int)count);
}

double __nv_expm1(double x) {
  if (x > 710.0)
    return infinity();
  if (x < -40.0)
    return -1.0;
  if (x == 0.0)
    return x;
  Reduced r = reduceByLn2(x);
  double power = r.high + (r.low + expTail(r.high));
  int count = (int)r.count;
  if (count == 0)
    return power;
  // 2^count may be too large where the result is not.
  double half = __builtin_ldexp(1.0, count - 1);
  return 2.0 * ((half - 0.5) + half * power);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

/// x = 2^exponent * (1 + fraction), where 1 + fraction is from sqrt(1/2) to
/// sqrt(2); x is positive and finite.
typedef struct {
  double exponent, fraction;
} Split;

INLINE Split split(double x) {
  int exponent;
  double mantissa = __builtin_frexp(x, &exponent);
  if (mantissa < 0x1.6a09e667f3bcdp-1) {
    mantissa *= 2.0;
    exponent -= 1;
  }
  return (Split){exponent, mantissa - 1.0};
}

/// log(1 + f) - f.
INLINE double logTail(double f) {
  static const double coefficients[] = {
      0x1.0c0aff044a970p-3, 0x1.0fbde0f4ad17bp-3, 0x1.3b1c3c1c81c8fp-3,
      0x1.745cf8e4bba1bp-3, 0x1.c71c7201a55d7p-3, 0x1.2492492476a1ap-2,
      0x1.9999999999a39p-2, 0x1.5555555555555p-1};
  double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  double rest = z * evaluate(coefficients, COUNT(coefficients), z);
  return s * (half + rest) - half;
}

/// Zero, negative numbers and what is not finite have logarithms of their own.
#define RETURN_SPECIAL_LOGARITHM(x)                                            \
  do {                                                                         \
    if ((x) == 0.0)                                                            \
      return -infinity();                                                      \
    if (!((x) > 0.0))                                                          \
      return notANumber();                                                     \
    if ((x) == infinity())                                                     \
      return (x);                                                              \
  } while (0)

double __nv_log(double x) {
  RETURN_SPECIAL_LOGARITHM(x);
  Split s = split(x);
  double tail = logTail(s.fraction);
  return __builtin_fma(s.exponent, kLn2High,
                       s.fraction + __builtin_fma(s.exponent, kLn2Low, tail));
}

/// exponent * `unit` + log(1 + fraction) * (high + low).
INLINE double scaledLog(Split s, double unit, double unitLow, double high,
                        double low) {
  double tail = logTail(s.fraction);
  double sum = s.fraction + tail;
  double error = (s.fraction - sum) + tail;
  double product = sum * high;
  double rest = __builtin_fma(sum, high, -product) + (sum * low + error * high);
  double whole = s.exponent * unit;
  double wholeLow =
      __builtin_fma(s.exponent, unit, -whole) + s.exponent * unitLow;
  double total = whole + product;
  double lost = __builtin_fabs(whole) > __builtin_fabs(product)
                    ? (whole - total) + product
                    : (product - total) + whole;
  return total + (lost + (rest + wholeLow));
}

double __nv_log2(double x) {
  RETURN_SPECIAL_LOGARITHM(x);
  return scaledLog(split(x), 1.0, 0.0, 0x1.71547652b82fep+0,
                   0x1.777d0ffda0d24p-56);
}

double __nv_log10(double x) {
  RETURN_SPECIAL_LOGARITHM(x);
  return scaledLog(split(x), 0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59,
                   0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
}

double __nv_log1p(double x) {
  if (x == -1.0)
    return -infinity();
  if (!(x > -1.0))
    return notANumber();
  if (x == infinity() || __builtin_fabs(x) < 0x1p-54)
    return x;
  double sum = 1.0 + x;
  // What the sum lost, relative to it.
  double lost = x > 1.0 ? (x - sum) + 1.0 : (1.0 - sum) + x;
  if (x > -0.25 && x < 0.375)
    return x + logTail(x);
  Split s = split(sum);
  double tail = logTail(s.fraction) + lost / sum;
  return __builtin_fma(s.exponent, kLn2High,
                       s.fraction + __builtin_fma(s.exponent, kLn2Low, tail));
}

//===----------------------------------------------------------------------===//
// Circular functions
//===----------------------------------------------------------------------===//

/// x = quadrant * pi / 2 + high + low, but for multiples of 2 pi.
typedef struct {
  unsigned quadrant;
  double high, low;
} Angle;

/// 2 / pi, after 64 zero bits.
static const u64 kTwoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

/// 64 bits of the table from bit `at` on.
INLINE u64 tableBits(int at) {
  int word = at >> 6, bit = at & 63;
  u64 first = kTwoOverPi[word] << bit;
  return bit ? first | kTwoOverPi[word + 1] >> (64 - bit) : first;
}

/// For large positive numbers: the bits of 2 / pi that matter, times x, exactly
/// (Payne and Hanek's method).
static __attribute__((noinline)) Angle reduceLarge(double x) {
  u64 bits = toBits(x);
  int exponent = (int)(bits >> 52) - 1075;
  u64 mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
  // What lies before makes multiples of four quadrants.
  int at = exponent + 62;
  u128 low = (u128)mantissa * tableBits(at + 128);
  u128 middle = (u128)mantissa * tableBits(at + 64) + (u64)(low >> 64);
  u64 high = mantissa * tableBits(at) + (u64)(middle >> 64);
  // Two bits before the point, 190 behind it.
  unsigned quadrant = (unsigned)(high >> 62);
  u64 fraction = high << 2 | (u64)middle >> 62;
  u64 rest = (u64)middle << 2 | (u64)low >> 62;
  long long nearest = (long long)fraction;
  if (nearest < 0)
    ++quadrant; // and the fraction counts from there
  double coarse = (double)(nearest & ~2047LL) * 0x1p-64;
  double fine = (double)(nearest & 2047) * 0x1p-64 + (double)rest * 0x1p-128;
  double product = coarse * kHalfPi;
  double lost = __builtin_fma(coarse, kHalfPi, -product) +
                (coarse * kHalfPiLow + fine * kHalfPi);
  double sum = product + lost;
  return (Angle){quadrant, sum, (product - sum) + lost};
}

INLINE Angle reduceAngle(double x) {
  double size = __builtin_fabs(x);
  if (size > 100000.0) {
    Angle angle = reduceLarge(size);
    if (x < 0)
      angle = (Angle){-angle.quadrant, -angle.high, -angle.low};
    return angle;
  }
  double count = __builtin_rint(x * 0x1.45f306dc9c883p-1);
  double rest = __builtin_fma(-count, kHalfPi, x); // exact
  double next = count * kHalfPiLow;
  double lost = __builtin_fma(count, kHalfPiLow, -next);
  double high = rest - next;
  double low = ((rest - high) - next) - lost - count * kHalfPiLowest;
  return (Angle){(unsigned)(int)count, high, low};
}

INLINE double sine(Angle a) {
  static const double coefficients[] = {
      0x1.952c77030ad4ap-49,  -0x1.ae7f3e733b81fp-41, 0x1.6124613a86d09p-33,
      -0x1.ae64567f544e4p-26, 0x1.71de3a556c734p-19,  -0x1.a01a01a01a01ap-13,
      0x1.1111111111111p-7,   -0x1.5555555555555p-3};
  double z = a.high * a.high;
  double tail = z * a.high * evaluate(coefficients, COUNT(coefficients), z);
  return a.high + (tail + a.low);
}

INLINE double cosine(Angle a) {
  static const double coefficients[] = {
      -0x1.6827863b97d97p-53, 0x1.ae7f3e733b81fp-45,  -0x1.93974a8c07c9dp-37,
      0x1.1eed8eff8d898p-29,  -0x1.27e4fb7789f5cp-22, 0x1.a01a01a01a01ap-16,
      -0x1.6c16c16c16c17p-10, 0x1.5555555555555p-5};
  double z = a.high * a.high, half = 0.5 * z, top = 1.0 - half;
  double tail = z * z * evaluate(coefficients, COUNT(coefficients), z);
  return top + (((1.0 - top) - half) + (tail - a.high * a.low));
}

double __nv_sin(double x) {
  if (!(__builtin_fabs(x) < infinity()))
    return notANumber();
  if (x == 0.0)
    return x;
  Angle a = reduceAngle(x);
  double value = a.quadrant & 1 ? cosine(a) : sine(a);
  return a.quadrant & 2 ? -value : value;
}

double __nv_cos(double x) {
  if (!(__builtin_fabs(x) < infinity()))
    return notANumber();
  Angle a = reduceAngle(x);
  double value = a.quadrant & 1 ? sine(a) : cosine(a);
  return (a.quadrant + 1) & 2 ? -value : value;
}

double __nv_tan(double x) {
  if (!(__builtin_fabs(x) < infinity()))
    return notANumber();
  if (x == 0.0)
    return x;
  Angle a = reduceAngle(x);
  double s = sine(a), c = cosine(a);
  return a.quadrant & 1 ? -c / s : s / c;
}

/// x * pi: x = 2 * n + quadrant / 2 + rest.
INLINE Angle angleOfPi(double x) {
  double turn = x - 2.0 * __builtin_rint(0.5 * x); // exact, as what follows
  double quadrant = __builtin_rint(2.0 * turn);
  double rest = turn - 0.5 * quadrant, high = rest * (2.0 * kHalfPi);
  double low =
      __builtin_fma(rest, 2.0 * kHalfPi, -high) + rest * (2.0 * kHalfPiLow);
  return (Angle){(unsigned)(int)quadrant, high, low};
}

double __nv_sinpi(double x) {
  if (!(__builtin_fabs(x) < infinity()))
    return notANumber();
  if (x == __builtin_rint(x))
    return __builtin_copysign(0.0, x);
  Angle a = angleOfPi(x);
  double value = a.quadrant & 1 ? cosine(a) : sine(a);
  return a.quadrant & 2 ? -value : value;
}

double __nv_cospi(double x) {
  if (!(__builtin_fabs(x) < infinity()))
    return notANumber();
  Angle a = angleOfPi(x);
  double value = a.quadrant & 1 ? sine(a) : cosine(a);
  return (a.quadrant + 1) & 2 ? 0.0 - value : value;
}

//===----------------------------------------------------------------------===//
// Inverse circular functions
//===----------------------------------------------------------------------===//

/// atan(high + low) for 0 <= high.
INLINE double arcTangent(double high, double low) {
  static const double coefficients[] = {
      -0x1.a6a7c9700ea9cp-7, 0x1.e3a4fc17a8acep-6,  -0x1.4bd0f4308a4ebp-5,
      0x1.815f5d68fcafap-5,  -0x1.ae83d033d5763p-5, 0x1.e1d1f4bd1141bp-5,
      -0x1.11108507e38fcp-4, 0x1.3b13aa7e038acp-4,  -0x1.745d170d44711p-4,
      0x1.c71c71c5e8250p-4,  -0x1.249249249050ap-3, 0x1.9999999999964p-3,
      -0x1.5555555555555p-2};
  double base = 0.0, baseLow = 0.0, t = high, tLow = low;
  if (high > 0x1.3504f333f9de6p+1) { // tan(3/8 pi)
    base = kHalfPi;
    baseLow = kHalfPiLow;
    t = -1.0 / high;
    tLow = -(__builtin_fma(t, high, 1.0) + t * low) * t;
  } else if (high > 0x1.a827999fcef32p-2) { // tan(1/8 pi)
    base = 0.5 * kHalfPi;
    baseLow = 0.5 * kHalfPiLow;
    double up = high - 1.0, down = high + 1.0;
    double lost = (high - down) + 1.0;
    t = up / down;
    tLow = (__builtin_fma(-t, down, up) - t * (lost + low) + low) / down;
  }
  double z = t * t;
  double tail = z * t * evaluate(coefficients, COUNT(coefficients), z);
  return base + (t + (tail + (tLow + baseLow)));
}

double __nv_atan(double x) {
  if (x == 0.0 || x != x)
    return x;
  if (__builtin_fabs(x) > 0x1p60)
    return __builtin_copysign(kHalfPi, x);
  return __builtin_copysign(arcTangent(__builtin_fabs(x), 0.0), x);
}

double __nv_atan2(double y, double x) {
  if (x != x || y != y)
    return notANumber();
  double up = __builtin_fabs(y), side = __builtin_fabs(x);
  double angle;
  if (up == side && (up == 0.0 || up == infinity()))
    angle = up == 0.0 ? 0.0 : 0.5 * kHalfPi;
  else if (side == 0.0 || up == infinity())
    angle = kHalfPi;
  else if (up == 0.0 || side == infinity())
    angle = 0.0;
  else {
    // Powers of two that keep quotient and remainder in range.
    int exponent = (int)(toBits(side) >> 52) - 1023;
    double scale = __builtin_ldexp(1.0, exponent < -900  ? 200
                                        : exponent > 900 ? -200
                                                         : 0);
    up *= scale;
    side *= scale;
    double quotient = up / side;
    double rest = quotient < infinity() && quotient > 0x1p-960
                      ? __builtin_fma(-quotient, side, up) / side
                      : 0.0;
    angle = quotient < infinity() ? arcTangent(quotient, rest) : kHalfPi;
  }
  if (toBits(x) >> 63)
    angle = 2.0 * kHalfPi - (angle - 2.0 * kHalfPiLow);
  return __builtin_copysign(angle, y);
}

/// sqrt((1 - x) * (1 + x)) for 0 <= x <= 1, and what it lacks.
INLINE double otherLeg(double x, double *low) {
  double square, lost;
  if (x < 0.5) {
    square = __builtin_fma(-x, x, 1.0);
    lost = __builtin_fma(-x, x, 1.0 - square);
  } else {
    double difference = 1.0 - x, sum = 1.0 + x; // the first is exact
    square = difference * sum;
    lost = __builtin_fma(difference, sum, -square) +
           difference * ((1.0 - sum) + x);
  }
  double root = __builtin_sqrt(square);
  *low = root > 0.0 ? (__builtin_fma(-root, root, square) + lost) * (0.5 / root)
                    : 0.0;
  return root;
}

double __nv_asin(double x) {
  double size = __builtin_fabs(x);
  if (!(size <= 1.0))
    return notANumber();
  if (size < 0x1p-27)
    return x;
  double low, other = otherLeg(size, &low);
  double angle = kHalfPi;
  if (other > 0.0) {
    double quotient = size / other;
    double rest =
        (__builtin_fma(-quotient, other, size) - quotient * low) / other;
    angle = arcTangent(quotient, rest);
  }
  return __builtin_copysign(angle, x);
}

double __nv_acos(double x) {
  double size = __builtin_fabs(x);
  if (!(size <= 1.0))
    return notANumber();
  double low, other = otherLeg(size, &low);
  double angle = kHalfPi;
  if (size > 0.0) {
    double quotient = other / size;
    double rest = (__builtin_fma(-quotient, size, other) + low) / size;
    angle = arcTangent(quotient, rest);
  }
  return toBits(x) >> 63 ? 2.0 * kHalfPi - (angle - 2.0 * kHalfPiLow) : angle;
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

double __nv_sinh(double x) {
  double size = __builtin_fabs(x);
  if (size < 0x1p-28 || x != x)
    return x;
  double value;
  if (size < 22.0) {
    double power = __nv_expm1(size);
    value = 0.5 * (power + power / (power + 1.0));
  } else if (size < 709.0) {
    value = 0.5 * __nv_exp(size);
  } else {
    double root = __nv_exp(0.5 * size);
    value = (0.5 * root) * root;
  }
  return __builtin_copysign(value, x);
}

double __nv_cosh(double x) {
  double size = __builtin_fabs(x);
  if (size < 709.0) {
    double power = __nv_exp(size);
    return 0.5 * (power + 1.0 / power);
  }
  double root = __nv_exp(0.5 * size);
  return (0.5 * root) * root;
}

double __nv_tanh(double x) {
  double size = __builtin_fabs(x);
  if (size < 0x1p-28 || x != x)
    return x;
  double value = 1.0;
  if (size < 22.0) {
    double power = __nv_expm1(2.0 * size);
    value = power / (power + 2.0);
  }
  return __builtin_copysign(value, x);
}

double __nv_asinh(double x) {
  double size = __builtin_fabs(x);
  if (size < 0x1p-28 || !(size < infinity()))
    return x;
  double value;
  if (size > 0x1p28)
    value = __nv_log(size) + 0x1.62e42fefa39efp-1;
  else
    value = __nv_log1p(size +
                       size * size / (1.0 + __builtin_sqrt(size * size + 1.0)));
  return __builtin_copysign(value, x);
}

double __nv_acosh(double x) {
  if (!(x >= 1.0))
    return notANumber();
  if (x > 0x1p28)
    return __nv_log(x) + 0x1.62e42fefa39efp-1;
  double t = x - 1.0;
  return __nv_log1p(t + __builtin_sqrt(t * (x + 1.0)));
}

double __nv_atanh(double x) {
  double size = __builtin_fabs(x);
  if (size < 0x1p-28)
    return x;
  return __builtin_copysign(0.5 * __nv_log1p(2.0 * size / (1.0 - size)), x);
}

//===----------------------------------------------------------------------===//
// Error function
//===----------------------------------------------------------------------===//

/// erfc(x) for x from 0.9 on.
INLINE double erfcLarge(double x) {
  // erfc(x) exp(x^2) (1 + 2 x), in (x - 2) / (x + 2).
  static const double coefficients[] = {
      0x1.4137dd0927688p-23,  -0x1.daf17c0cf815ep-21, 0x1.ddc135bd588e2p-20,
      -0x1.190ee20b490b1p-20, -0x1.86951e66c7a8ep-22, -0x1.9af923a5a8d8fp-24,
      -0x1.18fcad7906166p-20, 0x1.75f101f3e316cp-20,  0x1.6775ca36fb9d6p-18,
      0x1.f101d03504158p-19,  -0x1.c57ad57f926bep-17, -0x1.31822e32c52d5p-15,
      -0x1.94c2ae71e25d7p-20, 0x1.3cc05428a33d0p-13,  0x1.b0c87e38b463fp-13,
      -0x1.dc692f9836405p-12, -0x1.7de520f5f1748p-10, 0x1.4d461d24865cdp-10,
      0x1.1dd2ec90a3176p-7,   -0x1.07423404786e9p-7,  -0x1.bc2b9561989b8p-5,
      0x1.4ffa1e14e2773p-3,   -0x1.5407bebf32445p-3,  -0x1.7bf5ec1700631p-4,
      0x1.46e80e2277953p+0};
  if (x > 27.5)
    return 0.0;
  double t = (x - 2.0) / (x + 2.0);
  double value = evaluate(coefficients, COUNT(coefficients), t);
  double square = x * x, lost = __builtin_fma(x, x, -square);
  double power = __nv_exp(-square);
  return (power - power * lost) * (value / (1.0 + 2.0 * x));
}

INLINE double erfSmall(double x) {
  static const double coefficients[] = {
      0x1.3c01fd3a74542p-42,  -0x1.b40e7abf9f000p-38, 0x1.9a0fcb5e22c5bp-34,
      -0x1.517ce02f1265fp-30, 0x1.fcbb312b48443p-27,  -0x1.5f73c3bf14b91p-23,
      0x1.b9e6c38e5cf3dp-20,  -0x1.f4d25bf9af03ap-17, 0x1.f9a326f7ac5b1p-14,
      -0x1.c02db40035f1ep-11, 0x1.565bcd0e6a2eep-8,   -0x1.b82ce31288b47p-6,
      0x1.ce2f21a042be2p-4,   -0x1.812746b0379e7p-2,  0x1.20dd750429b6dp+0};
  return x * evaluate(coefficients, COUNT(coefficients), x * x);
}

double __nv_erf(double x) {
  double size = __builtin_fabs(x);
  if (size < 1.0 || x != x)
    return erfSmall(x);
  return __builtin_copysign(1.0 - erfcLarge(size), x);
}

double __nv_erfc(double x) {
  if (x != x)
    return x;
  if (__builtin_fabs(x) < 0.9)
    return 1.0 - erfSmall(x);
  return x > 0.0 ? erfcLarge(x) : 2.0 - erfcLarge(-x);
}

//===----------------------------------------------------------------------===//
// Roots and powers
//===----------------------------------------------------------------------===//

double __nv_sqrt(double x) { return __builtin_sqrt(x); }
double __nv_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

double __nv_cbrt(double x) {
  double size = __builtin_fabs(x);
  if (size == 0.0 || !(size < infinity()))
    return x;
  int exponent;
  double mantissa = __builtin_frexp(size, &exponent);
  // A multiple of three as the exponent; the mantissa is from 1/8 to 1.
  int third = (exponent + 3000) / 3 - 1000;
  if (third * 3 < exponent)
    ++third;
  mantissa = __builtin_ldexp(mantissa, exponent - 3 * third);
  double root = 0.4 + mantissa * (0.9 - 0.3 * mantissa);
#pragma unroll
  for (int i = 0; i < 5; ++i)
    root -= (root * root * root - mantissa) / (3.0 * root * root);
  // One more step, from an exact remainder.
  double square = root * root;
  double squareLow = __builtin_fma(root, root, -square);
  double rest = __builtin_fma(-square, root, mantissa) - squareLow * root;
  root += rest / (3.0 * square);
  return __builtin_copysign(__builtin_ldexp(root, third), x);
}

/// A cheaper logarithm than that of __nv_pow is exact enough for fp32.
float __nv_powf(float base, float exponent) {
  if (exponent == 0.0f || base == 1.0f)
    return 1.0f;
  if (base != base || exponent != exponent)
    return (float)notANumber();
  double x = base, y = exponent, size = __builtin_fabs(x);
  int isWhole = __builtin_rint(y) == y;
  int isOdd = isWhole && __builtin_fabs(y) < 0x1p24 && ((long long)y & 1);
  double value;
  if (size == 1.0)
    value = 1.0;
  else
    value = __nv_exp(y * __nv_log(size));
  if (toBits(x) >> 63) {
    if (!isWhole && size != 0.0 && size < infinity() &&
        __builtin_fabs(y) < infinity())
      return (float)notANumber();
    if (isOdd)
      value = -value;
  }
  return (float)value;
}

//===----------------------------------------------------------------------===//
// Functions of fp32
//===----------------------------------------------------------------------===//

SINGLE(acos)
SINGLE(acosh)
SINGLE(asin)
SINGLE(asinh)
SINGLE(atan)
SINGLE(atanh)
SINGLE(cbrt)
SINGLE(cos)
SINGLE(cosh)
SINGLE(cospi)
SINGLE(erf)
SINGLE(erfc)
SINGLE(exp)
SINGLE(exp10)
SINGLE(exp2)
SINGLE(expm1)
SINGLE(log)
SINGLE(log10)
SINGLE(log1p)
SINGLE(log2)
SINGLE(rsqrt)
SINGLE(sin)
SINGLE(sinh)
SINGLE(sinpi)
SINGLE(sqrt)
SINGLE(tan)
SINGLE(tanh)

SINGLE2(atan2)

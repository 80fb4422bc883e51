//===-- FloatArith.h - Arithmetic that all precisions share ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Wide.h"
#include "VectorLanes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tile::sim::amdgcn {

/// A number is preferred to a NaN, and -0 is less than +0.
template <class T> T leastNumber(T a, T b) {
  if (a != a)
    return b;
  if (b != b)
    return a;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T> T mostNumber(T a, T b) {
  if (a != a)
    return b;
  if (b != b)
    return a;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
/// A NaN is preferred to a number.
template <class T> T minimum(T a, T b) {
  return a != a ? a : b != b ? b : leastNumber(a, b);
}
template <class T> T maximum(T a, T b) {
  return a != a ? a : b != b ? b : mostNumber(a, b);
}
template <class T> T middleNumber(T a, T b, T c) {
  if (a != a || b != b || c != c)
    return leastNumber(leastNumber(a, b), c);
  return mostNumber(leastNumber(a, b), leastNumber(mostNumber(a, b), c));
}
/// What is left of the whole part, below 1.
template <class T> T fraction(T a, T largest) {
  T r = a - std::floor(a);
  return r >= T(1) ? largest : r;
}

template <class T> T towardsZero(T a) { return std::trunc(a); }
template <class T> T upwards(T a) { return std::ceil(a); }
template <class T> T downwards(T a) { return std::floor(a); }
template <class T> T roundEven(T a) { return std::nearbyint(a); }

/// Functions that hardware approximates, for all precisions.
inline double powerOfTwo(double a) { return std::exp2(a); }
inline double logarithm(double a) { return std::log2(a); }
inline double reciprocal(double a) { return 1 / a; }
inline double reciprocalRoot(double a) { return 1 / std::sqrt(a); }
inline double root(double a) { return std::sqrt(a); }
/// Of revolutions.
inline double sine(double a) {
  return std::sin((a - std::nearbyint(a)) * 2 * M_PI);
}
inline double cosine(double a) {
  return std::cos((a - std::nearbyint(a)) * 2 * M_PI);
}
/// One of them in single precision: rounded once here; like there, it neither
/// takes nor gives subnormal numbers.
template <auto G> float approximateFloat(float a) {
  return flush(float(G(double(flush(a)))));
}
/// The C library's for floats, which softmax wants fast, rounds almost as well.
inline float powerOfTwoFloat(float a) { return flush(std::exp2(flush(a))); }

/// Powers of two that any finite number overflows or vanishes with are as good
/// as larger ones; those of double precision multiply floats exactly.
template <class T> T scaledBy(T a, int32_t n) {
  if constexpr (sizeof(T) == 4)
    return T(double(a) *
             doubleOfBits(uint64_t(std::clamp(n, -400, 400) + 1023) << 52));
  else
    return std::ldexp(a, n);
}

/// Multiplies and adds, and rounds after each. Before GFX940 there are such
/// instructions beside the fused ones. They drop subnormal numbers, whatever
/// MODE says.
inline float multiplyAdd(float a, float b, float c) {
  return flush(flush(flush(a) * flush(b)) + flush(c));
}

/// Towards zero, with what is out of range at the end of the range, and no
/// number as 0.
template <class I, class T> I truncateTo(T v) {
  double d = double(v);
  if (d != d)
    return 0;
  d = std::trunc(d);
  if (d <= double(std::numeric_limits<I>::min()))
    return std::numeric_limits<I>::min();
  if (d >= double(std::numeric_limits<I>::max()))
    return std::numeric_limits<I>::max();
  return I(d);
}

template <class T> T mantissaOf(T a) {
  int e;
  return std::isfinite(a) ? std::frexp(a, &e) : a;
}
template <class T> int32_t exponentOf(T a) {
  int e = 0;
  if (std::isfinite(a))
    std::frexp(a, &e);
  return e;
}

/// Floats of 8 bits whose one NaN stands where -0 would be, and whose bias is
/// one larger than usual; with as many bits of mantissa as given.
inline double decodeFnuz(uint8_t bits, unsigned mantissa) {
  if (bits == 0x80)
    return std::numeric_limits<double>::quiet_NaN();
  int exponent = (bits & 0x7f) >> mantissa, bias = mantissa == 3 ? 8 : 16;
  double fraction = double(bits & ((1u << mantissa) - 1)) / (1u << mantissa);
  double value = exponent ? std::ldexp(1 + fraction, exponent - bias)
                          : std::ldexp(fraction, 1 - bias);
  return bits & 0x80 ? -value : value;
}

/// Rounded to nearest even; what is too large becomes the NaN.
inline uint8_t encodeFnuz(double value, unsigned mantissa) {
  int bias = mantissa == 3 ? 8 : 16;
  double magnitude = std::fabs(value), largest = mantissa == 3 ? 240 : 57344;
  if (!std::isfinite(value))
    return 0x80;
  if (magnitude == 0)
    return 0;
  int least = 1 - bias, exponent = std::max(std::ilogb(magnitude), least);
  double steps =
      std::nearbyint(std::ldexp(magnitude, int(mantissa) - exponent));
  if (std::ldexp(steps, exponent - int(mantissa)) > largest)
    return 0x80;
  // A subnormal number has no leading one; rounding may carry into it.
  auto bits = uint32_t(steps) + (uint32_t(exponent - least) << mantissa);
  return uint8_t(bits ? bits | (std::signbit(value) ? 0x80 : 0) : 0);
}

/// Divisions are a sequence of instructions: the operands are scaled (here),
/// the quotient is refined by Newton's steps, rounded (v_div_fmas scales back),
/// and mended where the operands were special (v_div_fixup).
template <class T> struct Division {
  static constexpr bool isDouble = sizeof(T) == 8;
  static constexpr int bias = isDouble ? 1023 : 127,
                       scale = isDouble ? 128 : 64, far = isDouble ? 768 : 96,
                       tiny = isDouble ? 53 : 23;
  static int exponent(T v) {
    if constexpr (isDouble)
      return int(bitsOfDouble(v) >> 52 & 0x7ff);
    else
      return int(bitsOfFloat(v) >> 23 & 0xff);
  }
  static bool isSubnormal(T v) { return v != 0 && exponent(v) == 0; }

  /// Neither operand is scaled: they, the reciprocal and the quotient are all
  /// normal numbers, far from the ends of the range.
  static bool isPlain(T denominator, T numerator) {
    int d = exponent(denominator), n = exponent(numerator);
    return (d > 0) & (d < 2 * bias - 1) & (n > tiny) & (n <= 2 * bias) &
           (n - d < far) & (n - d > 2 - bias);
  }

  struct Scaled {
    T value;
    bool flag; ///< v_div_fmas shall scale the quotient
  };
  /// Scales `a`, which is the denominator or the numerator.
  static Scaled scaled(T a, T denominator, T numerator) {
    auto by = [&](int n) { return T(std::ldexp(a, n)); };
    bool isDenominator = a == denominator;
    if (numerator == 0 || denominator == 0)
      return {std::numeric_limits<T>::quiet_NaN(), false};
    if (exponent(numerator) - exponent(denominator) >= far)
      return {isDenominator ? by(scale) : a, true};
    if (isSubnormal(denominator))
      return {by(scale), false};
    // Would the reciprocal, or the quotient, be subnormal?
    bool tinyReciprocal =
        std::isfinite(denominator) &&
        std::fabs(T(1) / denominator) < std::numeric_limits<T>::min();
    T quotient = numerator / denominator;
    bool tinyQuotient =
        quotient != 0 ? isSubnormal(quotient) : std::isfinite(denominator);
    if (tinyReciprocal && tinyQuotient)
      return {isDenominator ? by(-scale) : a, true};
    if (tinyReciprocal)
      return {by(-scale), false};
    if (tinyQuotient)
      return {a == numerator ? by(scale) : a, true};
    if (exponent(numerator) <= tiny)
      return {by(scale), false};
    return {a, false};
  }
  /// a * b + c, scaled back, and rounded once. Which way the quotient was
  /// scaled follows from its estimate, c.
  static T fusedAndScaledBack(T a, T b, T c) {
    int by = exponent(c) > bias ? scale : -scale;
    if constexpr (isDouble)
      return T(std::ldexp(
          std::fma((long double)a, (long double)b, (long double)c), by));
    else
      return T(std::ldexp(addToOdd(double(a) * double(b), double(c)), by));
  }
  /// Choices instead of branches, for vectors of the host.
  static T mended(T quotient, T denominator, T numerator) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    bool negative = std::signbit(denominator) != std::signbit(numerator),
         byZero = denominator == 0, ofZero = numerator == 0,
         byInf = std::fabs(denominator) == inf,
         ofInf = std::fabs(numerator) == inf;
    // What was no number overflowed on the way; others may be far out of range.
    T r = quotient != quotient ? inf : std::fabs(quotient);
    int difference = exponent(numerator) - exponent(denominator);
    r = difference < (isDouble ? -1075 : -150) ? T(0) : r;
    r = (byInf | ofZero) ? T(0) : r;
    r = (byZero | ofInf) ? inf : r;
    r = negative ? -r : r;
    r = (byZero & ofZero) | (byInf & ofInf)
            ? std::numeric_limits<T>::quiet_NaN()
            : r;
    r = denominator != denominator ? denominator : r;
    return numerator != numerator ? numerator : r;
  }
};

/// v_div_scale: op: result, mask, the value to scale, denominator, numerator.
template <class T>
[[gnu::always_inline]] inline Step runDivScale(Ctx &c, const Inst &inst) {
  unsigned lanes = programOf(c).waveLanes;
  uint64_t exec = execOf(c), flags = 0;
  VectorSource<T> a, denominator, numerator;
  a.load(c, inst, inst.op[2], 0, nullptr, ~0u);
  denominator.load(c, inst, inst.op[3], 1, nullptr, ~0u);
  numerator.load(c, inst, inst.op[4], 2, nullptr, ~0u);
  alignas(64) T out[64];
  bool plain = true;
  for (unsigned h = 0; h < lanes / Lanes; ++h)
    for (unsigned l = 0; l < Lanes; ++l) {
      out[h * Lanes + l] = a.get(h, l);
      plain &= Division<T>::isPlain(denominator.get(h, l), numerator.get(h, l));
    }
  for (unsigned l = 0; l < lanes && !plain; ++l) {
    unsigned h = l / Lanes, i = l % Lanes;
    auto r = Division<T>::scaled(a.get(h, i), denominator.get(h, i),
                                 numerator.get(h, i));
    out[l] = r.value;
    flags |= uint64_t(r.flag) << l;
  }
  writeVector(c, inst, inst.op[0], out, exec);
  writeMask(c, inst.op[1], flags & exec);
  return Step::Next;
}
template <class T> Step execDivScale(Ctx &c, const Inst &inst, uint32_t) {
  return runDivScale<T>(c, inst);
}
template <class T>
TILE_AVX2 Step execDivScaleAvx2(Ctx &c, const Inst &inst, uint32_t) {
  return runDivScale<T>(c, inst);
}
template <class T> bool decodeDivScale(InstDecoder &d) {
  constexpr unsigned words = wordsOf<T>;
  constexpr Imm imm = immediateOf<T>();
  return d.expect(5, 5) && d.takeModifiers(3, 2) &&
         d.source(2, words, imm, 2) && d.source(3, words, imm, 3) &&
         d.source(4, words, imm, 4) && d.vectorResult(0, words, 0) &&
         d.maskResult(1, 1) &&
         d.emit(hasAvx2() ? execDivScaleAvx2<T> : execDivScale<T>,
                classOf<T>());
}

/// v_div_fmas reads VCC without saying so.
template <class T, auto Fma>
Step execDivFmas(Ctx &c, const Inst &inst, uint32_t) {
  unsigned lanes = programOf(c).waveLanes;
  uint64_t flags = maskOf(c, inst.op[4]);
  VectorSource<T> a, b, add;
  a.load(c, inst, inst.op[1], 0, nullptr, ~0u);
  b.load(c, inst, inst.op[2], 1, nullptr, ~0u);
  add.load(c, inst, inst.op[3], 2, nullptr, ~0u);
  alignas(64) T out[64];
  for (unsigned h = 0; h < lanes / Lanes; ++h) {
    auto scaled = uint32_t(flags >> h * Lanes);
    if constexpr (sizeof(T) == 4) {
      fuseFloats(a.words(h), b.words(h), add.words(h), out + h * Lanes);
    } else {
      for (unsigned l = 0; l < Lanes; ++l)
        out[h * Lanes + l] = Fma(a.get(h, l), b.get(h, l), add.get(h, l));
    }
    eachLane(scaled, [&](unsigned l) {
      out[h * Lanes + l] = Division<T>::fusedAndScaledBack(
          a.get(h, l), b.get(h, l), add.get(h, l));
    });
  }
  writeVector(c, inst, inst.op[0], out, execOf(c));
  return Step::Next;
}
template <class T, auto Fma> bool decodeDivFmas(InstDecoder &d) {
  constexpr unsigned words = wordsOf<T>;
  constexpr Imm imm = immediateOf<T>();
  d.inst.op[4] = d.slotOf(File::Scalar, Vcc);
  d.readMask(Vcc);
  return d.expect(4, 4) && d.takeModifiers(3, 1) &&
         d.source(1, words, imm, 1) && d.source(2, words, imm, 2) &&
         d.source(3, words, imm, 3) && d.vectorResult(0, words, 0) &&
         d.emit(execDivFmas<T, Fma>, classOf<T>());
}

} // namespace tile::sim::amdgcn

//===-- VectorHalf.cpp - Half precision -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A sum or product of two halves is exact in double precision, and so is
// rounded once.
//
//===----------------------------------------------------------------------===//
#include "FloatArith.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
float of(Half h) { return floatFromHalf(h.bits); }
Half nearest(double d) { return {halfFromDouble(d)}; }
/// Of a value that is a half already.
Half exact(float f) { return {halfFromFloat(f)}; }

Half add(Half a, Half b) { return exact(of(a) + of(b)); }
Half sub(Half a, Half b) { return exact(of(a) - of(b)); }
Half subReversed(Half a, Half b) { return exact(of(b) - of(a)); }
Half mul(Half a, Half b) { return exact(of(a) * of(b)); }
Half fuse(Half a, Half b, Half c) {
  return nearest(addToOdd(double(of(a)) * of(b), of(c)));
}
Half least(Half a, Half b) { return exact(leastNumber(of(a), of(b))); }
Half most(Half a, Half b) { return exact(mostNumber(of(a), of(b))); }
Half least3(Half a, Half b, Half c) { return least(least(a, b), c); }
Half most3(Half a, Half b, Half c) { return most(most(a, b), c); }
Half middle(Half a, Half b, Half c) {
  return exact(middleNumber(of(a), of(b), of(c)));
}
Half leastMost(Half a, Half b, Half c) { return least(most(a, b), c); }
Half mostLeast(Half a, Half b, Half c) { return most(least(a, b), c); }
Half smallest(Half a, Half b) { return exact(minimum(of(a), of(b))); }
Half largest(Half a, Half b) { return exact(maximum(of(a), of(b))); }
Half smallest3(Half a, Half b, Half c) { return smallest(smallest(a, b), c); }
Half largest3(Half a, Half b, Half c) { return largest(largest(a, b), c); }
Half smallestLargest(Half a, Half b, Half c) {
  return smallest(largest(a, b), c);
}
Half largestSmallest(Half a, Half b, Half c) {
  return largest(smallest(a, b), c);
}
template <auto G> Half rounded(Half a) { return exact(G(of(a))); }
float fract(float a) { return fraction(a, 0x1.ffcp-1f); }

template <auto G> Half approximate(Half a) { return nearest(G(double(of(a)))); }
double sine(double a) { return std::sin((a - std::nearbyint(a)) * 2 * M_PI); }
double cosine(double a) { return std::cos((a - std::nearbyint(a)) * 2 * M_PI); }
Half scaleBy(Half a, int16_t n) {
  return nearest(std::ldexp(double(of(a)), n));
}
Half mantissa(Half a) {
  int e;
  float f = of(a);
  return std::isfinite(f) ? exact(std::frexp(f, &e)) : a;
}
int16_t exponent(Half a) {
  int e = 0;
  if (std::isfinite(of(a)))
    std::frexp(of(a), &e);
  return int16_t(e);
}
Half divFixup(Half quotient, Half denominator, Half numerator) {
  float q = of(quotient), d = of(denominator), n = of(numerator);
  bool negative = std::signbit(d) != std::signbit(n);
  if (n != n)
    return numerator;
  if (d != d)
    return denominator;
  if ((d == 0 && n == 0) || (std::isinf(d) && std::isinf(n)))
    return {0xfe00};
  float r = d == 0 || std::isinf(n)   ? INFINITY
            : std::isinf(d) || n == 0 ? 0.0f
                                      : std::fabs(q);
  return exact(negative ? -r : r);
}
} // namespace

void tile::sim::amdgcn::registerVectorHalf(OpcodeTable &t) {
  constexpr Class special = Class::Special;
  t.insert({
      {"v_add_f16", decodeVector<add>},
      {"v_sub_f16", decodeVector<sub>},
      {"v_subrev_f16", decodeVector<subReversed>},
      {"v_mul_f16", decodeVector<mul>},
      {"v_fma_f16", decodeVector<fuse>},
      {"v_fmac_f16", decodeAccumulate<fuse>},
      {"v_fmamk_f16", decodeVector<fuse>},
      {"v_fmaak_f16", decodeVector<fuse>},
      {"v_min_f16", decodeVector<least>},
      {"v_max_f16", decodeVector<most>},
      {"v_min3_f16", decodeVector<least3>},
      {"v_max3_f16", decodeVector<most3>},
      {"v_med3_f16", decodeVector<middle>},
      {"v_minmax_f16", decodeVector<mostLeast>},
      {"v_maxmin_f16", decodeVector<leastMost>},
      {"v_min_num_f16", decodeVector<least>},
      {"v_max_num_f16", decodeVector<most>},
      {"v_min3_num_f16", decodeVector<least3>},
      {"v_max3_num_f16", decodeVector<most3>},
      {"v_med3_num_f16", decodeVector<middle>},
      {"v_minmax_num_f16", decodeVector<mostLeast>},
      {"v_maxmin_num_f16", decodeVector<leastMost>},
      {"v_minimum_f16", decodeVector<smallest>},
      {"v_maximum_f16", decodeVector<largest>},
      {"v_minimum3_f16", decodeVector<smallest3>},
      {"v_maximum3_f16", decodeVector<largest3>},
      {"v_minimummaximum_f16", decodeVector<largestSmallest>},
      {"v_maximumminimum_f16", decodeVector<smallestLargest>},
      {"v_fract_f16", decodeVector<rounded<fract>>},
      {"v_trunc_f16", decodeVector<rounded<towardsZero<float>>>},
      {"v_ceil_f16", decodeVector<rounded<upwards<float>>>},
      {"v_floor_f16", decodeVector<rounded<downwards<float>>>},
      {"v_rndne_f16", decodeVector<rounded<roundEven<float>>>},
      {"v_exp_f16", decodeVector<approximate<powerOfTwo>, special>},
      {"v_log_f16", decodeVector<approximate<logarithm>, special>},
      {"v_rcp_f16", decodeVector<approximate<reciprocal>, special>},
      {"v_rsq_f16", decodeVector<approximate<reciprocalRoot>, special>},
      {"v_sqrt_f16", decodeVector<approximate<root>, special>},
      {"v_sin_f16", decodeVector<approximate<sine>, special>},
      {"v_cos_f16", decodeVector<approximate<cosine>, special>},
      {"v_ldexp_f16", decodeVector<scaleBy>},
      {"v_frexp_mant_f16", decodeVector<mantissa>},
      {"v_frexp_exp_i16_f16", decodeVector<exponent>},
      {"v_div_fixup_f16", decodeVector<divFixup>},
  });
}

//===-- VectorHalf.cpp - Half precision -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "HalfArith.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
Half subReversed(Half a, Half b) { return exactHalf(floatOf(b) - floatOf(a)); }
/// As multiplyAdd does for single precision.
Half multiplyAddHalf(Half a, Half b, Half c) {
  Half product = flushed(mulHalf(flushed(a), flushed(b)));
  return flushed(addHalf(product, flushed(c)));
}
Half middle(Half a, Half b, Half c) {
  return exactHalf(middleNumber(floatOf(a), floatOf(b), floatOf(c)));
}
Half leastMost(Half a, Half b, Half c) { return leastHalf(mostHalf(a, b), c); }
Half mostLeast(Half a, Half b, Half c) { return mostHalf(leastHalf(a, b), c); }
Half smallestLargest(Half a, Half b, Half c) {
  return minimumHalf(maximumHalf(a, b), c);
}
Half largestSmallest(Half a, Half b, Half c) {
  return maximumHalf(minimumHalf(a, b), c);
}
float fract(float a) { return fraction(a, 0x1.ffcp-1f); }

Half scaleBy(Half a, int16_t n) {
  return nearestHalf(std::ldexp(double(floatOf(a)), n));
}
Half mantissa(Half a) {
  int e;
  float f = floatOf(a);
  return std::isfinite(f) ? exactHalf(std::frexp(f, &e)) : a;
}
int16_t exponent(Half a) {
  int e = 0;
  if (std::isfinite(floatOf(a)))
    std::frexp(floatOf(a), &e);
  return int16_t(e);
}
Half divFixup(Half quotient, Half denominator, Half numerator) {
  float q = floatOf(quotient), d = floatOf(denominator), n = floatOf(numerator);
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
  return exactHalf(negative ? -r : r);
}
} // namespace

void tile::sim::amdgcn::registerVectorHalf(OpcodeTable &t) {
  constexpr Class special = Class::Special;
  t.insert({
      {"v_add_f16", decodeVector<addHalf>},
      {"v_sub_f16", decodeVector<subHalf>},
      {"v_subrev_f16", decodeVector<subReversed>},
      {"v_mul_f16", decodeVector<mulHalf>},
      {"v_fma_f16", decodeVector<fuseHalf>},
      {"v_fmac_f16", decodeAccumulate<fuseHalf>},
      {"v_fmamk_f16", decodeVector<fuseHalf>},
      {"v_fmaak_f16", decodeVector<fuseHalf>},
      {"v_fma_legacy_f16", decodeLegacy<fuseHalf>},
      {"v_mad_f16", decodeVector<multiplyAddHalf>},
      {"v_mad_legacy_f16", decodeLegacy<multiplyAddHalf>},
      {"v_mac_f16", decodeAccumulate<multiplyAddHalf>},
      {"v_madmk_f16", decodeLegacy<multiplyAddHalf>},
      {"v_madak_f16", decodeLegacy<multiplyAddHalf>},
      {"v_min_f16", decodeVector<leastHalf>},
      {"v_max_f16", decodeVector<mostHalf>},
      {"v_min3_f16", decodeVector<least3Half>},
      {"v_max3_f16", decodeVector<most3Half>},
      {"v_med3_f16", decodeVector<middle>},
      {"v_minmax_f16", decodeVector<mostLeast>},
      {"v_maxmin_f16", decodeVector<leastMost>},
      {"v_min_num_f16", decodeVector<leastHalf>},
      {"v_max_num_f16", decodeVector<mostHalf>},
      {"v_min3_num_f16", decodeVector<least3Half>},
      {"v_max3_num_f16", decodeVector<most3Half>},
      {"v_med3_num_f16", decodeVector<middle>},
      {"v_minmax_num_f16", decodeVector<mostLeast>},
      {"v_maxmin_num_f16", decodeVector<leastMost>},
      {"v_minimum_f16", decodeVector<minimumHalf>},
      {"v_maximum_f16", decodeVector<maximumHalf>},
      {"v_minimum3_f16", decodeVector<minimum3Half>},
      {"v_maximum3_f16", decodeVector<maximum3Half>},
      {"v_minimummaximum_f16", decodeVector<largestSmallest>},
      {"v_maximumminimum_f16", decodeVector<smallestLargest>},
      {"v_fract_f16", decodeVector<inHalf<fract>>},
      {"v_trunc_f16", decodeVector<inHalf<towardsZero<float>>>},
      {"v_ceil_f16", decodeVector<inHalf<upwards<float>>>},
      {"v_floor_f16", decodeVector<inHalf<downwards<float>>>},
      {"v_rndne_f16", decodeVector<inHalf<roundEven<float>>>},
      {"v_exp_f16", decodeVector<approximateHalf<powerOfTwo>, special>},
      {"v_log_f16", decodeVector<approximateHalf<logarithm>, special>},
      {"v_rcp_f16", decodeVector<approximateHalf<reciprocal>, special>},
      {"v_rsq_f16", decodeVector<approximateHalf<reciprocalRoot>, special>},
      {"v_sqrt_f16", decodeVector<approximateHalf<root>, special>},
      {"v_sin_f16", decodeVector<approximateHalf<sine>, special>},
      {"v_cos_f16", decodeVector<approximateHalf<cosine>, special>},
      {"v_ldexp_f16", decodeVector<scaleBy>},
      {"v_frexp_mant_f16", decodeVector<mantissa>},
      {"v_frexp_exp_i16_f16", decodeVector<exponent>},
      {"v_div_fixup_f16", decodeVector<divFixup>},
      {"v_div_fixup_legacy_f16", decodeLegacy<divFixup>},
  });
}

//===-- VectorFloat.cpp - Single precision --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The functions that hardware approximates are rounded once here, from double
// precision; like there, they neither take nor give subnormal numbers.
//
//===----------------------------------------------------------------------===//
#include "FloatArith.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
using F = float;

F add(F a, F b) { return a + b; }
F sub(F a, F b) { return a - b; }
F subReversed(F a, F b) { return b - a; }
F mul(F a, F b) { return a * b; }
F mulLegacy(F a, F b) { return a == 0 || b == 0 ? 0.0f : a * b; }
F multiplyAddLegacy(F a, F b, F c) {
  return flush(flush(mulLegacy(flush(a), flush(b))) + flush(c));
}
F fuse(F a, F b, F c) { return fusedFloat(a, b, c); }
} // namespace
template <> constexpr auto tile::sim::amdgcn::wideFormOf<fuse> = fuseFloats;
namespace {
F least3(F a, F b, F c) { return leastNumber(leastNumber(a, b), c); }
F most3(F a, F b, F c) { return mostNumber(mostNumber(a, b), c); }
F leastMost(F a, F b, F c) { return leastNumber(mostNumber(a, b), c); }
F mostLeast(F a, F b, F c) { return mostNumber(leastNumber(a, b), c); }
F minimum3(F a, F b, F c) { return minimum(minimum(a, b), c); }
F maximum3(F a, F b, F c) { return maximum(maximum(a, b), c); }
F minimumOfMaximum(F a, F b, F c) { return minimum(maximum(a, b), c); }
F maximumOfMinimum(F a, F b, F c) { return maximum(minimum(a, b), c); }
F fract(F a) { return fraction(a, 0x1.fffffep-1f); }
} // namespace

void tile::sim::amdgcn::registerVectorFloat(OpcodeTable &t) {
  constexpr Class special = Class::Special;
  t.insert({
      {"v_add_f32", decodeVector<add>},
      {"v_sub_f32", decodeVector<sub>},
      {"v_subrev_f32", decodeVector<subReversed>},
      {"v_mul_f32", decodeVector<mul>},
      {"v_mul_legacy_f32", decodeVector<mulLegacy>},
      {"v_mul_dx9_zero_f32", decodeVector<mulLegacy>},
      {"v_fma_f32", decodeVector<fuse>},
      {"v_fmac_f32", decodeAccumulate<fuse>},
      {"v_fmamk_f32", decodeVector<fuse>},
      {"v_fmaak_f32", decodeVector<fuse>},
      {"v_mad_f32", decodeVector<multiplyAdd>},
      {"v_mad_legacy_f32", decodeVector<multiplyAddLegacy>},
      {"v_mac_f32", decodeAccumulate<multiplyAdd>},
      {"v_madmk_f32", decodeVector<multiplyAdd>},
      {"v_madak_f32", decodeVector<multiplyAdd>},
      {"v_min_f32", decodeVector<leastNumber<F>>},
      {"v_max_f32", decodeVector<mostNumber<F>>},
      {"v_min3_f32", decodeVector<least3>},
      {"v_max3_f32", decodeVector<most3>},
      {"v_med3_f32", decodeVector<middleNumber<F>>},
      {"v_minmax_f32", decodeVector<mostLeast>},
      {"v_maxmin_f32", decodeVector<leastMost>},
      {"v_min_num_f32", decodeVector<leastNumber<F>>},
      {"v_max_num_f32", decodeVector<mostNumber<F>>},
      {"v_min3_num_f32", decodeVector<least3>},
      {"v_max3_num_f32", decodeVector<most3>},
      {"v_med3_num_f32", decodeVector<middleNumber<F>>},
      {"v_minmax_num_f32", decodeVector<mostLeast>},
      {"v_maxmin_num_f32", decodeVector<leastMost>},
      {"v_minimum_f32", decodeVector<minimum<F>>},
      {"v_maximum_f32", decodeVector<maximum<F>>},
      {"v_minimum3_f32", decodeVector<minimum3>},
      {"v_maximum3_f32", decodeVector<maximum3>},
      {"v_minimummaximum_f32", decodeVector<maximumOfMinimum>},
      {"v_maximumminimum_f32", decodeVector<minimumOfMaximum>},
      {"v_fract_f32", decodeVector<fract>},
      {"v_trunc_f32", decodeVector<towardsZero<F>>},
      {"v_ceil_f32", decodeVector<upwards<F>>},
      {"v_floor_f32", decodeVector<downwards<F>>},
      {"v_rndne_f32", decodeVector<roundEven<F>>},
      {"v_exp_f32", decodeVector<powerOfTwoFloat, special>},
      {"v_log_f32", decodeVector<approximateFloat<logarithm>, special>},
      {"v_rcp_f32", decodeVector<approximateFloat<reciprocal>, special>},
      {"v_rcp_iflag_f32", decodeVector<approximateFloat<reciprocal>, special>},
      {"v_rsq_f32", decodeVector<approximateFloat<reciprocalRoot>, special>},
      {"v_sqrt_f32", decodeVector<approximateFloat<root>, special>},
      {"v_sin_f32", decodeVector<approximateFloat<sine>, special>},
      {"v_cos_f32", decodeVector<approximateFloat<cosine>, special>},
      {"v_ldexp_f32", decodeVector<scaledBy<F>>},
      {"v_frexp_mant_f32", decodeVector<mantissaOf<F>>},
      {"v_frexp_exp_i32_f32", decodeVector<exponentOf<F>>},
      {"v_div_scale_f32", decodeDivScale<F>},
      {"v_div_fmas_f32", decodeDivFmas<F, fuse>},
      {"v_div_fixup_f32", decodeVector<Division<F>::mended>},
  });
}

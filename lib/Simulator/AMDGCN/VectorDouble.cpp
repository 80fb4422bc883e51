//===-- VectorDouble.cpp - Double precision -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FloatArith.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
using F = double;

F add(F a, F b) { return a + b; }
F mul(F a, F b) { return a * b; }
F fuse(F a, F b, F c) { return std::fma(a, b, c); }
F fract(F a) { return fraction(a, 0x1.fffffffffffffp-1); }
} // namespace

void tile::sim::amdgcn::registerVectorDouble(OpcodeTable &t) {
  constexpr Class special = Class::Special;
  t.insert({
      {"v_add_f64", decodeVector<add>},
      {"v_mul_f64", decodeVector<mul>},
      {"v_fma_f64", decodeVector<fuse>},
      {"v_fmac_f64", decodeAccumulate<fuse>},
      {"v_fmamk_f64", decodeVector<fuse>},
      {"v_fmaak_f64", decodeVector<fuse>},
      {"v_min_f64", decodeVector<leastNumber<F>>},
      {"v_max_f64", decodeVector<mostNumber<F>>},
      {"v_min_num_f64", decodeVector<leastNumber<F>>},
      {"v_max_num_f64", decodeVector<mostNumber<F>>},
      {"v_minimum_f64", decodeVector<minimum<F>>},
      {"v_maximum_f64", decodeVector<maximum<F>>},
      {"v_fract_f64", decodeVector<fract>},
      {"v_trunc_f64", decodeVector<towardsZero<F>>},
      {"v_ceil_f64", decodeVector<upwards<F>>},
      {"v_floor_f64", decodeVector<downwards<F>>},
      {"v_rndne_f64", decodeVector<roundEven<F>>},
      {"v_rcp_f64", decodeVector<reciprocal, special>},
      {"v_rsq_f64", decodeVector<reciprocalRoot, special>},
      {"v_sqrt_f64", decodeVector<root, special>},
      {"v_ldexp_f64", decodeVector<scaledBy<F>>},
      {"v_frexp_mant_f64", decodeVector<mantissaOf<F>>},
      {"v_frexp_exp_i32_f64", decodeVector<exponentOf<F>>},
      {"v_div_scale_f64", decodeDivScale<F>},
      {"v_div_fmas_f64", decodeDivFmas<F, fuse>},
      {"v_div_fixup_f64", decodeVector<Division<F>::mended>},
  });
}

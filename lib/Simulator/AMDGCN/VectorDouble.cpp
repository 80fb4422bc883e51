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

/// The fraction of 2 / pi, from its highest bit on.
constexpr uint64_t twoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab};

/// 53 of its bits, with which the argument of a sine is reduced: those of a
/// part that starts behind so many bits as the argument's exponent says.
F reducer(F a, uint32_t part) {
  int exponent = int(bitsOfDouble(a) >> 52 & 0x7ff);
  unsigned shift = (part & 31) * 53;
  if (exponent > 1077)
    shift += unsigned(exponent - 1077);
  uint64_t bits = 0;
  for (unsigned i = shift; i < shift + 53; ++i)
    bits = bits << 1 | (i < 1201 ? twoOverPi[i / 64] >> (63 - i % 64) & 1 : 0);
  return std::ldexp(double(bits),
                    -53 - int(shift) + (exponent >= 1968 ? 128 : 0));
}
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
      {"v_trig_preop_f64", decodeVector<reducer>},
      {"v_div_scale_f64", decodeDivScale<F>},
      {"v_div_fmas_f64", decodeDivFmas<F, fuse>},
      {"v_div_fixup_f64", decodeVector<Division<F>::mended>},
  });
}

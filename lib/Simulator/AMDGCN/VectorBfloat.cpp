//===-- VectorBfloat.cpp - bfloat16, of gfx1250 ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "BfloatArith.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
template <auto G> Bf16 approximate(Bf16 a) {
  return {bf16FromDouble(G(double(floatOf(a))))};
}
double hyperbolicTangent(double a) { return std::tanh(a); }
float tanhFloat(float a) { return float(std::tanh(double(a))); }
Half tanhHalf(Half a) {
  return {halfFromDouble(std::tanh(double(floatFromHalf(a.bits))))};
}
} // namespace

void tile::sim::amdgcn::registerVectorBfloat(OpcodeTable &t) {
  constexpr Class special = Class::Special;
  t.insert({
      {"v_fma_bf16", decodeVector<fuseBfloat>},
      {"v_exp_bf16", decodeVector<approximate<powerOfTwo>, special>},
      {"v_log_bf16", decodeVector<approximate<logarithm>, special>},
      {"v_rcp_bf16", decodeVector<approximate<reciprocal>, special>},
      {"v_rsq_bf16", decodeVector<approximate<reciprocalRoot>, special>},
      {"v_sqrt_bf16", decodeVector<approximate<root>, special>},
      {"v_sin_bf16", decodeVector<approximate<sine>, special>},
      {"v_cos_bf16", decodeVector<approximate<cosine>, special>},
      {"v_tanh_bf16", decodeVector<approximate<hyperbolicTangent>, special>},
      {"v_tanh_f16", decodeVector<tanhHalf, special>},
      {"v_tanh_f32", decodeVector<tanhFloat, special>},
  });
}

//===-- ScalarFloat.cpp - Floats of one value for the wave (gfx12) --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Scalar registers take signs where the instruction is one of the vector unit
// (v_s_exp_f32); MODE says what becomes of subnormal numbers, as for vectors.
// Halves are read from the low 16 bits of a register, whose upper ones a result
// makes 0.
//
//===----------------------------------------------------------------------===//
#include "HalfArith.h"
#include "ScalarLanes.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
using F = float;

F add(F a, F b) { return a + b; }
F sub(F a, F b) { return a - b; }
F mul(F a, F b) { return a * b; }
F fuse(F a, F b, F c) { return fusedFloat(a, b, c); }
F fromSigned(int32_t a) { return F(a); }
F fromUnsigned(uint32_t a) { return F(a); }
F fromLowHalf(uint32_t a) { return floatFromHalf(uint16_t(a)); }
F fromHighHalf(uint32_t a) { return floatFromHalf(uint16_t(a >> 16)); }
Half toHalf(F a) { return exactHalf(a); }
/// Two halves, towards zero.
uint32_t toHalves(F a, F b) {
  return halfTowardsZero(a) | uint32_t(halfTowardsZero(b)) << 16;
}
int32_t toSigned(F a) { return truncateTo<int32_t>(a); }
uint32_t toUnsigned(F a) { return truncateTo<uint32_t>(a); }

/// A comparison of floats, of halves.
template <auto G> SccOnly compareHalves(Half a, Half b) {
  return G(floatOf(a), floatOf(b));
}

struct Compare {
  static SccOnly less(F a, F b) { return {a < b}; }
  static SccOnly equal(F a, F b) { return {a == b}; }
  static SccOnly atMost(F a, F b) { return {a <= b}; }
  static SccOnly greater(F a, F b) { return {a > b}; }
  static SccOnly differ(F a, F b) { return {a < b || a > b}; }
  static SccOnly atLeast(F a, F b) { return {a >= b}; }
  static SccOnly ordered(F a, F b) { return {a == a && b == b}; }
  static SccOnly unordered(F a, F b) { return {a != a || b != b}; }
  static SccOnly notAtLeast(F a, F b) { return {!(a >= b)}; }
  static SccOnly notDiffer(F a, F b) { return {!(a < b || a > b)}; }
  static SccOnly notGreater(F a, F b) { return {!(a > b)}; }
  static SccOnly notAtMost(F a, F b) { return {!(a <= b)}; }
  static SccOnly notEqual(F a, F b) { return {!(a == b)}; }
  static SccOnly notLess(F a, F b) { return {!(a < b)}; }
};

/// mod[0], mod[1]: sources whose absolute value, and whose negation, is taken.
template <class T>
T argument(const Ctx &c, const Inst &inst, unsigned i, uint32_t mode) {
  T v = scalarOf<T>(c, inst.op[1 + i]);
  if constexpr (isFloating<T>) {
    v = changeSign(v, inst.mod[0] >> i & 1, inst.mod[1] >> i & 1);
    return flushes<T>(mode, true) ? flushed(v) : v;
  }
  return v;
}

template <auto G, class R, class... A, size_t... I>
Step run(Ctx &c, const Inst &inst, R (*)(A...), std::index_sequence<I...>) {
  uint32_t mode = waveOf(c).scalar[Mode];
  R r = G(argument<A>(c, inst, I, mode)...);
  if constexpr (std::is_same_v<R, SccOnly>) {
    waveOf(c).scalar[Scc] = r.scc;
  } else {
    if constexpr (isFloating<R>)
      r = flushes<R>(mode, false) ? flushed(r) : r;
    if constexpr (std::is_same_v<R, Half>)
      setScalar(c, inst.op[0], uint32_t(r.bits));
    else
      setScalar(c, inst.op[0], r);
  }
  return Step::Next;
}
template <auto G> Step exec(Ctx &c, const Inst &inst, uint32_t) {
  return []<class R, class... A>(Ctx &c, const Inst &inst, R (*g)(A...)) {
    return run<G>(c, inst, g, std::index_sequence_for<A...>());
  }(c, inst, G);
}

/// `Accumulates`: the result is the last source, too.
template <auto G, bool Accumulates, class R, class... A>
bool decodeSignature(InstDecoder &d, R (*)(A...)) {
  constexpr bool compares = std::is_same_v<R, SccOnly>;
  constexpr size_t named = sizeof...(A) - Accumulates, first = compares ? 0 : 1;
  if (d.target().generation < 12)
    return d.error("is of gfx12 and later");
  if (!d.expect(first + named, first + named))
    return false;
  constexpr Imm imm = (std::is_same_v<A, Half> || ...) ? Imm::F16 : Imm::F32;
  unsigned op = 1;
  for (size_t i = first; i < first + named; ++i, ++op) {
    d.inst.mod[0] |= uint8_t(d.operand(i).absolute << (op - 1));
    d.inst.mod[1] |= uint8_t(d.operand(i).negated << (op - 1));
    if (!d.scalar(i, 1, imm, op))
      return false;
  }
  if (Accumulates && !d.scalar(0, 1, imm, op))
    return false;
  if constexpr (compares)
    d.writeScalar(Scc, 1);
  else if (!d.scalarResult(0, 1, 0))
    return false;
  // Those of the vector unit have one value all the same.
  d.inst.mod[3] |= OneLane;
  return d.emit(exec<G>, compares ? Class::Compare : Class::Float32);
}
template <auto G, bool Accumulates = false> bool decode(InstDecoder &d) {
  return decodeSignature<G, Accumulates>(d, G);
}
} // namespace

void tile::sim::amdgcn::registerScalarFloat(OpcodeTable &t) {
  t.insert({
      {"s_add_f32", decode<add>},
      {"s_sub_f32", decode<sub>},
      {"s_mul_f32", decode<mul>},
      {"s_fmac_f32", decode<fuse, true>},
      {"s_fmamk_f32", decode<fuse>},
      {"s_fmaak_f32", decode<fuse>},
      {"s_min_num_f32", decode<leastNumber<F>>},
      {"s_max_num_f32", decode<mostNumber<F>>},
      {"s_minimum_f32", decode<minimum<F>>},
      {"s_maximum_f32", decode<maximum<F>>},
      {"s_trunc_f32", decode<towardsZero<F>>},
      {"s_ceil_f32", decode<upwards<F>>},
      {"s_floor_f32", decode<downwards<F>>},
      {"s_rndne_f32", decode<roundEven<F>>},
      {"s_cvt_f32_i32", decode<fromSigned>},
      {"s_cvt_f32_u32", decode<fromUnsigned>},
      {"s_cvt_f32_f16", decode<fromLowHalf>},
      {"s_cvt_hi_f32_f16", decode<fromHighHalf>},
      {"s_cvt_f16_f32", decode<toHalf>},
      {"s_cvt_i32_f32", decode<toSigned>},
      {"s_cvt_u32_f32", decode<toUnsigned>},
      {"v_s_exp_f32", decode<powerOfTwoFloat>},
      {"v_s_log_f32", decode<approximateFloat<logarithm>>},
      {"v_s_rcp_f32", decode<approximateFloat<reciprocal>>},
      {"v_s_rsq_f32", decode<approximateFloat<reciprocalRoot>>},
      {"v_s_sqrt_f32", decode<approximateFloat<root>>},
      {"s_cmp_lt_f32", decode<Compare::less>},
      {"s_cmp_eq_f32", decode<Compare::equal>},
      {"s_cmp_le_f32", decode<Compare::atMost>},
      {"s_cmp_gt_f32", decode<Compare::greater>},
      {"s_cmp_lg_f32", decode<Compare::differ>},
      {"s_cmp_ge_f32", decode<Compare::atLeast>},
      {"s_cmp_o_f32", decode<Compare::ordered>},
      {"s_cmp_u_f32", decode<Compare::unordered>},
      {"s_cmp_nge_f32", decode<Compare::notAtLeast>},
      {"s_cmp_nlg_f32", decode<Compare::notDiffer>},
      {"s_cmp_ngt_f32", decode<Compare::notGreater>},
      {"s_cmp_nle_f32", decode<Compare::notAtMost>},
      {"s_cmp_neq_f32", decode<Compare::notEqual>},
      {"s_cmp_nlt_f32", decode<Compare::notLess>},
      {"s_add_f16", decode<addHalf>},
      {"s_sub_f16", decode<subHalf>},
      {"s_mul_f16", decode<mulHalf>},
      {"s_fmac_f16", decode<fuseHalf, true>},
      {"s_min_num_f16", decode<leastHalf>},
      {"s_max_num_f16", decode<mostHalf>},
      {"s_minimum_f16", decode<minimumHalf>},
      {"s_maximum_f16", decode<maximumHalf>},
      {"s_trunc_f16", decode<inHalf<towardsZero<F>>>},
      {"s_ceil_f16", decode<inHalf<upwards<F>>>},
      {"s_floor_f16", decode<inHalf<downwards<F>>>},
      {"s_rndne_f16", decode<inHalf<roundEven<F>>>},
      {"s_cvt_pk_rtz_f16_f32", decode<toHalves>},
      {"v_s_exp_f16", decode<approximateHalf<powerOfTwo>>},
      {"v_s_log_f16", decode<approximateHalf<logarithm>>},
      {"v_s_rcp_f16", decode<approximateHalf<reciprocal>>},
      {"v_s_rsq_f16", decode<approximateHalf<reciprocalRoot>>},
      {"v_s_sqrt_f16", decode<approximateHalf<root>>},
      {"s_cmp_lt_f16", decode<compareHalves<Compare::less>>},
      {"s_cmp_eq_f16", decode<compareHalves<Compare::equal>>},
      {"s_cmp_le_f16", decode<compareHalves<Compare::atMost>>},
      {"s_cmp_gt_f16", decode<compareHalves<Compare::greater>>},
      {"s_cmp_lg_f16", decode<compareHalves<Compare::differ>>},
      {"s_cmp_ge_f16", decode<compareHalves<Compare::atLeast>>},
      {"s_cmp_o_f16", decode<compareHalves<Compare::ordered>>},
      {"s_cmp_u_f16", decode<compareHalves<Compare::unordered>>},
      {"s_cmp_nge_f16", decode<compareHalves<Compare::notAtLeast>>},
      {"s_cmp_nlg_f16", decode<compareHalves<Compare::notDiffer>>},
      {"s_cmp_ngt_f16", decode<compareHalves<Compare::notGreater>>},
      {"s_cmp_nle_f16", decode<compareHalves<Compare::notAtMost>>},
      {"s_cmp_neq_f16", decode<compareHalves<Compare::notEqual>>},
      {"s_cmp_nlt_f16", decode<compareHalves<Compare::notLess>>},
  });
}

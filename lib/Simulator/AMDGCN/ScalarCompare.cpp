//===-- ScalarCompare.cpp - SOPC and its forms with a constant ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ScalarLanes.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
template <class T> struct Compare {
  static SccOnly equal(T a, T b) { return {a == b}; }
  static SccOnly differ(T a, T b) { return {a != b}; }
  static SccOnly greater(T a, T b) { return {a > b}; }
  static SccOnly atLeast(T a, T b) { return {a >= b}; }
  static SccOnly less(T a, T b) { return {a < b}; }
  static SccOnly atMost(T a, T b) { return {a <= b}; }
};
template <class T, bool Set> SccOnly bitIs(T a, uint32_t b) {
  return {(a >> (b & (sizeof(T) * 8 - 1)) & 1) == Set};
}

/// The constant has 16 bits, with or without a sign.
template <class T, auto F> bool decodeConstant(InstDecoder &d) {
  if (!d.expect(2, 2) || d.operand(1).kind != Operand::Kind::Integer)
    return d.error("takes a register and a constant");
  int64_t n = d.operand(1).imm;
  d.inst.op[2] = d.constant(std::is_signed_v<T> ? uint32_t(int16_t(n))
                                                : uint32_t(uint16_t(n)));
  d.writeScalar(Scc, 1);
  return d.scalar(0, 1, Imm::B32, 1) && d.emit(execScalar<F>, Class::Compare);
}

template <class T>
void add(OpcodeTable &t, const char *const (&names)[6],
         const char *const (&constantNames)[6]) {
  using C = Compare<T>;
  const DecodeOpcode decoders[] = {
      decodeScalar<C::equal>,   decodeScalar<C::differ>,
      decodeScalar<C::greater>, decodeScalar<C::atLeast>,
      decodeScalar<C::less>,    decodeScalar<C::atMost>};
  const DecodeOpcode constants[] = {
      decodeConstant<T, C::equal>,   decodeConstant<T, C::differ>,
      decodeConstant<T, C::greater>, decodeConstant<T, C::atLeast>,
      decodeConstant<T, C::less>,    decodeConstant<T, C::atMost>};
  for (size_t i = 0; i < 6; ++i) {
    t.emplace(names[i], decoders[i]);
    t.emplace(constantNames[i], constants[i]);
  }
}
} // namespace

void tile::sim::amdgcn::registerScalarCompare(OpcodeTable &t) {
  add<int32_t>(t,
               {"s_cmp_eq_i32", "s_cmp_lg_i32", "s_cmp_gt_i32", "s_cmp_ge_i32",
                "s_cmp_lt_i32", "s_cmp_le_i32"},
               {"s_cmpk_eq_i32", "s_cmpk_lg_i32", "s_cmpk_gt_i32",
                "s_cmpk_ge_i32", "s_cmpk_lt_i32", "s_cmpk_le_i32"});
  add<uint32_t>(t,
                {"s_cmp_eq_u32", "s_cmp_lg_u32", "s_cmp_gt_u32", "s_cmp_ge_u32",
                 "s_cmp_lt_u32", "s_cmp_le_u32"},
                {"s_cmpk_eq_u32", "s_cmpk_lg_u32", "s_cmpk_gt_u32",
                 "s_cmpk_ge_u32", "s_cmpk_lt_u32", "s_cmpk_le_u32"});
  t.insert({{"s_cmp_eq_u64", decodeScalar<Compare<uint64_t>::equal>},
            {"s_cmp_lg_u64", decodeScalar<Compare<uint64_t>::differ>},
            {"s_bitcmp0_b32", decodeScalar<bitIs<uint32_t, false>>},
            {"s_bitcmp1_b32", decodeScalar<bitIs<uint32_t, true>>},
            {"s_bitcmp0_b64", decodeScalar<bitIs<uint64_t, false>>},
            {"s_bitcmp1_b64", decodeScalar<bitIs<uint64_t, true>>}});
}

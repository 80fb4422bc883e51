//===-- VectorInteger64.cpp - Integers of 64 bits, and of gfx1250 ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "VectorLanes.h"

#include <algorithm>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
using U = uint32_t;
using S = int32_t;
using U64 = uint64_t;
using S64 = int64_t;

U64 add(U64 a, U64 b) { return a + b; }
U64 sub(U64 a, U64 b) { return a - b; }
U64 mul(U64 a, U64 b) { return a * b; }
U64 madU(U a, U b, U64 c) { return U64(a) * b + c; }
U64 madS(S a, S b, U64 c) { return U64(S64(a) * b) + c; }
U mad32(U a, U b, U c) { return a * b + c; }

template <class T> T least(T a, T b) { return std::min(a, b); }
template <class T> T most(T a, T b) { return std::max(a, b); }
/// The sum has no more bits than its operands.
template <class T> T addMost(T a, T b, T c) {
  return std::max(T(U(a) + U(b)), c);
}
template <class T> T addLeast(T a, T b, T c) {
  return std::min(T(U(a) + U(b)), c);
}

/// Shifted, and brought into the range of 8 bits, two side by side.
template <S Least, S Most> uint16_t shiftPack(S a, S b, U by) {
  auto part = [&](S v) {
    return uint16_t(uint8_t(std::clamp(v >> (by & 31), Least, Most)));
  };
  return uint16_t(part(a) | part(b) << 8);
}
} // namespace

void tile::sim::amdgcn::registerVectorInteger64(OpcodeTable &t) {
  t.insert({
      {"v_add_nc_u64", decodeByBit<decodeVector<add>, LowBits>},
      {"v_sub_nc_u64", decodeByBit<decodeVector<sub>, LowBits>},
      {"v_mul_u64", decodeByBit<decodeVector<mul>, LowBits>},
      {"v_mad_nc_u64_u32", decodeVector<madU>},
      {"v_mad_nc_i64_i32", decodeVector<madS>},
      {"v_mad_u32", decodeVector<mad32>},
      {"v_min_i64", decodeVector<least<S64>>},
      {"v_min_u64", decodeVector<least<U64>>},
      {"v_max_i64", decodeVector<most<S64>>},
      {"v_max_u64", decodeVector<most<U64>>},
      {"v_add_max_i32", decodeVector<addMost<S>>},
      {"v_add_max_u32", decodeVector<addMost<U>>},
      {"v_add_min_i32", decodeVector<addLeast<S>>},
      {"v_add_min_u32", decodeVector<addLeast<U>>},
      {"v_ashr_pk_i8_i32", decodeVector<shiftPack<-128, 127>>},
      {"v_ashr_pk_u8_i32", decodeVector<shiftPack<0, 255>>},
  });
}

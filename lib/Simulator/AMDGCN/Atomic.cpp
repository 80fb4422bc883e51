//===-- Atomic.cpp - What atomics compute ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FloatArith.h"
#include "VectorMemory.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

template <class U> static U applyInteger(Atomic op, U old, U value, U compare) {
  using S = std::make_signed_t<U>;
  switch (op) {
  case Atomic::Swap:
    return value;
  case Atomic::CmpSwap:
    return old == compare ? value : old;
  case Atomic::Add:
    return old + value;
  case Atomic::Sub:
    return old - value;
  case Atomic::Rsub:
    return value - old;
  case Atomic::SMin:
    return U(std::min(S(old), S(value)));
  case Atomic::UMin:
    return std::min(old, value);
  case Atomic::SMax:
    return U(std::max(S(old), S(value)));
  case Atomic::UMax:
    return std::max(old, value);
  case Atomic::And:
    return old & value;
  case Atomic::Or:
    return old | value;
  case Atomic::Xor:
    return old ^ value;
  case Atomic::Inc:
    return old >= value ? 0 : old + 1;
  case Atomic::Dec:
    return old == 0 || old > value ? value : old - 1;
  default:
    return old;
  }
}

template <class T> static T applyFloat(Atomic op, T old, T value) {
  return op == Atomic::FAdd   ? old + value
         : op == Atomic::FMin ? leastNumber(old, value)
                              : mostNumber(old, value);
}

uint64_t tile::sim::amdgcn::applyAtomic(Atomic op, bool wide, uint64_t old,
                                        uint64_t value, uint64_t compare) {
  auto halves = [&](auto add) {
    return uint64_t(add(uint16_t(old), uint16_t(value))) |
           uint64_t(add(uint16_t(old >> 16), uint16_t(value >> 16))) << 16;
  };
  switch (op) {
  case Atomic::FAdd:
  case Atomic::FMin:
  case Atomic::FMax:
    if (wide)
      return bitsOfDouble(
          applyFloat(op, doubleOfBits(old), doubleOfBits(value)));
    return bitsOfFloat(applyFloat(op, floatOfBits(uint32_t(old)),
                                  floatOfBits(uint32_t(value))));
  case Atomic::PkAddF16:
    return halves([](uint16_t a, uint16_t b) {
      return halfFromFloat(floatFromHalf(a) + floatFromHalf(b));
    });
  case Atomic::PkAddBf16:
    return halves([](uint16_t a, uint16_t b) {
      return bf16FromFloat(floatFromBf16(a) + floatFromBf16(b));
    });
  default:
    return wide ? applyInteger<uint64_t>(op, old, value, compare)
                : applyInteger<uint32_t>(op, uint32_t(old), uint32_t(value),
                                         uint32_t(compare));
  }
}

const std::vector<AtomicName> &tile::sim::amdgcn::memoryAtomics() {
  static const std::vector<AtomicName> names = {
      {"swap", "swap_b32", Atomic::Swap, false},
      {"cmpswap", "cmpswap_b32", Atomic::CmpSwap, false},
      {"add", "add_u32", Atomic::Add, false},
      {"sub", "sub_u32", Atomic::Sub, false},
      {"smin", "min_i32", Atomic::SMin, false},
      {"umin", "min_u32", Atomic::UMin, false},
      {"smax", "max_i32", Atomic::SMax, false},
      {"umax", "max_u32", Atomic::UMax, false},
      {"and", "and_b32", Atomic::And, false},
      {"or", "or_b32", Atomic::Or, false},
      {"xor", "xor_b32", Atomic::Xor, false},
      {"inc", "inc_u32", Atomic::Inc, false},
      {"dec", "dec_u32", Atomic::Dec, false},
      {"swap_x2", "swap_b64", Atomic::Swap, true},
      {"cmpswap_x2", "cmpswap_b64", Atomic::CmpSwap, true},
      {"add_x2", "add_u64", Atomic::Add, true},
      {"sub_x2", "sub_u64", Atomic::Sub, true},
      {"smin_x2", "min_i64", Atomic::SMin, true},
      {"umin_x2", "min_u64", Atomic::UMin, true},
      {"smax_x2", "max_i64", Atomic::SMax, true},
      {"umax_x2", "max_u64", Atomic::UMax, true},
      {"and_x2", "and_b64", Atomic::And, true},
      {"or_x2", "or_b64", Atomic::Or, true},
      {"xor_x2", "xor_b64", Atomic::Xor, true},
      {"inc_x2", "inc_u64", Atomic::Inc, true},
      {"dec_x2", "dec_u64", Atomic::Dec, true},
      {"add_f32", nullptr, Atomic::FAdd, false},
      {"add_f64", nullptr, Atomic::FAdd, true},
      {"min_f64", "min_num_f64", Atomic::FMin, true},
      {"max_f64", "max_num_f64", Atomic::FMax, true},
      {"min_f32", "min_num_f32", Atomic::FMin, false},
      {"max_f32", "max_num_f32", Atomic::FMax, false},
      {"pk_add_f16", nullptr, Atomic::PkAddF16, false},
      {"pk_add_bf16", nullptr, Atomic::PkAddBf16, false},
  };
  return names;
}

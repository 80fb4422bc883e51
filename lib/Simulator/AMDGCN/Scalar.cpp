//===-- Scalar.cpp - SOP1, SOP2, SOPK: one value for the wave -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ScalarLanes.h"
#include "Values.h"

#include <bit>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
using U = uint32_t;
using S = int32_t;
using U64 = uint64_t;
using S64 = int64_t;

//===-- Arithmetic --------------------------------------------------------===//

WithScc<U> addU(U a, U b) { return {a + b, a + b < a}; }
WithScc<U> subU(U a, U b) { return {a - b, a < b}; }
WithScc<U> addS(U a, U b) {
  S r;
  bool over = __builtin_add_overflow(S(a), S(b), &r);
  return {U(r), over};
}
WithScc<U> subS(U a, U b) {
  S r;
  bool over = __builtin_sub_overflow(S(a), S(b), &r);
  return {U(r), over};
}
WithScc<U> addCarry(U a, U b, Flag c) {
  U64 r = U64(a) + b + c.isSet;
  return {U(r), r >> 32 != 0};
}
WithScc<U> subBorrow(U a, U b, Flag c) {
  return {a - b - c.isSet, U64(b) + c.isSet > a};
}
U64 addU64(U64 a, U64 b) { return a + b; }
U64 subU64(U64 a, U64 b) { return a - b; }
U64 mulU64(U64 a, U64 b) { return a * b; }
template <class T> WithScc<T> least(T a, T b) { return {a < b ? a : b, a < b}; }
template <class T> WithScc<T> most(T a, T b) { return {a > b ? a : b, a > b}; }
U mul(U a, U b) { return a * b; }
U mulHighU(U a, U b) { return U(U64(a) * b >> 32); }
U mulHighS(S a, S b) { return U(U64(S64(a) * b) >> 32); }
WithScc<U> absDiff(S a, S b) {
  U r = a > b ? U(a) - U(b) : U(b) - U(a);
  return {r, r != 0};
}
WithScc<U> absolute(S a) {
  U r = a < 0 ? 0 - U(a) : U(a);
  return {r, r != 0};
}
template <unsigned N> WithScc<U> shiftAdd(U a, U b) {
  U64 r = (U64(a) << N) + b;
  return {U(r), r >> 32 != 0};
}

//===-- Logic -------------------------------------------------------------===//

template <class T> struct Logic {
  static WithScc<T> result(T r) { return {r, r != 0}; }
  static WithScc<T> conj(T a, T b) { return result(a & b); }
  static WithScc<T> disj(T a, T b) { return result(a | b); }
  static WithScc<T> differ(T a, T b) { return result(a ^ b); }
  static WithScc<T> andNot(T a, T b) { return result(a & ~b); }
  static WithScc<T> orNot(T a, T b) { return result(a | ~b); }
  static WithScc<T> nand(T a, T b) { return result(~(a & b)); }
  static WithScc<T> nor(T a, T b) { return result(~(a | b)); }
  static WithScc<T> same(T a, T b) { return result(~(a ^ b)); }
  static WithScc<T> invert(T a) { return result(~a); }
  static T select(T a, T b, Flag c) { return c.isSet ? a : b; }
  static T move(T a) { return a; }
  static T reverse(T a) {
    T r = 0;
    for (unsigned i = 0; i < sizeof(T) * 8; ++i)
      r |= (a >> i & 1) << (sizeof(T) * 8 - 1 - i);
    return r;
  }
  static constexpr U bits = sizeof(T) * 8, last = bits - 1;
  static WithScc<T> left(T a, U b) { return result(T(a << (b & last))); }
  static WithScc<T> right(T a, U b) { return result(T(a >> (b & last))); }
  static WithScc<T> arithmetic(T a, U b) {
    return result(T(std::make_signed_t<T>(a) >> (b & last)));
  }
  static T mask(U a, U b) {
    return T(((T(1) << (a & last)) - 1) << (b & last));
  }
  /// Offset in bits 0 to 4 or 5, width from bit 16.
  static WithScc<T> extract(T a, U b) {
    U offset = b & last, width = b >> 16 & 127;
    T r = a >> offset;
    return result(width >= bits ? r : r & ((T(1) << width) - 1));
  }
  static WithScc<T> extractSigned(T a, U b) {
    U offset = b & last, width = b >> 16 & 127;
    if (width == 0)
      return {0, false};
    auto r = std::make_signed_t<T>(a) >> offset;
    if (width < bits)
      r = std::make_signed_t<T>(T(r) << (bits - width)) >> (bits - width);
    return result(T(r));
  }
  static WithScc<U> ones(T a) {
    U r = U(std::popcount(a));
    return {r, r != 0};
  }
  static WithScc<U> zeros(T a) {
    U r = U(std::popcount(T(~a)));
    return {r, r != 0};
  }
  static U firstOne(T a) { return a ? U(std::countr_zero(a)) : ~0u; }
  static U firstZero(T a) { return firstOne(T(~a)); }
  static U leadingZeros(T a) { return a ? U(std::countl_zero(a)) : ~0u; }
  static U leadingSigns(T a) {
    auto s = std::make_signed_t<T>(a);
    T other = T(s < 0 ? ~a : a);
    return other ? U(std::countl_zero(other)) : ~0u;
  }
};
U sext8(U a) { return U(S(int8_t(a))); }
U sext16(U a) { return U(S(int16_t(a))); }
U packLL(U a, U b) { return (a & 0xffff) | b << 16; }
U packLH(U a, U b) { return (a & 0xffff) | (b & 0xffff0000); }
U packHH(U a, U b) { return a >> 16 | (b & 0xffff0000); }
U packHL(U a, U b) { return a >> 16 | b << 16; }

//===-- What reads its destination ----------------------------------------===//

template <class T, bool Set>
Step execBitset(Ctx &c, const Inst &inst, uint32_t) {
  U bit = scalarOf<U>(c, inst.op[1]) & (sizeof(T) * 8 - 1);
  T value = scalarOf<T>(c, inst.op[0]);
  setScalar<T>(c, inst.op[0],
               Set ? T(value | T(1) << bit) : T(value & ~(T(1) << bit)));
  return Step::Next;
}
template <class T, bool Set> bool decodeBitset(InstDecoder &d) {
  return d.expect(2, 2) && d.scalar(1, 1, Imm::B32, 1) &&
         d.scalar(0, sizeof(T) / 4, Imm::B32, 2) &&
         d.scalarResult(0, sizeof(T) / 4, 0) &&
         d.emit(execBitset<T, Set>, Class::Logic);
}

template <class T> Step execConditional(Ctx &c, const Inst &inst, uint32_t) {
  if (waveOf(c).scalar[Scc])
    setScalar<T>(c, inst.op[0], scalarOf<T>(c, inst.op[1]));
  return Step::Next;
}
template <class T> bool decodeConditional(InstDecoder &d) {
  d.readScalar(Scc, 1);
  return d.expect(2, 2) && d.scalar(1, sizeof(T) / 4, Imm::B32, 1) &&
         d.scalar(0, sizeof(T) / 4, Imm::B32, 2) &&
         d.scalarResult(0, sizeof(T) / 4, 0) &&
         d.emit(execConditional<T>, Class::Move);
}

/// s_addk_i32, s_mulk_i32: op dst, 16-bit constant.
template <auto F> bool decodeWithConstant(InstDecoder &d) {
  if (!d.expect(2, 2) || d.operand(1).kind != Operand::Kind::Integer)
    return d.error("takes a register and a constant");
  if (!d.scalar(0, 1, Imm::B32, 1) || !d.scalarResult(0, 1, 0))
    return false;
  d.inst.op[2] = d.constant(U(int16_t(d.operand(1).imm)));
  if constexpr (ScalarTraits<decltype(F(0, 0))>::setsScc)
    d.writeScalar(Scc, 1);
  return d.emit(execScalar<F>, Class::Integer);
}
bool decodeMoveConstant(InstDecoder &d) {
  if (!d.expect(2, 2) || d.operand(1).kind != Operand::Kind::Integer)
    return d.error("takes a register and a constant");
  d.inst.op[1] = d.constant(U(int16_t(d.operand(1).imm)));
  return d.scalarResult(0, 1, 0) &&
         d.emit(execScalar<Logic<U>::move>, Class::Move);
}
//===-- Bits of their own
//---------------------------------------------------===//

/// Logic of which each bit of the result is that of the operands' bits there.
template <auto F, unsigned Words, uint8_t Table>
bool decodeBits(InstDecoder &d) {
  if (!decodeScalar<F>(d))
    return false;
  d.inst.mod[1] = Words;
  d.inst.mod[2] = Table;
  using Result =
      decltype([]<class R, class... A>(R (*)(A...)) -> R { return R{}; }(F));
  d.inst.mod[3] |= Bitwise | (ScalarTraits<Result>::setsScc ? WritesScc : 0);
  return true;
}
constexpr uint8_t tableOf(bool (*f)(bool, bool)) {
  return uint8_t(f(0, 0) | f(0, 1) << 1 | f(1, 0) << 2 | f(1, 1) << 3);
}

//===-- EXEC --------------------------------------------------------------===//

enum class Save : uint8_t {
  And,
  Or,
  Xor,
  AndNot,
  OrNot,
  NotAnd,
  NotOr,
  Nand,
  Nor,
  Same
};

/// Of the source and EXEC.
constexpr uint8_t tableOfSave(Save s) {
  switch (s) {
  case Save::And:
    return tableOf([](bool a, bool b) { return a && b; });
  case Save::Or:
    return tableOf([](bool a, bool b) { return a || b; });
  case Save::Xor:
    return tableOf([](bool a, bool b) { return a != b; });
  case Save::AndNot:
    return tableOf([](bool a, bool b) { return a && !b; });
  case Save::OrNot:
    return tableOf([](bool a, bool b) { return a || !b; });
  case Save::NotAnd:
    return tableOf([](bool a, bool b) { return !a && b; });
  case Save::NotOr:
    return tableOf([](bool a, bool b) { return !a || b; });
  case Save::Nand:
    return tableOf([](bool a, bool b) { return !(a && b); });
  case Save::Nor:
    return tableOf([](bool a, bool b) { return !(a || b); });
  case Save::Same:
    return tableOf([](bool a, bool b) { return a == b; });
  }
}

template <class T, Save S> Step execSave(Ctx &c, const Inst &inst, uint32_t) {
  uint32_t slot = uint32_t(offsetof(Wave, scalar) + Exec * 4);
  T old = scalarOf<T>(c, slot), source = scalarOf<T>(c, inst.op[1]), now = 0;
  switch (S) {
  case Save::And:
    now = source & old;
    break;
  case Save::Or:
    now = source | old;
    break;
  case Save::Xor:
    now = source ^ old;
    break;
  case Save::AndNot:
    now = source & ~old;
    break;
  case Save::OrNot:
    now = source | ~old;
    break;
  case Save::NotAnd:
    now = ~source & old;
    break;
  case Save::NotOr:
    now = ~source | old;
    break;
  case Save::Nand:
    now = ~(source & old);
    break;
  case Save::Nor:
    now = ~(source | old);
    break;
  case Save::Same:
    now = ~(source ^ old);
    break;
  }
  setScalar<T>(c, slot, now);
  setScalar<T>(c, inst.op[0], old);
  waveOf(c).scalar[Scc] = now != 0;
  return Step::Next;
}
template <class T, Save S> bool decodeSave(InstDecoder &d) {
  constexpr unsigned words = sizeof(T) / 4;
  d.readScalar(Exec, words);
  d.writeScalar(Exec, words);
  d.writeScalar(Scc, 1);
  d.inst.mod[0] = 1;
  d.inst.mod[1] = words;
  d.inst.mod[2] = tableOfSave(S);
  d.inst.mod[3] |= Bitwise | WritesScc;
  return d.expect(2, 2) && d.scalar(1, words, Imm::B64, 1) &&
         d.scalarResult(0, words, 0) && d.emit(execSave<T, S>, Class::Logic);
}

/// Whole quads: what a pixel shader needs.
template <class T> WithScc<T> wholeQuads(T a) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; i += 4)
    if (a >> i & 15)
      r |= T(15) << i;
  return {r, r != 0};
}

/// A bit for each quad.
template <class T> WithScc<T> quadMask(T a) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; i += 4)
    r |= T((a >> i & 15) != 0) << i / 4;
  return {r, r != 0};
}
U64 replicate(U a) {
  U64 r = 0;
  for (unsigned i = 0; i < 32; ++i)
    r |= U64(a >> i & 1 ? 3 : 0) << 2 * i;
  return r;
}

template <class T>
void addLogic(OpcodeTable &t, const char *const (&names)[16]) {
  using L = Logic<T>;
  constexpr unsigned W = sizeof(T) / 4;
  constexpr uint8_t conj = tableOfSave(Save::And), disj = tableOfSave(Save::Or),
                    differ = tableOfSave(Save::Xor),
                    andNot = tableOfSave(Save::AndNot),
                    orNot = tableOfSave(Save::OrNot), move = 12, invert = 3;
  const DecodeOpcode decoders[] = {
      decodeBits<L::conj, W, conj>,
      decodeBits<L::disj, W, disj>,
      decodeBits<L::differ, W, differ>,
      decodeBits<L::andNot, W, andNot>,
      decodeBits<L::orNot, W, orNot>,
      decodeBits<L::nand, W, 15 - conj>,
      decodeBits<L::nor, W, 15 - disj>,
      decodeBits<L::same, W, 15 - differ>,
      decodeBits<L::invert, W, invert>,
      decodeBits<L::select, W, Choice>,
      decodeBits<L::move, W, move>,
      decodeByBit<decodeScalar<L::reverse>, EachBit>,
      decodeByBit<decodeScalar<L::left>, EachBit | 2>,
      decodeByBit<decodeScalar<L::right>, EachBit | 2>,
      decodeBits<L::andNot, W, andNot>,
      decodeBits<L::orNot, W, orNot>};
  for (size_t i = 0; i < 16; ++i)
    t.emplace(names[i], decoders[i]);
}
template <class T>
void addSave(OpcodeTable &t, const char *const (&names)[14]) {
  const DecodeOpcode decoders[] = {
      decodeSave<T, Save::And>,    decodeSave<T, Save::Or>,
      decodeSave<T, Save::Xor>,    decodeSave<T, Save::AndNot>,
      decodeSave<T, Save::OrNot>,  decodeSave<T, Save::NotAnd>,
      decodeSave<T, Save::AndNot>, decodeSave<T, Save::NotAnd>,
      decodeSave<T, Save::NotOr>,  decodeSave<T, Save::NotOr>,
      decodeSave<T, Save::OrNot>,  decodeSave<T, Save::Nand>,
      decodeSave<T, Save::Nor>,    decodeSave<T, Save::Same>};
  for (size_t i = 0; i < 14; ++i)
    t.emplace(names[i], decoders[i]);
}
} // namespace

void tile::sim::amdgcn::registerScalar(OpcodeTable &t) {
  addLogic<U>(t,
              {"s_and_b32", "s_or_b32", "s_xor_b32", "s_andn2_b32",
               "s_orn2_b32", "s_nand_b32", "s_nor_b32", "s_xnor_b32",
               "s_not_b32", "s_cselect_b32", "s_mov_b32", "s_brev_b32",
               "s_lshl_b32", "s_lshr_b32", "s_and_not1_b32", "s_or_not1_b32"});
  addLogic<U64>(t, {"s_and_b64", "s_or_b64", "s_xor_b64", "s_andn2_b64",
                    "s_orn2_b64", "s_nand_b64", "s_nor_b64", "s_xnor_b64",
                    "s_not_b64", "s_cselect_b64", "s_mov_b64", "s_brev_b64",
                    "s_lshl_b64", "s_lshr_b64", "s_and_not1_b64",
                    "s_or_not1_b64"});
  addSave<U>(t, {"s_and_saveexec_b32", "s_or_saveexec_b32",
                 "s_xor_saveexec_b32", "s_andn2_saveexec_b32",
                 "s_orn2_saveexec_b32", "s_andn1_saveexec_b32",
                 "s_and_not1_saveexec_b32", "s_and_not0_saveexec_b32",
                 "s_or_not0_saveexec_b32", "s_orn1_saveexec_b32",
                 "s_or_not1_saveexec_b32", "s_nand_saveexec_b32",
                 "s_nor_saveexec_b32", "s_xnor_saveexec_b32"});
  addSave<U64>(t, {"s_and_saveexec_b64", "s_or_saveexec_b64",
                   "s_xor_saveexec_b64", "s_andn2_saveexec_b64",
                   "s_orn2_saveexec_b64", "s_andn1_saveexec_b64",
                   "s_and_not1_saveexec_b64", "s_and_not0_saveexec_b64",
                   "s_or_not0_saveexec_b64", "s_orn1_saveexec_b64",
                   "s_or_not1_saveexec_b64", "s_nand_saveexec_b64",
                   "s_nor_saveexec_b64", "s_xnor_saveexec_b64"});
  t.insert({
      {"s_add_u32", decodeByBit<decodeScalar<addU>, LowBits>},
      {"s_sub_u32", decodeByBit<decodeScalar<subU>, LowBits>},
      {"s_add_i32", decodeByBit<decodeScalar<addS>, LowBits>},
      {"s_sub_i32", decodeByBit<decodeScalar<subS>, LowBits>},
      {"s_addc_u32", decodeScalar<addCarry>},
      {"s_subb_u32", decodeScalar<subBorrow>},
      {"s_add_co_u32", decodeByBit<decodeScalar<addU>, LowBits>},
      {"s_sub_co_u32", decodeByBit<decodeScalar<subU>, LowBits>},
      {"s_add_co_i32", decodeByBit<decodeScalar<addS>, LowBits>},
      {"s_sub_co_i32", decodeByBit<decodeScalar<subS>, LowBits>},
      {"s_add_co_ci_u32", decodeScalar<addCarry>},
      {"s_sub_co_ci_u32", decodeScalar<subBorrow>},
      {"s_add_nc_u64", decodeByBit<decodeScalar<addU64>, LowBits>},
      {"s_sub_nc_u64", decodeByBit<decodeScalar<subU64>, LowBits>},
      {"s_mul_u64", decodeByBit<decodeScalar<mulU64>, LowBits>},
      {"s_min_i32", decodeScalar<least<S>>},
      {"s_min_u32", decodeScalar<least<U>>},
      {"s_max_i32", decodeScalar<most<S>>},
      {"s_max_u32", decodeScalar<most<U>>},
      {"s_mul_i32", decodeByBit<decodeScalar<mul>, LowBits>},
      {"s_mul_hi_u32", decodeScalar<mulHighU>},
      {"s_mul_hi_i32", decodeScalar<mulHighS>},
      {"s_absdiff_i32", decodeScalar<absDiff>},
      {"s_abs_i32", decodeScalar<absolute>},
      {"s_lshl1_add_u32", decodeByBit<decodeScalar<shiftAdd<1>>, LowBits>},
      {"s_lshl2_add_u32", decodeByBit<decodeScalar<shiftAdd<2>>, LowBits>},
      {"s_lshl3_add_u32", decodeByBit<decodeScalar<shiftAdd<3>>, LowBits>},
      {"s_lshl4_add_u32", decodeByBit<decodeScalar<shiftAdd<4>>, LowBits>},
      {"s_ashr_i32",
       decodeByBit<decodeScalar<Logic<U>::arithmetic>, EachBit | 2>},
      {"s_ashr_i64",
       decodeByBit<decodeScalar<Logic<U64>::arithmetic>, EachBit | 2>},
      {"s_bfm_b32", decodeScalar<Logic<U>::mask>},
      {"s_bfm_b64", decodeScalar<Logic<U64>::mask>},
      {"s_bfe_u32", decodeByBit<decodeScalar<Logic<U>::extract>, EachBit | 2>},
      {"s_bfe_i32",
       decodeByBit<decodeScalar<Logic<U>::extractSigned>, EachBit | 2>},
      {"s_bfe_u64",
       decodeByBit<decodeScalar<Logic<U64>::extract>, EachBit | 2>},
      {"s_bfe_i64",
       decodeByBit<decodeScalar<Logic<U64>::extractSigned>, EachBit | 2>},
      {"s_quadmask_b32", decodeScalar<quadMask<U>>},
      {"s_quadmask_b64", decodeScalar<quadMask<U64>>},
      {"s_bitreplicate_b64_b32", decodeScalar<replicate>},
      {"s_bcnt1_i32_b32", decodeScalar<Logic<U>::ones>},
      {"s_bcnt1_i32_b64", decodeScalar<Logic<U64>::ones>},
      {"s_bcnt0_i32_b32", decodeScalar<Logic<U>::zeros>},
      {"s_bcnt0_i32_b64", decodeScalar<Logic<U64>::zeros>},
      {"s_ff1_i32_b32", decodeScalar<Logic<U>::firstOne>},
      {"s_ff1_i32_b64", decodeScalar<Logic<U64>::firstOne>},
      {"s_ff0_i32_b32", decodeScalar<Logic<U>::firstZero>},
      {"s_ff0_i32_b64", decodeScalar<Logic<U64>::firstZero>},
      {"s_ctz_i32_b32", decodeScalar<Logic<U>::firstOne>},
      {"s_ctz_i32_b64", decodeScalar<Logic<U64>::firstOne>},
      {"s_flbit_i32_b32", decodeScalar<Logic<U>::leadingZeros>},
      {"s_flbit_i32_b64", decodeScalar<Logic<U64>::leadingZeros>},
      {"s_flbit_i32", decodeScalar<Logic<U>::leadingSigns>},
      {"s_flbit_i32_i64", decodeScalar<Logic<U64>::leadingSigns>},
      {"s_clz_i32_u32", decodeScalar<Logic<U>::leadingZeros>},
      {"s_clz_i32_u64", decodeScalar<Logic<U64>::leadingZeros>},
      {"s_cls_i32", decodeScalar<Logic<U>::leadingSigns>},
      {"s_cls_i32_i64", decodeScalar<Logic<U64>::leadingSigns>},
      {"s_sext_i32_i8", decodeByBit<decodeScalar<sext8>, EachBit>},
      {"s_sext_i32_i16", decodeByBit<decodeScalar<sext16>, EachBit>},
      {"s_pack_ll_b32_b16", decodeByBit<decodeScalar<packLL>, EachBit>},
      {"s_pack_lh_b32_b16", decodeByBit<decodeScalar<packLH>, EachBit>},
      {"s_pack_hh_b32_b16", decodeByBit<decodeScalar<packHH>, EachBit>},
      {"s_pack_hl_b32_b16", decodeByBit<decodeScalar<packHL>, EachBit>},
      {"s_wqm_b32", decodeScalar<wholeQuads<U>>},
      {"s_wqm_b64", decodeScalar<wholeQuads<U64>>},
      {"s_bitset0_b32", decodeByBit<decodeBitset<U, false>, EachBit | 1>},
      {"s_bitset1_b32", decodeByBit<decodeBitset<U, true>, EachBit | 1>},
      {"s_bitset0_b64", decodeByBit<decodeBitset<U64, false>, EachBit | 1>},
      {"s_bitset1_b64", decodeByBit<decodeBitset<U64, true>, EachBit | 1>},
      {"s_cmov_b32", decodeConditional<U>},
      {"s_cmov_b64", decodeConditional<U64>},
      {"s_cmovk_i32", decodeConditional<U>},
      {"s_movk_i32", decodeMoveConstant},
      {"s_addk_i32", decodeByBit<decodeWithConstant<addS>, LowBits>},
      {"s_addk_co_i32", decodeByBit<decodeWithConstant<addS>, LowBits>},
      {"s_mulk_i32", decodeByBit<decodeWithConstant<mul>, LowBits>},
  });
}

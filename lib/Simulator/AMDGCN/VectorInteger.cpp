//===-- VectorInteger.cpp - Integers and bits, lane by lane ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SaturatedSums.h"

#include <bit>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
using U = uint32_t;
using S = int32_t;
using U64 = uint64_t;
using S64 = int64_t;
using U16 = uint16_t;
using S16 = int16_t;

Bits32 move(Bits32 a) { return a; }
U64 move64(U64 a) { return a; }
U16 move16(U16 a) { return a; }
bool decodeMove64(InstDecoder &d) {
  d.inst.mod[3] |= EachWord;
  return decodeVector<move64, Class::Move>(d);
}

//===-- Sums and products -------------------------------------------------===//

U add(U a, U b) { return a + b; }
U sub(U a, U b) { return a - b; }
U subReversed(U a, U b) { return b - a; }
U add3(U a, U b, U c) { return a + b + c; }
U shiftAdd(U a, U b, U c) { return (a << (b & 31)) + c; }
U addShift(U a, U b, U c) { return (a + b) << (c & 31); }
U64 shiftAdd64(U64 a, U b, U64 c) { return (a << (b & 7)) + c; }
U mulLow(U a, U b) { return a * b; }
U mulHighU(U a, U b) { return U(U64(a) * b >> 32); }
U mulHighS(S a, S b) { return U(U64(S64(a) * b) >> 32); }
S sign24(U a) { return S(a << 8) >> 8; }
U mulU24(U a, U b) { return U(U64(a & 0xffffff) * (b & 0xffffff)); }
U mulHighU24(U a, U b) { return U(U64(a & 0xffffff) * (b & 0xffffff) >> 32); }
U mulS24(U a, U b) { return U(S64(sign24(a)) * sign24(b)); }
U mulHighS24(U a, U b) { return U(U64(S64(sign24(a)) * sign24(b)) >> 32); }
U madU24(U a, U b, U c) { return mulU24(a, b) + c; }
U madS24(U a, U b, U c) { return mulS24(a, b) + c; }
U madU16To32(U16 a, U16 b, U c) { return U(a) * b + c; }
U madS16To32(S16 a, S16 b, U c) { return U(S(a) * b) + c; }
U16 add16(U16 a, U16 b) { return U16(a + b); }
U16 sub16(U16 a, U16 b) { return U16(a - b); }
U16 subReversed16(U16 a, U16 b) { return U16(b - a); }
U16 mul16(U16 a, U16 b) { return U16(U(a) * b); }
U16 mad16(U16 a, U16 b, U16 c) { return U16(U(a) * b + c); }

template <auto F, auto Saturated> bool decodeSum(InstDecoder &d) {
  if (takeSaturation(d))
    return decodeVector<Saturated>(d);
  // Half a register is written for the rest.
  if constexpr (isNarrow<decltype(F(0, 0))>)
    return decodeVector<F>(d);
  else
    return decodeByBit<decodeVector<F>, LowBits>(d);
}

template <class T> T least(T a, T b) { return a < b ? a : b; }
template <class T> T most(T a, T b) { return a > b ? a : b; }
template <class T> T least3(T a, T b, T c) { return least(least(a, b), c); }
template <class T> T most3(T a, T b, T c) { return most(most(a, b), c); }
template <class T> T middle(T a, T b, T c) {
  return most(least(a, b), least(most(a, b), c));
}
template <class T> T leastMost(T a, T b, T c) { return least(most(a, b), c); }
template <class T> T mostLeast(T a, T b, T c) { return most(least(a, b), c); }

//===-- Bits --------------------------------------------------------------===//

U conj(U a, U b) { return a & b; }
U disj(U a, U b) { return a | b; }
U differ(U a, U b) { return a ^ b; }
U same(U a, U b) { return ~(a ^ b); }
U invert(U a) { return ~a; }
/// Of a shift register with feedback.
U nextRandom(U a) { return a << 1 ^ (a >> 31 ? 197 : 0); }
U16 conj16(U16 a, U16 b) { return a & b; }
U16 disj16(U16 a, U16 b) { return a | b; }
U16 differ16(U16 a, U16 b) { return a ^ b; }
U16 invert16(U16 a) { return U16(~a); }
U andOr(U a, U b, U c) { return (a & b) | c; }
U or3(U a, U b, U c) { return a | b | c; }
U xor3(U a, U b, U c) { return a ^ b ^ c; }
U xorAdd(U a, U b, U c) { return (a ^ b) + c; }
U shiftOr(U a, U b, U c) { return (a << (b & 31)) | c; }
U left(U a, U b) { return a << (b & 31); }
U leftReversed(U a, U b) { return b << (a & 31); }
U rightReversed(U a, U b) { return b >> (a & 31); }
U arithmeticReversed(U a, S b) { return U(b >> (a & 31)); }
U64 left64(U a, U64 b) { return b << (a & 63); }
U64 right64(U a, U64 b) { return b >> (a & 63); }
U64 arithmetic64(U a, S64 b) { return U64(b >> (a & 63)); }
U16 left16(U16 a, U16 b) { return U16(U(b) << (a & 15)); }
U16 right16(U16 a, U16 b) { return U16(b >> (a & 15)); }
U16 arithmetic16(U16 a, S16 b) { return U16(b >> (a & 15)); }
U bitfieldMask(U a, U b) { return ((1u << (a & 31)) - 1) << (b & 31); }
U bitfieldExtract(U a, U b, U c) {
  return a >> (b & 31) & ((1u << (c & 31)) - 1);
}
U bitfieldExtractSigned(S a, U b, U c) {
  U width = c & 31;
  if (!width)
    return 0;
  U value = U(a >> (b & 31)) << (32 - width);
  return U(S(value) >> (32 - width));
}
U bitfieldInsert(U a, U b, U c) { return (a & b) | (~a & c); }
U reverse(U a) {
  U r = 0;
  for (unsigned i = 0; i < 32; ++i)
    r |= (a >> i & 1) << (31 - i);
  return r;
}
U countAdd(U a, U b) { return U(std::popcount(a)) + b; }
U leadingZeros(U a) { return a ? U(std::countl_zero(a)) : ~0u; }
U trailingZeros(U a) { return a ? U(std::countr_zero(a)) : ~0u; }
U leadingSigns(U a) {
  U other = S(a) < 0 ? ~a : a;
  return other ? U(std::countl_zero(other)) : ~0u;
}
U alignBit(U a, U b, U c) { return U((U64(a) << 32 | b) >> (c & 31)); }
U alignByte(U a, U b, U c) { return U((U64(a) << 32 | b) >> 8 * (c & 3)); }
U permute(U a, U b, U c) {
  U64 in = U64(a) << 32 | b;
  U r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    U sel = c >> 8 * i & 255, byte;
    if (sel >= 13)
      byte = 255;
    else if (sel == 12)
      byte = 0;
    else if (sel >= 8)
      // The sign of one of the four words of 16 bits.
      byte = in >> (16 * (sel - 8) + 15) & 1 ? 255 : 0;
    else
      byte = U(in >> 8 * sel) & 255;
    r |= byte << 8 * i;
  }
  return r;
}
U byteDifference(U a, U b) { return a > b ? a - b : b - a; }
U sumDifferences(U a, U b, U c) {
  for (unsigned i = 0; i < 32; i += 8)
    c += byteDifference(a >> i & 255, b >> i & 255);
  return c;
}
U sumDifferences16(U a, U b, U c) {
  return c + byteDifference(a & 0xffff, b & 0xffff) +
         byteDifference(a >> 16, b >> 16);
}
U sumDifferencesHigh(U a, U b, U c) {
  return (sumDifferences(a, b, 0) << 16) + c;
}
/// Without those of which the second byte is 0.
U sumMaskedDifferences(U a, U b, U c) {
  for (unsigned i = 0; i < 32; i += 8)
    if (b >> i & 255)
      c += byteDifference(a >> i & 255, b >> i & 255);
  return c;
}
/// The means of bytes, rounded as the third says.
U meanBytes(U a, U b, U c) {
  U r = 0;
  for (unsigned i = 0; i < 32; i += 8)
    r |= ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1 << i;
  return r;
}
/// Two signed words into the range of bytes.
U16 packBytes(U a) {
  auto part = [](S v) { return U16(v < 0 ? 0 : v > 255 ? 255 : v); };
  return U16(part(S16(a)) | part(S16(a >> 16)) << 8);
}
U sumDifference32(U a, U b, U c) { return byteDifference(a, b) + c; }
U pack16(Half a, Half b) { return a.bits | U(b.bits) << 16; }

/// imm: the result's bit for each choice of the three sources' bits, of which
/// the first is the highest; the third of v_dual_bitop2 is 0.
template <class T> Step execBitop3(Ctx &c, const Inst &inst, uint32_t) {
  uint64_t mask = execOf(c);
  LaneMoves moves;
  const LaneMoves *used = takeMoves(c, inst, moves, mask);
  VectorSource<T> in[3];
  for (unsigned i = 0; i < 3; ++i)
    in[i].load(c, inst, inst.op[1 + i], i, used, ~0u);
  unsigned lanes = programOf(c).waveLanes;
  T out[64];
  for (unsigned l = 0; l < lanes; ++l) {
    T x = in[0].get(l / Lanes, l % Lanes), y = in[1].get(l / Lanes, l % Lanes),
      z = in[2].get(l / Lanes, l % Lanes), r = 0;
    for (unsigned i = 0; i < 8; ++i)
      if (inst.imm >> i & 1)
        r |= T((i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z));
    out[l] = r;
  }
  writeVector(c, inst, inst.op[0], out, mask);
  return Step::Next;
}
template <class T, unsigned Sources> bool decodeBitop(InstDecoder &d) {
  d.value("bitop3", d.inst.imm);
  d.inst.mod[2] = isNarrow<T>;
  if (!d.expect(Sources + 1, Sources + 1) || !d.takeModifiers(Sources, 1))
    return false;
  d.inst.op[3] = d.constant(0);
  for (unsigned i = 1; i <= Sources; ++i)
    if (!d.source(i, 1, immediateOf<T>(), i))
      return false;
  d.readMask(Exec);
  return d.vectorResult(0, 1, 0) && d.emit(execBitop3<T>, Class::Logic);
}

//===-- Carries -----------------------------------------------------------===//

enum class Carry : uint8_t { Add, Sub, SubReversed };

/// op: result, mask of carries out, two sources, mask of carries in.
template <Carry K, bool In> Step execCarry(Ctx &c, const Inst &inst, uint32_t) {
  uint64_t mask = execOf(c);
  unsigned lanes = programOf(c).waveLanes;
  uint64_t carries = In ? maskOf(c, inst.op[4]) : 0, outs = 0;
  LaneMoves moves;
  const LaneMoves *used = takeMoves(c, inst, moves, mask);
  VectorSource<U> a, b;
  a.load(c, inst, inst.op[2], 0, used, ~0u);
  b.load(c, inst, inst.op[3], 1, used, ~0u);
  U out[64];
  for (unsigned l = 0; l < lanes; ++l) {
    U64 x = a.get(l / Lanes, l % Lanes), y = b.get(l / Lanes, l % Lanes),
        in = carries >> l & 1;
    if (K == Carry::SubReversed)
      std::swap(x, y);
    U64 r = K == Carry::Add ? x + y + in : x - y - in;
    out[l] = U(r);
    outs |= (r >> 32 & 1) << l;
  }
  writeVector(c, inst, inst.op[0], out, mask);
  writeMask(c, inst.op[1], outs & mask);
  return Step::Next;
}
template <Carry K, bool In> bool decodeCarry(InstDecoder &d) {
  constexpr size_t count = In ? 5 : 4;
  if (!d.expect(count, count) || !d.takeModifiers(2, 2))
    return false;
  if (d.mods.clamp)
    return d.error("clamp is not supported here");
  return d.source(2, 1, Imm::B32, 2) && d.source(3, 1, Imm::B32, 3) &&
         (!In || d.maskSource(4, 4)) && d.vectorResult(0, 1, 0) &&
         d.maskResult(1, 1) && d.emit(execCarry<K, In>, Class::Integer);
}

/// v_cndmask_b32: op: result, sources, mask.
template <class T>
[[gnu::always_inline]] inline Step runSelect(Ctx &c, const Inst &inst) {
  uint64_t mask = execOf(c), chosen = maskOf(c, inst.op[3]);
  unsigned lanes = programOf(c).waveLanes;
  LaneMoves moves;
  const LaneMoves *used = takeMoves(c, inst, moves, mask);
  VectorSource<T> a, b;
  a.load(c, inst, inst.op[1], 0, used, ~0u);
  b.load(c, inst, inst.op[2], 1, used, ~0u);
  T out[64];
  for (unsigned h = 0; h < lanes / Lanes; ++h) {
    auto part = uint32_t(chosen >> h * Lanes);
    for (unsigned l = 0; l < Lanes; ++l) {
      // Both are read, so that the loop has no branch.
      T otherwise = a.get(h, l), then = b.get(h, l);
      out[h * Lanes + l] = (part >> l & 1) ? then : otherwise;
    }
  }
  writeVector(c, inst, inst.op[0], out, mask);
  return Step::Next;
}
template <class T> Step execSelect(Ctx &c, const Inst &inst, uint32_t) {
  return runSelect<T>(c, inst);
}
template <class T>
TILE_AVX2 Step execSelectAvx2(Ctx &c, const Inst &inst, uint32_t) {
  return runSelect<T>(c, inst);
}
template <class T> bool decodeSelect(InstDecoder &d) {
  // The short form with DPP or SDWA may leave out VCC.
  if (!d.expect(3, 4) || !d.takeModifiers(2, 1))
    return false;
  if (d.operandCount() == 3) {
    d.inst.op[3] = d.slotOf(File::Scalar, Vcc);
    d.readMask(Vcc);
  } else if (!d.maskSource(3, 3)) {
    return false;
  }
  return d.source(1, 1, immediateOf<T>(), 1) &&
         d.source(2, 1, immediateOf<T>(), 2) && d.vectorResult(0, 1, 0) &&
         (d.inst.mod[3] |= d.inst.mod[0] ? 0 : Chooses,
          d.emit(hasAvx2() ? execSelectAvx2<T> : execSelect<T>, Class::Move));
}

/// v_mad_u64_u32: op: result, mask of carries, sources.
template <bool Signed> Step execMad64(Ctx &c, const Inst &inst, uint32_t) {
  unsigned lanes = programOf(c).waveLanes;
  uint64_t outs = 0, exec = execOf(c);
  VectorSource<U> a, b;
  VectorSource<U64> add;
  a.load(c, inst.op[2]);
  b.load(c, inst.op[3]);
  add.load(c, inst.op[4]);
  U64 out[64];
  for (unsigned l = 0; l < lanes; ++l) {
    U x = a.get(l / Lanes, l % Lanes), y = b.get(l / Lanes, l % Lanes);
    U64 z = add.get(l / Lanes, l % Lanes);
    U64 product = Signed ? U64(S64(S(x)) * S(y)) : U64(x) * y;
    out[l] = product + z;
    S64 ignored;
    bool over = Signed ? __builtin_add_overflow(S64(product), S64(z), &ignored)
                       : out[l] < product;
    outs |= U64(over) << l;
  }
  writeVector(c, inst, inst.op[0], out, exec);
  writeMask(c, inst.op[1], outs & exec);
  return Step::Next;
}
template <bool Signed> bool decodeMad64(InstDecoder &d) {
  d.inst.mod[3] |= UpperLast;
  return d.expect(5, 5) && d.source(2, 1, Imm::B32, 2) &&
         d.source(3, 1, Imm::B32, 3) && d.source(4, 2, Imm::B64, 4) &&
         d.vectorResult(0, 2, 0) && d.maskResult(1, 1) &&
         d.emit(execMad64<Signed>, Class::Integer);
}

/// How many lanes before this one are in a mask.
template <bool High> Step execMaskCount(Ctx &c, const Inst &inst, uint32_t) {
  VectorSource<U> a, b;
  uint64_t mask = execOf(c);
  LaneMoves moves;
  const LaneMoves *used = takeMoves(c, inst, moves, mask);
  a.load(c, inst, inst.op[1], 0, used, ~0u);
  b.load(c, inst, inst.op[2], 1, used, ~0u);
  unsigned lanes = programOf(c).waveLanes;
  U out[64];
  for (unsigned l = 0; l < lanes; ++l) {
    U64 before = (U64(1) << l) - 1;
    U part = High ? U(before >> 32) : U(before);
    out[l] = U(std::popcount(a.get(l / Lanes, l % Lanes) & part)) +
             b.get(l / Lanes, l % Lanes);
  }
  writeVector(c, inst, inst.op[0], out, mask);
  return Step::Next;
}
template <bool High> bool decodeMaskCount(InstDecoder &d) {
  return d.expect(3, 3) && d.takeModifiers(2, 1) &&
         d.source(1, 1, Imm::B32, 1) && d.source(2, 1, Imm::B32, 2) &&
         d.vectorResult(0, 1, 0) && d.emit(execMaskCount<High>, Class::Integer);
}

Step execNothing(Ctx &, const Inst &, uint32_t) { return Step::Next; }
bool decodeNothing(InstDecoder &d) { return d.emit(execNothing, Class::Other); }
} // namespace

static void registerArithmetic(OpcodeTable &t) {
  t.insert({
      {"v_nop", decodeNothing},
      {"v_mov_b32", decodeByBit<decodeVector<move, Class::Move>, EachBit>},
      {"v_mov_b64", decodeByBit<decodeMove64, EachBit>},
      {"v_mov_b16", decodeVector<move16, Class::Move>},
      {"v_accvgpr_read_b32",
       decodeByBit<decodeVector<move, Class::Move>, EachBit>},
      {"v_accvgpr_write_b32",
       decodeByBit<decodeVector<move, Class::Move>, EachBit>},
      {"v_accvgpr_mov_b32",
       decodeByBit<decodeVector<move, Class::Move>, EachBit>},
      {"v_add_u32", decodeSum<add, addSaturated<U>>},
      {"v_add_nc_u32", decodeSum<add, addSaturated<U>>},
      {"v_add_nc_i32", decodeSum<add, addSaturated<S>>},
      {"v_sub_u32", decodeSum<sub, subSaturated<U>>},
      {"v_sub_nc_u32", decodeSum<sub, subSaturated<U>>},
      {"v_add_i32", decodeSum<add, addSaturated<S>>},
      {"v_sub_i32", decodeSum<sub, subSaturated<S>>},
      {"v_sub_nc_i32", decodeSum<sub, subSaturated<S>>},
      {"v_subrev_u32", decodeSum<subReversed, subSaturatedReversed<U>>},
      {"v_subrev_nc_u32", decodeSum<subReversed, subSaturatedReversed<U>>},
      {"v_add3_u32", decodeByBit<decodeVector<add3>, LowBits>},
      {"v_lshl_add_u32", decodeByBit<decodeVector<shiftAdd>, LowBits | 2>},
      {"v_add_lshl_u32", decodeByBit<decodeVector<addShift>, LowBits | 4>},
      {"v_lshl_add_u64", decodeByBit<decodeVector<shiftAdd64>, LowBits | 2>},
      {"v_mul_lo_u32", decodeByBit<decodeVector<mulLow>, LowBits>},
      {"v_mul_hi_u32", decodeVector<mulHighU>},
      {"v_mul_hi_i32", decodeVector<mulHighS>},
      {"v_mul_u32_u24", decodeVector<mulU24>},
      {"v_mul_hi_u32_u24", decodeVector<mulHighU24>},
      {"v_mul_i32_i24", decodeVector<mulS24>},
      {"v_mul_hi_i32_i24", decodeVector<mulHighS24>},
      {"v_mad_u32_u24", decodeVector<madU24>},
      {"v_mad_i32_i24", decodeVector<madS24>},
      {"v_mad_u32_u16", decodeVector<madU16To32>},
      {"v_mad_i32_i16", decodeVector<madS16To32>},
      {"v_add_u16", decodeSum<add16, addSaturated<U16>>},
      {"v_add_nc_u16", decodeSum<add16, addSaturated<U16>>},
      {"v_add_nc_i16", decodeSum<add16, addSaturated<S16>>},
      {"v_sub_u16", decodeSum<sub16, subSaturated<U16>>},
      {"v_sub_nc_u16", decodeSum<sub16, subSaturated<U16>>},
      {"v_sub_nc_i16", decodeSum<sub16, subSaturated<S16>>},
      {"v_subrev_u16", decodeSum<subReversed16, subSaturatedReversed<U16>>},
      {"v_mul_lo_u16", decodeVector<mul16>},
      {"v_mad_u16", decodeVector<mad16>},
      {"v_mad_i16", decodeVector<mad16>},
      {"v_mad_legacy_u16", decodeLegacy<mad16>},
      {"v_mad_legacy_i16", decodeLegacy<mad16>},
      {"v_min_i32", decodeVector<least<S>>},
      {"v_min_u32", decodeVector<least<U>>},
      {"v_max_i32", decodeVector<most<S>>},
      {"v_max_u32", decodeVector<most<U>>},
      {"v_min_i16", decodeVector<least<S16>>},
      {"v_min_u16", decodeVector<least<U16>>},
      {"v_max_i16", decodeVector<most<S16>>},
      {"v_max_u16", decodeVector<most<U16>>},
      {"v_min3_i32", decodeVector<least3<S>>},
      {"v_min3_u32", decodeVector<least3<U>>},
      {"v_max3_i32", decodeVector<most3<S>>},
      {"v_max3_u32", decodeVector<most3<U>>},
      {"v_med3_i32", decodeVector<middle<S>>},
      {"v_med3_u32", decodeVector<middle<U>>},
      {"v_min3_i16", decodeVector<least3<S16>>},
      {"v_min3_u16", decodeVector<least3<U16>>},
      {"v_max3_i16", decodeVector<most3<S16>>},
      {"v_max3_u16", decodeVector<most3<U16>>},
      {"v_med3_i16", decodeVector<middle<S16>>},
      {"v_med3_u16", decodeVector<middle<U16>>},
      {"v_maxmin_i32", decodeVector<leastMost<S>>},
      {"v_maxmin_u32", decodeVector<leastMost<U>>},
      {"v_minmax_i32", decodeVector<mostLeast<S>>},
      {"v_minmax_u32", decodeVector<mostLeast<U>>},
  });
}

static void registerBits(OpcodeTable &t) {
  t.insert({
      {"v_and_b32", decodeByBit<decodeVector<conj, Class::Logic>, EachBit>},
      {"v_or_b32", decodeByBit<decodeVector<disj, Class::Logic>, EachBit>},
      {"v_xor_b32", decodeByBit<decodeVector<differ, Class::Logic>, EachBit>},
      {"v_xnor_b32", decodeByBit<decodeVector<same, Class::Logic>, EachBit>},
      {"v_not_b32", decodeByBit<decodeVector<invert, Class::Logic>, EachBit>},
      {"v_prng_b32", decodeVector<nextRandom, Class::Logic>},
      {"v_and_b16", decodeVector<conj16, Class::Logic>},
      {"v_or_b16", decodeVector<disj16, Class::Logic>},
      {"v_xor_b16", decodeVector<differ16, Class::Logic>},
      {"v_not_b16", decodeVector<invert16, Class::Logic>},
      {"v_and_or_b32", decodeByBit<decodeVector<andOr, Class::Logic>, EachBit>},
      {"v_or3_b32", decodeByBit<decodeVector<or3, Class::Logic>, EachBit>},
      {"v_xor3_b32", decodeByBit<decodeVector<xor3, Class::Logic>, EachBit>},
      {"v_xad_u32", decodeVector<xorAdd>},
      {"v_lshl_or_b32",
       decodeByBit<decodeVector<shiftOr, Class::Logic>, EachBit | 2>},
      {"v_lshl_b32",
       decodeByBit<decodeVector<left, Class::Logic>, EachBit | 2>},
      {"v_lshlrev_b32",
       decodeByBit<decodeVector<leftReversed, Class::Logic>, EachBit | 1>},
      {"v_lshrrev_b32",
       decodeByBit<decodeVector<rightReversed, Class::Logic>, EachBit | 1>},
      {"v_ashrrev_i32",
       decodeByBit<decodeVector<arithmeticReversed, Class::Logic>,
                   EachBit | 1>},
      {"v_lshlrev_b64",
       decodeByBit<decodeVector<left64, Class::Logic>, EachBit | 1>},
      {"v_lshrrev_b64",
       decodeByBit<decodeVector<right64, Class::Logic>, EachBit | 1>},
      {"v_ashrrev_i64",
       decodeByBit<decodeVector<arithmetic64, Class::Logic>, EachBit | 1>},
      {"v_lshlrev_b16", decodeVector<left16, Class::Logic>},
      {"v_lshrrev_b16", decodeVector<right16, Class::Logic>},
      {"v_ashrrev_i16", decodeVector<arithmetic16, Class::Logic>},
      {"v_bitop2_b32", decodeByBit<decodeBitop<U, 2>, EachBit>},
      {"v_bitop3_b32", decodeByBit<decodeBitop<U, 3>, EachBit>},
      {"v_bitop3_b16", decodeBitop<U16, 3>},
      {"v_bfm_b32", decodeVector<bitfieldMask, Class::Logic>},
      {"v_bfe_u32",
       decodeByBit<decodeVector<bitfieldExtract, Class::Logic>, EachBit | 6>},
      {"v_bfe_i32",
       decodeByBit<decodeVector<bitfieldExtractSigned, Class::Logic>,
                   EachBit | 6>},
      {"v_bfi_b32",
       decodeByBit<decodeVector<bitfieldInsert, Class::Logic>, EachBit>},
      {"v_bfrev_b32",
       decodeByBit<decodeVector<reverse, Class::Logic>, EachBit>},
      {"v_bcnt_u32_b32", decodeVector<countAdd, Class::Logic>},
      {"v_ffbh_u32", decodeVector<leadingZeros, Class::Logic>},
      {"v_ffbl_b32", decodeVector<trailingZeros, Class::Logic>},
      {"v_ffbh_i32", decodeVector<leadingSigns, Class::Logic>},
      {"v_clz_i32_u32", decodeVector<leadingZeros, Class::Logic>},
      {"v_ctz_i32_b32", decodeVector<trailingZeros, Class::Logic>},
      {"v_cls_i32", decodeVector<leadingSigns, Class::Logic>},
      {"v_alignbit_b32",
       decodeByBit<decodeVector<alignBit, Class::Logic>, EachBit | 4>},
      {"v_alignbyte_b32",
       decodeByBit<decodeVector<alignByte, Class::Logic>, EachBit | 4>},
      {"v_perm_b32",
       decodeByBit<decodeVector<permute, Class::Logic>, EachBit | 4>},
  });
}

/// Sums of parts of registers, carries, and what looks at masks of lanes.
static void registerSums(OpcodeTable &t) {
  t.insert({
      {"v_sad_u8", decodeVector<sumDifferences>},
      {"v_sad_u32", decodeVector<sumDifference32>},
      {"v_sad_u16", decodeVector<sumDifferences16>},
      {"v_sad_hi_u8", decodeVector<sumDifferencesHigh>},
      {"v_msad_u8", decodeVector<sumMaskedDifferences>},
      {"v_lerp_u8", decodeVector<meanBytes>},
      {"v_sat_pk_u8_i16", decodeVector<packBytes>},
      {"v_add_i16", decodeSum<add16, addSaturated<S16>>},
      {"v_sub_i16", decodeSum<sub16, subSaturated<S16>>},
      {"v_pack_b32_f16", decodeVector<pack16, Class::Move>},
      {"v_cndmask_b32", decodeByBit<decodeSelect<Bits32>, EachBit | 4>},
      {"v_cndmask_b16", decodeSelect<Half>},
      {"v_add_co_u32", decodeCarry<Carry::Add, false>},
      {"v_sub_co_u32", decodeCarry<Carry::Sub, false>},
      {"v_subrev_co_u32", decodeCarry<Carry::SubReversed, false>},
      {"v_addc_co_u32", decodeCarry<Carry::Add, true>},
      {"v_subb_co_u32", decodeCarry<Carry::Sub, true>},
      {"v_subbrev_co_u32", decodeCarry<Carry::SubReversed, true>},
      {"v_add_co_ci_u32", decodeCarry<Carry::Add, true>},
      {"v_sub_co_ci_u32", decodeCarry<Carry::Sub, true>},
      {"v_subrev_co_ci_u32", decodeCarry<Carry::SubReversed, true>},
      {"v_mad_u64_u32", decodeMad64<false>},
      {"v_mad_i64_i32", decodeMad64<true>},
      {"v_mad_co_u64_u32", decodeMad64<false>},
      {"v_mad_co_i64_i32", decodeMad64<true>},
      {"v_mbcnt_lo_u32_b32", decodeMaskCount<false>},
      {"v_mbcnt_hi_u32_b32", decodeMaskCount<true>},
  });
}

void tile::sim::amdgcn::registerVectorInteger(OpcodeTable &t) {
  registerArithmetic(t);
  registerBits(t);
  registerSums(t);
}

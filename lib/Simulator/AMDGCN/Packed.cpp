//===-- Packed.cpp - VOP3P: several values in a register ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// op_sel says which half of each source makes the low half of the result,
// op_sel_hi which makes the high one; neg_lo and neg_hi change their signs.
//
//===----------------------------------------------------------------------===//
#include "BfloatArith.h"
#include "HalfArith.h"
#include "SaturatedSums.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
const Modifiers &modifiersOf(const Ctx &c, const Inst &inst) {
  static const Modifiers plain;
  return inst.mod[0] ? programOf(c).modifiers[inst.ext] : plain;
}

//===-- Two halves --------------------------------------------------------===//

template <class T> T halfOf(uint32_t word, bool high, bool negate) {
  auto bits = uint16_t(high ? word >> 16 : word);
  if constexpr (isFloating<T>)
    return T{uint16_t(negate ? bits ^ 0x8000 : bits)};
  else
    return T(bits);
}
template <class T> uint16_t clamped(T v, const Modifiers &m) {
  if constexpr (std::is_same_v<T, Half>)
    return m.clamp ? halfFromFloat(saturate(floatFromHalf(v.bits))) : v.bits;
  else if constexpr (std::is_same_v<T, Bf16>)
    return m.clamp ? bf16FromFloat(saturate(floatFromBf16(v.bits))) : v.bits;
  else
    return uint16_t(v);
}

template <auto F, class R, class... A, size_t... I>
Step runPacked(Ctx &c, const Inst &inst, R (*)(A...),
               std::index_sequence<I...>) {
  const Modifiers &m = modifiersOf(c, inst);
  std::tuple<std::conditional_t<true, VectorSource<uint32_t>, A>...> in;
  (std::get<I>(in).load(c, inst.op[1 + I]), ...);
  unsigned lanes = programOf(c).waveLanes;
  uint32_t out[64];
  for (unsigned l = 0; l < lanes; ++l) {
    uint16_t half[2];
    for (unsigned p = 0; p < 2; ++p) {
      unsigned select = p ? m.opSelHigh : m.opSel,
               negate = p ? m.negateHigh : m.negate;
      half[p] = clamped(F(halfOf<A>(std::get<I>(in).get(l / Lanes, l % Lanes),
                                    select >> I & 1, negate >> I & 1)...),
                        m);
    }
    out[l] = half[0] | uint32_t(half[1]) << 16;
  }
  Inst plain = inst;
  plain.mod[0] = 0;
  writeVector(c, plain, inst.op[0], out, execOf(c));
  return Step::Next;
}
template <auto F, class R, class... A>
Step runPackedSignature(Ctx &c, const Inst &inst, R (*f)(A...)) {
  return runPacked<F>(c, inst, f, std::index_sequence_for<A...>());
}
template <auto F> Step execPacked(Ctx &c, const Inst &inst, uint32_t) {
  return runPackedSignature<F>(c, inst, F);
}
template <auto F, class R, class... A>
bool decodePackedSignature(InstDecoder &d, R (*)(A...)) {
  constexpr unsigned sources = sizeof...(A);
  if (!d.expect(sources + 1, sources + 1) || !d.takeModifiers(sources, 1))
    return false;
  constexpr Imm imm = std::is_same_v<R, Half>   ? Imm::PackedF16
                      : std::is_same_v<R, Bf16> ? Imm::PackedBF16
                                                : Imm::B32;
  if (d.mods.clamp && !isFloating<R>)
    return d.error("clamp is not supported here");
  for (unsigned i = 1; i <= sources; ++i)
    if (!d.source(i, 1, imm, i))
      return false;
  return d.vectorResult(0, 1, 0) && d.emit(execPacked<F>, classOf<R>());
}
template <auto F> bool decodePacked(InstDecoder &d) {
  return decodePackedSignature<F>(d, F);
}

template <auto F, auto Saturated> bool decodePackedSum(InstDecoder &d) {
  return takeSaturation(d) ? decodePacked<Saturated>(d) : decodePacked<F>(d);
}

using U16 = uint16_t;
using S16 = int16_t;
U16 add16(U16 a, U16 b) { return U16(a + b); }
U16 sub16(U16 a, U16 b) { return U16(a - b); }
U16 mul16(U16 a, U16 b) { return U16(uint32_t(a) * b); }
U16 mad16(U16 a, U16 b, U16 c) { return U16(uint32_t(a) * b + c); }
template <class T> T least(T a, T b) { return a < b ? a : b; }
template <class T> T most(T a, T b) { return a > b ? a : b; }
template <class T> T least3(T a, T b, T c) { return least(least(a, b), c); }
template <class T> T most3(T a, T b, T c) { return most(most(a, b), c); }
template <class T> T addLeast(T a, T b, T c) { return least(T(a + b), c); }
template <class T> T addMost(T a, T b, T c) { return most(T(a + b), c); }
U16 left16(U16 a, U16 b) { return U16(uint32_t(b) << (a & 15)); }
U16 right16(U16 a, U16 b) { return U16(b >> (a & 15)); }
S16 arithmetic16(S16 a, S16 b) { return S16(b >> (a & 15)); }

//===-- Two floats --------------------------------------------------------===//

enum class Pair : uint8_t { Add, Mul, Fma, Move };

/// op: result, sources. Each word of the result is made of one word of each
/// source, which op_sel and op_sel_hi choose.
template <Pair K>
[[gnu::always_inline]] inline Step runPair(Ctx &c, const Inst &inst) {
  const Modifiers &m = modifiersOf(c, inst);
  constexpr unsigned sources = K == Pair::Fma ? 3 : 2;
  unsigned lanes = programOf(c).waveLanes;
  uint32_t mode = waveOf(c).scalar[Mode];
  alignas(64) float out[2][64];
  for (unsigned p = 0; p < 2; ++p) {
    VectorSource<float> in[sources];
    for (unsigned i = 0; i < sources; ++i) {
      uint32_t slot = inst.op[1 + i], word = slot & ScalarBit ? 4 : lanes * 4;
      bool high = (p ? m.opSelHigh : m.opSel) >> i & 1;
      in[i].load(c, high ? slot + word : slot);
      in[i].change(lanes, false, (p ? m.negateHigh : m.negate) >> i & 1,
                   flushes<float>(mode, true));
    }
    for (unsigned h = 0; h < lanes / Lanes; ++h) {
      float *to = out[p] + h * Lanes;
      if constexpr (K == Pair::Fma)
        fuseFloats(in[0].words(h), in[1].words(h), in[2].words(h), to);
      else
        for (unsigned l = 0; l < Lanes; ++l)
          to[l] = K == Pair::Add ? in[0].get(h, l) + in[1].get(h, l)
                                 : in[0].get(h, l) * in[1].get(h, l);
    }
    if (m.clamp || flushes<float>(mode, false))
      for (float &v : std::span(out[p], lanes)) {
        v = m.clamp ? saturate(v) : v;
        v = flushes<float>(mode, false) ? flushed(v) : v;
      }
  }
  Inst plain = inst;
  plain.mod[0] = 0;
  for (unsigned p = 0; p < 2; ++p)
    writeVector(c, plain, inst.op[0] + p * lanes * 4, out[p], execOf(c));
  return Step::Next;
}
template <Pair K> Step execPair(Ctx &c, const Inst &inst, uint32_t) {
  return runPair<K>(c, inst);
}
template <Pair K>
TILE_AVX2 Step execPairAvx2(Ctx &c, const Inst &inst, uint32_t) {
  return runPair<K>(c, inst);
}

/// v_pk_mov_b32: word p of the result is a word of source p, as op_sel says.
Step execMovePair(Ctx &c, const Inst &inst, uint32_t) {
  const Modifiers &m = modifiersOf(c, inst);
  unsigned lanes = programOf(c).waveLanes;
  uint64_t out[64];
  VectorSource<uint64_t> in[2];
  in[0].load(c, inst.op[1]);
  in[1].load(c, inst.op[2]);
  for (unsigned l = 0; l < lanes; ++l) {
    auto word = [&](unsigned p) {
      return in[p].get(l / Lanes, l % Lanes) >> (m.opSel >> p & 1 ? 32 : 0) &
             0xffffffff;
    };
    out[l] = word(0) | word(1) << 32;
  }
  Inst plain = inst;
  plain.mod[0] = 0;
  writeVector(c, plain, inst.op[0], out, execOf(c));
  return Step::Next;
}
template <Pair K> bool decodePair(InstDecoder &d) {
  constexpr unsigned sources = K == Pair::Fma ? 3 : 2;
  if (!d.expect(sources + 1, sources + 1) || !d.takeModifiers(sources, 1))
    return false;
  for (unsigned i = 1; i <= sources; ++i) {
    const Operand &o = d.operand(i);
    bool isRegister = o.kind == Operand::Kind::Register,
         isZero = o.kind == Operand::Kind::Integer && o.imm == 0;
    // A move takes one word of each source, and op_sel alone says which.
    unsigned highWords =
        d.mods.opSel | (K == Pair::Move ? 0 : d.mods.opSelHigh);
    if (!isRegister && !isZero && (highWords >> (i - 1) & 1))
      return d.error("the upper half of the constant '" + o.text +
                     "' has no value");
    uint32_t before = d.inst.regCount;
    if (!d.source(i, 2, isRegister ? Imm::B64 : Imm::F32, i))
      return false;
    if (d.inst.regCount < before + 2)
      continue;
    // A word that is not selected may hold no value.
    bool low = d.mods.opSel >> (i - 1) & 1,
         high = K == Pair::Move ? low : d.mods.opSelHigh >> (i - 1) & 1;
    if (low == high)
      d.forgetUse(low ? 0 : 1);
  }
  if (K == Pair::Move)
    d.inst.mod[3] |= EachWord;
  return d.vectorResult(0, 2, 0) &&
         (K == Pair::Move ? d.emit(execMovePair, Class::Move)
                          : d.emit(hasAvx2() ? execPairAvx2<K> : execPair<K>,
                                   Class::Float32));
}

//===-- Halves and floats mixed -------------------------------------------===//

enum class Mix : uint8_t { Float, Low, High };

/// op_sel_hi: the source is a half, which op_sel chooses.
template <Mix K, bool IsBf16> Step execMix(Ctx &c, const Inst &inst, uint32_t) {
  const Modifiers &m = modifiersOf(c, inst);
  VectorSource<uint32_t> in[3];
  for (unsigned i = 0; i < 3; ++i)
    in[i].load(c, inst.op[1 + i]);
  unsigned lanes = programOf(c).waveLanes;
  auto *to = c.dst<uint32_t>(inst.op[0]);
  uint32_t out[64];
  for (unsigned l = 0; l < lanes; ++l) {
    float v[3];
    for (unsigned i = 0; i < 3; ++i) {
      uint32_t word = in[i].get(l / Lanes, l % Lanes);
      auto half = uint16_t(m.opSel >> i & 1 ? word >> 16 : word);
      float f = !(m.opSelHigh >> i & 1) ? floatOfBits(word)
                : IsBf16                ? floatFromBf16(half)
                                        : floatFromHalf(half);
      f = m.absolute >> i & 1 ? std::fabs(f) : f;
      v[i] = m.negate >> i & 1 ? -f : f;
    }
    if (K == Mix::Float) {
      float r = fusedFloat(v[0], v[1], v[2]);
      out[l] = bitsOfFloat(m.clamp ? saturate(r) : r);
      continue;
    }
    double r = addToOdd(double(v[0]) * double(v[1]), double(v[2]));
    r = m.clamp ? saturate(r) : r;
    uint32_t h = IsBf16 ? bf16FromDouble(r) : halfFromDouble(r);
    out[l] =
        K == Mix::Low ? (to[l] & 0xffff0000) | h : (to[l] & 0xffff) | h << 16;
  }
  Inst plain = inst;
  plain.mod[0] = 0;
  writeVector(c, plain, inst.op[0], out, execOf(c));
  return Step::Next;
}
template <Mix K, bool IsBf16 = false> bool decodeMix(InstDecoder &d) {
  bool hasHigh = false;
  for (const Modifier &m : d.in->modifiers)
    hasHigh |= m.name == "op_sel_hi";
  if (!d.expect(4, 4) || !d.takeModifiers(3, 1))
    return false;
  // Without a word, all sources are floats.
  Modifiers m = d.mods;
  m.opSelHigh = hasHigh ? m.opSelHigh : 0;
  d.inst.mod[0] = 1;
  d.inst.ext = uint32_t(d.program.modifiers.size());
  d.program.modifiers.push_back(m);
  for (unsigned i = 1; i <= 3; ++i)
    if (!d.source(i, 1,
                  !(m.opSelHigh >> (i - 1) & 1) ? Imm::F32
                  : IsBf16                      ? Imm::BF16
                                                : Imm::F16,
                  i))
      return false;
  return d.vectorResult(0, 1, 0) &&
         d.emit(execMix<K, IsBf16>,
                K == Mix::Float ? Class::Float32 : Class::Float16);
}

/// v_pk_fmac_f16: halves by halves; the result is what is added to.
Step execPackedFmac(Ctx &c, const Inst &inst, uint32_t) {
  VectorSource<uint32_t> a, b;
  a.load(c, inst.op[1]);
  b.load(c, inst.op[2]);
  unsigned lanes = programOf(c).waveLanes;
  const auto *to = c.dst<uint32_t>(inst.op[0]);
  uint32_t out[64];
  for (unsigned l = 0; l < lanes; ++l) {
    uint32_t x = a.get(l / Lanes, l % Lanes), y = b.get(l / Lanes, l % Lanes);
    auto part = [&](bool high) {
      return uint32_t(fuseHalf(halfOf<Half>(x, high, false),
                               halfOf<Half>(y, high, false),
                               halfOf<Half>(to[l], high, false))
                          .bits);
    };
    out[l] = part(false) | part(true) << 16;
  }
  writeVector(c, inst, inst.op[0], out, execOf(c));
  return Step::Next;
}
bool decodePackedFmac(InstDecoder &d) {
  return d.expect(3, 3) && d.source(1, 1, Imm::PackedF16, 1) &&
         d.source(2, 1, Imm::PackedF16, 2) && d.vectorSource(0, 1, 3) &&
         d.vectorResult(0, 1, 0) && d.emit(execPackedFmac, Class::Float16);
}

//===-- Dot products ------------------------------------------------------===//

/// Four bytes, eight nibbles; signs by source in neg_lo, or both.
template <unsigned Bits>
Step execDotInteger(Ctx &c, const Inst &inst, uint32_t) {
  unsigned lanes = programOf(c).waveLanes, isSigned = inst.mod[1];
  VectorSource<uint32_t> a, b, add;
  a.load(c, inst.op[1]);
  b.load(c, inst.op[2]);
  add.load(c, inst.op[3]);
  auto part = [](uint32_t word, unsigned i, bool negative) {
    uint32_t up = word << (32 - Bits - i * Bits);
    return negative ? int64_t(int32_t(up) >> (32 - Bits))
                    : int64_t(up >> (32 - Bits));
  };
  bool clamp = modifiersOf(c, inst).clamp;
  uint32_t out[64];
  for (unsigned l = 0; l < lanes; ++l) {
    unsigned h = l / Lanes, n = l % Lanes;
    int64_t sum =
        isSigned ? int64_t(int32_t(add.get(h, n))) : int64_t(add.get(h, n));
    for (unsigned i = 0; i < 32 / Bits; ++i)
      sum += part(a.get(h, n), i, isSigned & 1) *
             part(b.get(h, n), i, isSigned & 2);
    if (clamp)
      sum = isSigned ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)
                     : std::clamp<int64_t>(sum, 0, UINT32_MAX);
    out[l] = uint32_t(sum);
  }
  Inst plain = inst;
  plain.mod[0] = 0;
  writeVector(c, plain, inst.op[0], out, execOf(c));
  return Step::Next;
}
enum class Sign : uint8_t { None, Both, Stated };
template <unsigned Bits, Sign S, bool Accumulates>
bool decodeDotInteger(InstDecoder &d) {
  unsigned sources = Accumulates ? 2 : 3;
  if (!d.expect(sources + 1, sources + 1) || !d.takeModifiers(sources, 1))
    return false;
  d.inst.mod[1] = S == Sign::Both   ? 3
                  : S == Sign::None ? 0
                                    : uint8_t(4 | (d.mods.negate & 3));
  for (unsigned i = 1; i <= sources; ++i)
    if (!d.source(i, 1, Imm::B32, i))
      return false;
  return (!Accumulates || d.vectorSource(0, 1, 3)) && d.vectorResult(0, 1, 0) &&
         d.emit(execDotInteger<Bits>, Class::Integer);
}

/// Four floats of 8 bits.
template <const SmallFormat &A, const SmallFormat &B>
float dotSmall(uint32_t a, uint32_t b, float c) {
  double sum = c;
  for (unsigned i = 0; i < 32; i += 8)
    sum += double(decodeSmall(a >> i & 255, A)) *
           double(decodeSmall(b >> i & 255, B));
  return float(sum);
}
/// Two halves, into one: T is what they are.
template <class T> T dotNarrow(uint32_t a, uint32_t b, T c) {
  auto value = [](uint32_t bits) {
    if constexpr (std::is_same_v<T, Half>)
      return double(floatFromHalf(uint16_t(bits)));
    else
      return double(floatFromBf16(uint16_t(bits)));
  };
  double sum =
      value(c.bits) + value(a) * value(b) + value(a >> 16) * value(b >> 16);
  if constexpr (std::is_same_v<T, Half>)
    return T{halfFromDouble(sum)};
  else
    return T{bf16FromDouble(sum)};
}

/// op_sel is for what is added to, and the result.
template <class T> bool decodeDotNarrow(InstDecoder &d) {
  if (const Modifier *m = d.modifier("op_sel"))
    for (size_t i = 0; i < 2 && i < m->values.size(); ++i)
      if (m->values[i])
        return d.error("op_sel of the first sources is not supported");
  return decodeVector<dotNarrow<T>>(d);
}

template <bool IsBf16> Step execDotHalf(Ctx &c, const Inst &inst, uint32_t) {
  const Modifiers &m = modifiersOf(c, inst);
  unsigned lanes = programOf(c).waveLanes;
  VectorSource<uint32_t> a, b, add;
  a.load(c, inst.op[1]);
  b.load(c, inst.op[2]);
  add.load(c, inst.op[3]);
  uint32_t out[64];
  for (unsigned l = 0; l < lanes; ++l) {
    unsigned h = l / Lanes, n = l % Lanes;
    auto value = [&](uint32_t word, unsigned i, unsigned p) {
      bool high = (p ? m.opSelHigh : m.opSel) >> i & 1;
      auto bits = uint16_t(high ? word >> 16 : word);
      double v = IsBf16 ? floatFromBf16(bits) : floatFromHalf(bits);
      return (p ? m.negateHigh : m.negate) >> i & 1 ? -v : v;
    };
    double sum = floatOfBits(add.get(h, n));
    for (unsigned p = 0; p < 2; ++p)
      sum += value(a.get(h, n), 0, p) * value(b.get(h, n), 1, p);
    auto r = float(sum);
    out[l] = bitsOfFloat(m.clamp ? saturate(r) : r);
  }
  Inst plain = inst;
  plain.mod[0] = 0;
  writeVector(c, plain, inst.op[0], out, execOf(c));
  return Step::Next;
}
template <bool IsBf16, bool Accumulates> bool decodeDotHalf(InstDecoder &d) {
  unsigned sources = Accumulates ? 2 : 3;
  if (!d.expect(sources + 1, sources + 1) || !d.takeModifiers(sources, 1))
    return false;
  return d.source(1, 1, Imm::PackedF16, 1) &&
         d.source(2, 1, Imm::PackedF16, 2) &&
         d.source(Accumulates ? 0 : 3, 1, Imm::F32, 3) &&
         d.vectorResult(0, 1, 0) && d.emit(execDotHalf<IsBf16>, Class::Float32);
}
} // namespace

void tile::sim::amdgcn::registerPacked(OpcodeTable &t) {
  t.insert({
      {"v_pk_add_f16", decodePacked<addHalf>},
      {"v_pk_mul_f16", decodePacked<mulHalf>},
      {"v_pk_fma_f16", decodePacked<fuseHalf>},
      {"v_pk_min_f16", decodePacked<leastHalf>},
      {"v_pk_max_f16", decodePacked<mostHalf>},
      {"v_pk_min_num_f16", decodePacked<leastHalf>},
      {"v_pk_max_num_f16", decodePacked<mostHalf>},
      {"v_pk_minimum_f16", decodePacked<minimumHalf>},
      {"v_pk_maximum_f16", decodePacked<maximumHalf>},
      {"v_pk_minimum3_f16", decodePacked<minimum3Half>},
      {"v_pk_maximum3_f16", decodePacked<maximum3Half>},
      {"v_pk_add_u16", decodePackedSum<add16, addSaturated<U16>>},
      {"v_pk_add_i16", decodePackedSum<add16, addSaturated<S16>>},
      {"v_pk_sub_u16", decodePackedSum<sub16, subSaturated<U16>>},
      {"v_pk_sub_i16", decodePackedSum<sub16, subSaturated<S16>>},
      {"v_pk_mul_lo_u16", decodePacked<mul16>},
      {"v_pk_mad_u16", decodePacked<mad16>},
      {"v_pk_mad_i16", decodePacked<mad16>},
      {"v_pk_min_u16", decodePacked<least<U16>>},
      {"v_pk_min_i16", decodePacked<least<S16>>},
      {"v_pk_max_u16", decodePacked<most<U16>>},
      {"v_pk_max_i16", decodePacked<most<S16>>},
      {"v_pk_lshlrev_b16", decodePacked<left16>},
      {"v_pk_lshrrev_b16", decodePacked<right16>},
      {"v_pk_ashrrev_i16", decodePacked<arithmetic16>},
      {"v_pk_add_f32", decodePair<Pair::Add>},
      {"v_pk_mul_f32", decodePair<Pair::Mul>},
      {"v_pk_fma_f32", decodePair<Pair::Fma>},
      {"v_pk_mov_b32", decodePair<Pair::Move>},
      {"v_fma_mix_f32", decodeMix<Mix::Float>},
      {"v_fma_mixlo_f16", decodeMix<Mix::Low>},
      {"v_fma_mixhi_f16", decodeMix<Mix::High>},
      {"v_fma_mix_f32_bf16", decodeMix<Mix::Float, true>},
      {"v_fma_mixlo_bf16", decodeMix<Mix::Low, true>},
      {"v_fma_mixhi_bf16", decodeMix<Mix::High, true>},
      {"v_pk_add_bf16", decodePacked<addBfloat>},
      {"v_pk_mul_bf16", decodePacked<mulBfloat>},
      {"v_pk_fma_bf16", decodePacked<fuseBfloat>},
      {"v_pk_min_num_bf16", decodePacked<leastBfloat>},
      {"v_pk_max_num_bf16", decodePacked<mostBfloat>},
      {"v_pk_min3_num_f16", decodePacked<least3Half>},
      {"v_pk_max3_num_f16", decodePacked<most3Half>},
      {"v_pk_min3_i16", decodePacked<least3<S16>>},
      {"v_pk_min3_u16", decodePacked<least3<U16>>},
      {"v_pk_max3_i16", decodePacked<most3<S16>>},
      {"v_pk_max3_u16", decodePacked<most3<U16>>},
      {"v_pk_add_min_i16", decodePacked<addLeast<S16>>},
      {"v_pk_add_min_u16", decodePacked<addLeast<U16>>},
      {"v_pk_add_max_i16", decodePacked<addMost<S16>>},
      {"v_pk_add_max_u16", decodePacked<addMost<U16>>},
      {"v_dot4_i32_i8", decodeDotInteger<8, Sign::Both, false>},
      {"v_dot4_u32_u8", decodeDotInteger<8, Sign::None, false>},
      {"v_dot4_i32_iu8", decodeDotInteger<8, Sign::Stated, false>},
      {"v_dot4c_i32_i8", decodeDotInteger<8, Sign::Both, true>},
      {"v_dot8_i32_i4", decodeDotInteger<4, Sign::Both, false>},
      {"v_dot8_u32_u4", decodeDotInteger<4, Sign::None, false>},
      {"v_dot8_i32_iu4", decodeDotInteger<4, Sign::Stated, false>},
      {"v_dot8c_i32_i4", decodeDotInteger<4, Sign::Both, true>},
      {"v_dot2_i32_i16", decodeDotInteger<16, Sign::Both, false>},
      {"v_dot2_u32_u16", decodeDotInteger<16, Sign::None, false>},
      {"v_dot2c_i32_i16", decodeDotInteger<16, Sign::Both, true>},
      {"v_dot4_f32_fp8_fp8", decodeVector<dotSmall<formatE4M3, formatE4M3>>},
      {"v_dot4_f32_fp8_bf8", decodeVector<dotSmall<formatE4M3, formatE5M2>>},
      {"v_dot4_f32_bf8_fp8", decodeVector<dotSmall<formatE5M2, formatE4M3>>},
      {"v_dot4_f32_bf8_bf8", decodeVector<dotSmall<formatE5M2, formatE5M2>>},
      {"v_dot2_f16_f16", decodeDotNarrow<Half>},
      {"v_dot2_bf16_bf16", decodeDotNarrow<Bf16>},
      {"v_pk_fmac_f16", decodePackedFmac},
      {"v_dot2_f32_f16", decodeDotHalf<false, false>},
      {"v_dot2_f32_bf16", decodeDotHalf<true, false>},
      {"v_dot2c_f32_f16", decodeDotHalf<false, true>},
      {"v_dot2c_f32_bf16", decodeDotHalf<true, true>},
      {"v_dot2acc_f32_f16", decodeDotHalf<false, true>},
  });
}

//===-- VectorLanes.h - Vector instructions from functions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// decodeVector<f> decodes "op dst, sources" after the signature of f and runs
// f in each lane of EXEC. The types say how registers are read. Float and
// double take signs and the mode's treatment of subnormal numbers. Half takes
// the low 16 bits (or those that op_sel says). Bool as the result is one bit of
// a mask of lanes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Lanes.h"
#include "../Wide.h"
#include "Decoder.h"

#include <span>
#include <tuple>
#include <utility>

namespace tile::sim::amdgcn {

/// Bits of MODE.
enum : uint32_t {
  KeepInput32 = 1 << 4,
  KeepOutput32 = 1 << 5,
  KeepInput16 = 1 << 6,
  KeepOutput16 = 1 << 7,
};

/// Which lanes an instruction reads from where, and which lanes it leaves
/// alone (DPP).
struct LaneMoves {
  const uint8_t *from;
  uint64_t written; ///< of EXEC
  uint64_t zero;    ///< reads 0
};
LaneMoves movesOf(const Modifiers &m, uint64_t exec);
/// Those of an instruction, in `moves`, or null; lanes that it leaves alone go
/// from `mask`.
inline const LaneMoves *takeMoves(const Ctx &c, const Inst &inst,
                                  LaneMoves &moves, uint64_t &mask) {
  const WaveProgram &p = programOf(c);
  if (!inst.mod[0] || p.modifiers[inst.ext].move == Modifiers::Move::None)
    return nullptr;
  moves = movesOf(p.modifiers[inst.ext], mask);
  mask &= moves.written;
  return &moves;
}

/// A lane's 32 bits before its meaning: what SDWA and op_sel select.
inline uint32_t selectPart(uint32_t word, uint8_t part, bool extend) {
  unsigned shift = part < 4   ? part * 8
                   : part < 6 ? (part - 4) * 16
                              : 0,
           bits = part < 4   ? 8
                  : part < 6 ? 16
                             : 32;
  uint32_t value = word >> shift;
  if (bits == 32)
    return value;
  return extend ? uint32_t(int32_t(value << (32 - bits)) >> (32 - bits))
                : value & ((1u << bits) - 1);
}

/// 32 bits that are moved only; a sign may be changed all the same.
enum class Bits32 : uint32_t {};

template <class T> inline constexpr unsigned wordsOf = sizeof(T) > 4 ? 2 : 1;
template <class T>
inline constexpr bool isFloating =
    std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, Half> || std::is_same_v<T, Bf16>;
template <class T>
inline constexpr bool hasSigns = isFloating<T> || std::is_same_v<T, Bits32>;
template <class T> inline constexpr bool isNarrow = sizeof(T) == 2;

template <class T> T changeSign(T v, bool absolute, bool negate) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bf16>) {
    v.bits = absolute ? v.bits & 0x7fff : v.bits;
    v.bits ^= negate ? 0x8000 : 0;
  } else if constexpr (std::is_same_v<T, Bits32>) {
    uint32_t b = absolute ? uint32_t(v) & 0x7fffffff : uint32_t(v);
    v = Bits32(negate ? b ^ 0x80000000 : b);
  } else if constexpr (std::is_same_v<T, float>) {
    uint32_t b = bitsOfFloat(v);
    b = absolute ? b & 0x7fffffff : b;
    v = floatOfBits(negate ? b ^ 0x80000000 : b);
  } else if constexpr (std::is_same_v<T, double>) {
    uint64_t b = bitsOfDouble(v);
    b = absolute ? b & ~(uint64_t(1) << 63) : b;
    v = doubleOfBits(negate ? b ^ uint64_t(1) << 63 : b);
  }
  return v;
}

/// Subnormal numbers become zero where MODE does not keep them.
template <class T> inline bool flushes(uint32_t mode, bool input) {
  if constexpr (std::is_same_v<T, float>)
    return !(mode & (input ? KeepInput32 : KeepOutput32));
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Half>)
    return !(mode & (input ? KeepInput16 : KeepOutput16));
  return false;
}
template <class T> inline T flushed(T v) {
  if constexpr (std::is_same_v<T, float>)
    return flush(v);
  else if constexpr (std::is_same_v<T, double>)
    return bitsOfDouble(v) >> 52 & 0x7ff ? v : std::copysign(0.0, v);
  else if constexpr (std::is_same_v<T, Half>)
    return Half{uint16_t(v.bits & 0x7c00 ? v.bits : v.bits & 0x8000)};
  else
    return v;
}

/// An operand's lanes. Operands of one value are spread, changed ones copied.
template <class T> class VectorSource {
public:
  VectorSource() {} // not zeros
  [[gnu::always_inline]] void load(const Ctx &c, uint32_t slot) {
    if (slot & ScalarBit) {
      const auto *words = c.src<uint32_t>(slot & ~ScalarBit);
      for (unsigned w = 0; w < wordsOf<T>; ++w) {
        std::fill_n(room[w], Lanes, words[w]);
        data[w] = room[w];
      }
      step = 0;
      return;
    }
    unsigned lanes = programOf(c).waveLanes;
    for (unsigned w = 0; w < wordsOf<T>; ++w)
      data[w] = c.src<uint32_t>(slot) + w * lanes;
    step = Lanes;
  }
  /// The source number `index`, with what the instruction says about it.
  [[gnu::always_inline]] void load(const Ctx &c, const Inst &inst,
                                   uint32_t slot, unsigned index,
                                   const LaneMoves *moves, uint32_t mode) {
    load(c, slot);
    bool flushing = isFloating<T> && flushes<T>(mode, true);
    if (inst.mod[0] || flushing)
      modify(c, inst, index, moves, flushing);
  }
  T get(unsigned half, unsigned l) const {
    uint32_t word[2] = {data[0][half * step + l], 0};
    if constexpr (wordsOf<T> == 2)
      word[1] = data[1][half * step + l];
    return Lane<T>::get(join(word));
  }
  /// 32 lanes of one word, as they lie.
  const T *words(unsigned half) const {
    static_assert(sizeof(T) == 4);
    return reinterpret_cast<const T *>(data[0] + half * step);
  }

  /// Signs and subnormal numbers, of all lanes.
  void change(unsigned lanes, bool absolute, bool negate, bool flushing) {
    if constexpr (hasSigns<T>) {
      if (!absolute && !negate && !flushing)
        return;
      // Lanes of one value change once.
      for (unsigned h = 0; h < (step ? lanes / Lanes : 1); ++h)
        for (unsigned l = 0; l < Lanes; ++l) {
          T v = changeSign(get(h, l), absolute, negate);
          v = flushing ? flushed(v) : v;
          auto bits = uint64_t(Lane<T>::put(v));
          for (unsigned w = 0; w < wordsOf<T>; ++w)
            room[w][h * Lanes + l] = uint32_t(bits >> 32 * w);
        }
      for (unsigned w = 0; w < wordsOf<T>; ++w)
        data[w] = room[w];
    }
  }

private:
  [[gnu::noinline]] void modify(const Ctx &c, const Inst &inst, unsigned index,
                                const LaneMoves *moves, bool flushing) {
    static const Modifiers plain;
    const Modifiers &m = inst.mod[0] ? programOf(c).modifiers[inst.ext] : plain;
    unsigned lanes = programOf(c).waveLanes;
    bool hasWords = m.hasWords && wordsOf<T> == 1;
    if (!hasWords && !(moves && index == 0))
      return change(lanes, m.absolute >> index & 1, m.negate >> index & 1,
                    flushing);
    uint32_t copy[wordsOf<T>][64];
    for (unsigned l = 0; l < lanes; ++l) {
      unsigned from = moves && index == 0 ? moves->from[l] : l;
      uint32_t word[2] = {0, 0};
      for (unsigned w = 0; w < wordsOf<T>; ++w)
        word[w] = moves && index == 0 && (moves->zero >> l & 1)
                      ? 0
                      : data[w][(from / Lanes) * step + from % Lanes];
      if (hasWords) {
        if (index < 2 && m.source[index] != 6)
          word[0] = selectPart(word[0], m.source[index], m.extend >> index & 1);
        else if (isNarrow<T> && (m.opSel >> index & 1))
          word[0] >>= 16;
      }
      T v = Lane<T>::get(join(word));
      if constexpr (hasSigns<T>) {
        v = changeSign(v, m.absolute >> index & 1, m.negate >> index & 1);
        if (flushing)
          v = flushed(v);
      }
      typename Lane<T>::Storage bits = Lane<T>::put(v);
      for (unsigned w = 0; w < wordsOf<T>; ++w)
        copy[w][l] = uint32_t(uint64_t(bits) >> 32 * w);
    }
    for (unsigned w = 0; w < wordsOf<T>; ++w) {
      std::copy_n(copy[w], lanes, room[w]);
      data[w] = room[w];
    }
    step = Lanes;
  }
  static typename Lane<T>::Storage join(const uint32_t *word) {
    if constexpr (wordsOf<T> == 2)
      return word[0] | uint64_t(word[1]) << 32;
    else
      return word[0];
  }
  const uint32_t *data[wordsOf<T>];
  unsigned step = 0;
  alignas(64) uint32_t room[wordsOf<T>][64];
};

/// What the instruction does to a result before it is written.
template <class T> T finish(T v, const Modifiers &m) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    v = m.outputScale == 1   ? v * 2
        : m.outputScale == 2 ? v * 4
        : m.outputScale == 3 ? v / 2
                             : v;
    return m.clamp ? saturate(v) : v;
  } else if constexpr (std::is_same_v<T, Half>) {
    float f = floatFromHalf(v.bits);
    f = m.outputScale == 1   ? f * 2
        : m.outputScale == 2 ? f * 4
        : m.outputScale == 3 ? f / 2
                             : f;
    return m.outputScale || m.clamp
               ? Half{halfFromFloat(m.clamp ? saturate(f) : f)}
               : v;
  } else {
    return v;
  }
}

/// Where a narrow result goes in its register.
template <class T>
uint32_t placeResult(uint32_t bits, uint32_t old, const Modifiers &m) {
  if (m.result != 6) {
    unsigned shift = m.result < 4 ? m.result * 8 : (m.result - 4) * 16,
             width = m.result < 4 ? 8 : 16;
    uint32_t ones = (1u << width) - 1, value = bits & ones;
    if (m.unused == 2)
      return (old & ~(ones << shift)) | value << shift;
    uint32_t above =
        m.unused == 1 && (value >> (width - 1)) ? ~0u << shift << width : 0;
    if (shift + width >= 32)
      above = 0;
    return above | value << shift;
  }
  if (isNarrow<T> && (m.opSel & 8))
    return (old & 0xffff) | bits << 16;
  return bits;
}

/// How a result of 16 bits leaves the other half of its register: CDNA clears
/// it, but for instructions with three sources; RDNA keeps it.
inline bool keepsHigh(const Ctx &c, const Inst &inst) {
  return inst.mod[2] || !programOf(c).target->isGfx9();
}

/// Writes results that are, or may be, narrower than a register.
template <class T>
[[gnu::noinline]] void writeParts(const Ctx &c, const Inst &inst, uint32_t slot,
                                  const T *out, uint64_t mask) {
  unsigned lanes = programOf(c).waveLanes;
  const Modifiers *m =
      inst.mod[0] ? &programOf(c).modifiers[inst.ext] : nullptr;
  for (unsigned w = 0; w < wordsOf<T>; ++w) {
    auto *to = c.dst<uint32_t>(slot) + w * lanes;
    for (unsigned base = 0; base < lanes; base += Lanes) {
      alignas(64) uint32_t words[Lanes];
      for (unsigned l = 0; l < Lanes; ++l)
        words[l] = uint32_t(uint64_t(Lane<T>::put(out[base + l])) >> 32 * w);
      if (isNarrow<T> && !(m && m->hasWords) && keepsHigh(c, inst))
        for (unsigned l = 0; l < Lanes; ++l)
          words[l] = (words[l] & 0xffff) | (to[base + l] & 0xffff0000);
      else if (isNarrow<T>)
        for (unsigned l = 0; l < Lanes; ++l)
          words[l] &= 0xffff;
      if (m && m->hasWords && wordsOf<T> == 1)
        for (unsigned l = 0; l < Lanes; ++l) {
          bool low = isNarrow<T> && m->result == 6 && !(m->opSel & 8) &&
                     keepsHigh(c, inst);
          words[l] = low ? (words[l] & 0xffff) | (to[base + l] & 0xffff0000)
                         : placeResult<T>(words[l], to[base + l], *m);
        }
      commit(to + base, words, uint32_t(mask >> base));
    }
  }
}

/// Writes the lanes of `mask`, which are those of EXEC or fewer.
template <class T>
[[gnu::always_inline]] inline void writeVector(const Ctx &c, const Inst &inst,
                                               uint32_t slot, const T *out,
                                               uint64_t mask) {
  if (isNarrow<T> || (wordsOf<T> == 1 && inst.mod[0] &&
                      programOf(c).modifiers[inst.ext].hasWords))
    return writeParts(c, inst, slot, out, mask);
  unsigned lanes = programOf(c).waveLanes;
  for (unsigned w = 0; w < wordsOf<T>; ++w)
    for (unsigned base = 0; base < lanes; base += Lanes) {
      auto *to = c.dst<uint32_t>(slot) + w * lanes + base;
      auto active = uint32_t(mask >> base);
      auto wordOf = [&](unsigned l) {
        return uint32_t(uint64_t(Lane<T>::put(out[base + l])) >> 32 * w);
      };
      // As nearly always; the other loop compilers do not vectorize.
      if (active == FullMask) {
        for (unsigned l = 0; l < Lanes; ++l)
          to[l] = wordOf(l);
        continue;
      }
      for (unsigned l = 0; l < Lanes; ++l)
        to[l] = active >> l & 1 ? wordOf(l) : to[l];
    }
}

/// Bits for the inactive lanes of a mask are 0.
inline void writeMask(const Ctx &c, uint32_t slot, uint64_t bits) {
  setMask(c, slot, bits);
}

/// A function that does what F does for 32 lanes, of 32 bits each.
template <auto F> inline constexpr auto wideFormOf = nullptr;

template <auto F, class R, class... A, size_t... I>
[[gnu::always_inline]] inline Step
runVector(Ctx &c, const Inst &inst, R (*)(A...), std::index_sequence<I...>) {
  const WaveProgram &p = programOf(c);
  uint32_t mode = waveOf(c).scalar[Mode];
  LaneMoves moves;
  uint64_t mask = execOf(c);
  const LaneMoves *used = takeMoves(c, inst, moves, mask);
  std::tuple<VectorSource<A>...> in;
  (std::get<I>(in).load(c, inst, inst.op[1 + I], unsigned(I), used, mode), ...);
  unsigned halves = p.waveLanes / Lanes;
  if constexpr (std::is_same_v<R, bool>) {
    uint64_t bits = 0;
    for (unsigned h = 0; h < halves; ++h) {
      uint32_t part = 0;
      for (unsigned l = 0; l < Lanes; ++l)
        part |= uint32_t(F(std::get<I>(in).get(h, l)...)) << l;
      bits |= uint64_t(part) << 32 * h;
    }
    // v_cmpx writes EXEC, and on gfx9 its result, too.
    if (inst.op[0] != NoSlot)
      writeMask(c, inst.op[0], bits & mask);
    if (inst.mod[1])
      setMask(c, uint32_t(offsetof(Wave, scalar) + Exec * 4), bits & mask);
  } else {
    alignas(64) R out[64];
    for (unsigned h = 0; h < halves; ++h) {
      if constexpr (!std::is_null_pointer_v<decltype(wideFormOf<F>)>)
        wideFormOf<F>(std::get<I>(in).words(h)..., out + h * Lanes);
      else
        for (unsigned l = 0; l < Lanes; ++l)
          out[h * Lanes + l] = F(std::get<I>(in).get(h, l)...);
    }
    if constexpr (isFloating<R>) {
      if (inst.mod[0] || flushes<R>(mode, false)) {
        static const Modifiers plain;
        const Modifiers &m = inst.mod[0] ? p.modifiers[inst.ext] : plain;
        bool flushing = flushes<R>(mode, false);
        for (R &v : std::span(out, p.waveLanes)) {
          v = finish(v, m);
          v = flushing ? flushed(v) : v;
        }
      }
    }
    writeVector(c, inst, inst.op[0], out, mask);
  }
  return Step::Next;
}
template <auto F, class R, class... A>
[[gnu::always_inline]] inline Step runVectorSignature(Ctx &c, const Inst &inst,
                                                      R (*f)(A...)) {
  return runVector<F>(c, inst, f, std::index_sequence_for<A...>());
}
template <auto F> Step execVector(Ctx &c, const Inst &inst, uint32_t) {
  return runVectorSignature<F>(c, inst, F);
}
template <auto F>
TILE_AVX2 Step execVectorAvx2(Ctx &c, const Inst &inst, uint32_t) {
  return runVectorSignature<F>(c, inst, F);
}
template <auto F> ExecFn vectorHandler() {
  return hasAvx2() ? execVectorAvx2<F> : execVector<F>;
}

template <class T> constexpr Imm immediateOf() {
  if constexpr (std::is_same_v<T, float>)
    return Imm::F32;
  else if constexpr (std::is_same_v<T, double>)
    return Imm::F64;
  else if constexpr (std::is_same_v<T, Half>)
    return Imm::F16;
  else if constexpr (std::is_same_v<T, Bf16>)
    return Imm::BF16;
  else
    return sizeof(T) == 8 ? Imm::B64 : sizeof(T) == 2 ? Imm::B16 : Imm::B32;
}

template <class T> constexpr Class classOf() {
  if constexpr (std::is_same_v<T, float>)
    return Class::Float32;
  else if constexpr (std::is_same_v<T, double>)
    return Class::Float64;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bf16>)
    return Class::Float16;
  else
    return Class::Integer;
}

/// `Cls` other than Other replaces the class that the result's type has.
template <auto F, Class Cls, class R, class... A>
bool decodeVectorSignature(InstDecoder &d, R (*)(A...)) {
  constexpr unsigned sources = sizeof...(A);
  if (!d.expect(sources + 1, sources + 1) || !d.takeModifiers(sources, 1))
    return false;
  size_t operand = 1;
  unsigned op = 1;
  bool good =
      ((d.source(operand++, wordsOf<A>, immediateOf<A>(), op++)) && ...);
  if (!good)
    return false;
  unsigned index = 0, withSigns = 0;
  ((withSigns |= unsigned(hasSigns<A>) << index++), ...);
  if ((d.mods.negate | d.mods.absolute) & ~withSigns)
    return d.error("its operands are no numbers with a sign to change");
  if constexpr (!isFloating<R>)
    if (d.mods.clamp || d.mods.outputScale)
      return d.error("clamp and scales are not supported here");
  d.inst.mod[2] = isNarrow<R> && sources == 3;
  d.readMask(Exec);
  if constexpr (std::is_same_v<R, bool>)
    good = d.maskResult(0, 0);
  else
    good = d.vectorResult(0, wordsOf<R>, 0);
  return good &&
         d.emit(vectorHandler<F>(), Cls == Class::Other ? classOf<R>() : Cls);
}
template <auto F, Class Cls = Class::Other> bool decodeVector(InstDecoder &d) {
  return decodeVectorSignature<F, Cls>(d, F);
}

/// A "legacy" form with three sources clears the other half of its register, as
/// all of GFX8 do. The ones of GFX9 keep it.
template <auto F> bool decodeLegacy(InstDecoder &d) {
  if (!decodeVector<F>(d))
    return false;
  d.inst.mod[2] = false;
  return true;
}

/// The result is the last source as well: v_fmac_f32.
template <auto F, class R, class... A>
bool decodeAccumulateSignature(InstDecoder &d, R (*)(A...)) {
  if (!d.expect(3, 3) || !d.takeModifiers(2, 1))
    return false;
  return d.source(1, wordsOf<R>, immediateOf<R>(), 1) &&
         d.source(2, wordsOf<R>, immediateOf<R>(), 2) &&
         d.vectorSource(0, wordsOf<R>, 3) && d.vectorResult(0, wordsOf<R>, 0) &&
         d.emit(vectorHandler<F>(), classOf<R>());
}
template <auto F> bool decodeAccumulate(InstDecoder &d) {
  return decodeAccumulateSignature<F>(d, F);
}

} // namespace tile::sim::amdgcn

//===-- VectorConvertScaled.cpp - Conversions with scales of gfx950 -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// v_cvt_scalef32_*: numbers of 4, 6 and 8 bits are multiples of a power of two,
// the exponent of the last operand; 255 there makes all of them no numbers.
// Those of a register's part are in the part that op_sel says, and what else a
// result's register holds stays.
//
//===----------------------------------------------------------------------===//
#include "MatrixElements.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
struct Conversion {
  const char *name;
  Element from, to;
  uint8_t count;
  uint8_t sources = 1; ///< elements come from them in turns
  unsigned bits(Element e) const { return count * bitsOfElement(e); }
};
constexpr Element F16 = Element::F16, BF16 = Element::BF16, F32 = Element::F32,
                  Fp8 = Element::OcpFp8, Bf8 = Element::OcpBf8,
                  Fp6 = Element::Fp6, Bf6 = Element::Bf6, Fp4 = Element::Fp4;
constexpr Conversion conversions[] = {
    {"pk_fp8_f32", F32, Fp8, 2, 2},
    {"pk_bf8_f32", F32, Bf8, 2, 2},
    {"pk_fp4_f32", F32, Fp4, 2, 2},
    {"pk_fp8_f16", F16, Fp8, 2},
    {"pk_bf8_f16", F16, Bf8, 2},
    {"pk_fp4_f16", F16, Fp4, 2},
    {"pk_fp8_bf16", BF16, Fp8, 2},
    {"pk_bf8_bf16", BF16, Bf8, 2},
    {"pk_fp4_bf16", BF16, Fp4, 2},
    {"pk_f32_fp8", Fp8, F32, 2},
    {"pk_f32_bf8", Bf8, F32, 2},
    {"pk_f32_fp4", Fp4, F32, 2},
    {"pk_f16_fp8", Fp8, F16, 2},
    {"pk_f16_bf8", Bf8, F16, 2},
    {"pk_f16_fp4", Fp4, F16, 2},
    {"pk_bf16_fp8", Fp8, BF16, 2},
    {"pk_bf16_bf8", Bf8, BF16, 2},
    {"pk_bf16_fp4", Fp4, BF16, 2},
    {"f32_fp8", Fp8, F32, 1},
    {"f32_bf8", Bf8, F32, 1},
    {"f16_fp8", Fp8, F16, 1},
    {"f16_bf8", Bf8, F16, 1},
    {"pk32_f32_fp6", Fp6, F32, 32},
    {"pk32_f32_bf6", Bf6, F32, 32},
    {"pk32_f16_fp6", Fp6, F16, 32},
    {"pk32_f16_bf6", Bf6, F16, 32},
    {"pk32_bf16_fp6", Fp6, BF16, 32},
    {"pk32_bf16_bf6", Bf6, BF16, 32},
    {"pk32_fp6_f16", F16, Fp6, 32},
    {"pk32_bf6_f16", F16, Bf6, 32},
    {"pk32_fp6_bf16", BF16, Fp6, 32},
    {"pk32_bf6_bf16", BF16, Bf6, 32},
    {"2xpk16_fp6_f32", F32, Fp6, 32, 2},
    {"2xpk16_bf6_f32", F32, Bf6, 32, 2},
};
constexpr std::string_view prefix = "v_cvt_scalef32_";

uint32_t encode(Element e, double value) {
  auto small = [&](const SmallFormat &format) {
    return encodeSmall(value, format, Round::Nearest, false);
  };
  switch (e) {
  case F16:
    return halfFromDouble(value);
  case BF16:
    return bf16FromDouble(value);
  case Fp8:
    return small(formatE4M3);
  case Bf8:
    return small(formatE5M2);
  case Fp6:
    return small(formatE2M3);
  case Bf6:
    return small(formatE3M2);
  case Fp4:
    return small(formatE2M1);
  default:
    return bitsOfFloat(float(value));
  }
}

/// One word of a lane's operand.
uint32_t wordOf(const Ctx &c, uint32_t slot, unsigned lane, unsigned word) {
  return slot & ScalarBit
             ? scalarOf<uint32_t>(c, slot)
             : c.src<uint32_t>(slot)[word * programOf(c).waveLanes + lane];
}

/// op: result, sources, scale (3); imm: index of the conversion; mod[1] and
/// mod[2]: the first bit of the source and of the result.
Step execConvert(Ctx &c, const Inst &inst, uint32_t) {
  const Conversion &v = conversions[inst.imm];
  static const Modifiers plain;
  const Modifiers &m = inst.mod[0] ? programOf(c).modifiers[inst.ext] : plain;
  unsigned lanes = programOf(c).waveLanes, fromBits = bitsOfElement(v.from),
           toBits = bitsOfElement(v.to), words = (v.bits(v.to) + 31) / 32;
  auto *to = c.dst<uint32_t>(inst.op[0]);
  for (uint64_t left = execOf(c); left; left &= left - 1) {
    auto l = unsigned(std::countr_zero(left));
    unsigned exponent = wordOf(c, inst.op[3], l, 0) >> 23 & 255;
    double unit = exponent == 255 ? std::numeric_limits<double>::quiet_NaN()
                                  : std::ldexp(1.0, int(exponent) - 127);
    auto read = [&](unsigned source, unsigned item) {
      uint32_t slot = inst.op[1 + source];
      unsigned at = inst.mod[1] + item * fromBits, shift = at % 32;
      uint64_t bits = wordOf(c, slot, l, at / 32);
      if (shift + fromBits > 32)
        bits |= uint64_t(wordOf(c, slot, l, at / 32 + 1)) << 32;
      auto word = uint32_t(bits >> shift);
      if (v.from == F32)
        return double(changeSign(floatOfBits(word), m.absolute >> source & 1,
                                 m.negate >> source & 1));
      return valueOf(v.from, word & ((1u << fromBits) - 1));
    };
    uint64_t out[33] = {};
    for (unsigned w = 0; w < words; ++w)
      out[w] = to[w * lanes + l];
    for (unsigned i = 0; i < v.count; ++i) {
      double value = read(i % v.sources, i / v.sources);
      unsigned at = inst.mod[2] + i * toBits, shift = at % 32;
      // Two words together, of which the second may be touched.
      uint64_t two = out[at / 32] | out[at / 32 + 1] << 32,
               ones = (uint64_t(1) << toBits) - 1,
               code = encode(v.to, fromBits < 16 ? value * unit : value / unit);
      two = (two & ~(ones << shift)) | code << shift;
      out[at / 32] = uint32_t(two);
      out[at / 32 + 1] = two >> 32;
    }
    for (unsigned w = 0; w < words; ++w)
      to[w * lanes + l] = uint32_t(out[w]);
  }
  return Step::Next;
}

/// Where bits that fill no register are in it: op_sel's lower bits say that of
/// a source, its upper ones that of a result.
uint8_t firstBit(unsigned bits, unsigned opSel, bool isResult) {
  return bits == 8    ? uint8_t(8 * (isResult ? opSel >> 2 & 3 : opSel & 3))
         : bits == 16 ? uint8_t(16 * (isResult ? opSel >> 3 & 1 : opSel & 1))
                      : uint8_t(0);
}

bool decodeConvert(InstDecoder &d) {
  if (d.target().name != "gfx950")
    return d.error("the target has no such instruction");
  std::string_view name = d.in->opcode;
  name.remove_prefix(prefix.size());
  const Conversion *v = std::ranges::find(conversions, name, &Conversion::name);
  unsigned sources = v->sources, perSource = v->bits(v->from) / sources;
  if (!d.expect(2 + sources, 2 + sources) || !d.takeModifiers(sources + 1, 1))
    return false;
  if (d.mods.clamp || d.mods.outputScale)
    return d.error("its result cannot be changed");
  unsigned signs = (d.mods.negate | d.mods.absolute) & ((1u << sources) - 1);
  if (v->from != F32 && signs)
    return d.error("signs of its numbers cannot be changed");
  d.inst.imm = v - conversions;
  d.inst.mod[1] = firstBit(perSource, d.mods.opSel, false);
  d.inst.mod[2] = firstBit(v->bits(v->to), d.mods.opSel, true);
  for (unsigned i = 0; i < sources; ++i)
    if (perSource > 32
            ? !d.vectorSource(1 + i, perSource / 32, 1 + i)
            : !d.source(1 + i, 1, v->from == F32 ? Imm::F32 : Imm::B32, 1 + i))
      return false;
  return d.source(1 + sources, 1, Imm::F32, 3) &&
         d.vectorResult(0, (v->bits(v->to) + 31) / 32, 0) &&
         d.emit(execConvert, Class::Convert);
}
} // namespace

void tile::sim::amdgcn::registerScaledConvert(OpcodeTable &t) {
  for (const Conversion &v : conversions)
    t.emplace(keepName(std::string(prefix) + v.name), decodeConvert);
}

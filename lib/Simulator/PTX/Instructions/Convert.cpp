//===-- Convert.cpp - cvt in all its forms --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

#include <algorithm>

using namespace tile::sim;

namespace {
//===-- One lane, any types -----------------------------------------------===//

/// A source value: integers keep all their bits, floats are exact in double.
struct Value {
  double real = 0;
  __int128 integer = 0;
  bool isReal = false;
};

const SmallFormat *smallFormat(Type type) {
  switch (type) {
  case Type::F16:
    return &formatF16;
  case Type::BF16:
    return &formatBF16;
  case Type::E4M3:
  case Type::E4M3x2:
    return &formatE4M3;
  case Type::E5M2:
  case Type::E5M2x2:
    return &formatE5M2;
  case Type::E2M1:
  case Type::E2M1x2:
    return &formatE2M1;
  case Type::E2M3:
  case Type::E2M3x2:
    return &formatE2M3;
  case Type::E3M2:
  case Type::E3M2x2:
    return &formatE3M2;
  default:
    return nullptr;
  }
}

Value read(Type type, uint64_t bits) {
  Value v;
  switch (type) {
  case Type::U8:
    v.integer = uint8_t(bits);
    return v;
  case Type::S8:
    v.integer = int8_t(bits);
    return v;
  case Type::U16:
    v.integer = uint16_t(bits);
    return v;
  case Type::S16:
    v.integer = int16_t(bits);
    return v;
  case Type::U32:
    v.integer = uint32_t(bits);
    return v;
  case Type::S32:
    v.integer = int32_t(bits);
    return v;
  case Type::U64:
    v.integer = uint64_t(bits);
    return v;
  case Type::S64:
    v.integer = int64_t(bits);
    return v;
  default:
    break;
  }
  v.isReal = true;
  if (type == Type::UE8M0)
    v.real = scaleFromUE8M0(uint8_t(bits));
  else if (type == Type::F32)
    v.real = floatOfBits(uint32_t(bits));
  else if (type == Type::F64)
    v.real = doubleOfBits(bits);
  else if (const SmallFormat *format = smallFormat(type))
    v.real = decodeSmall(uint32_t(bits), *format);
  return v;
}

/// A 64-bit integer in a double, rounded to odd, so that a later rounding is
/// the only one.
double oddDouble(__int128 i) {
  double d = double(int64_t(i >> 11)) * 2048.0; // at most 53 bits: exact
  bool rest = (i & 2047) != 0;
  if (i < (__int128(1) << 53) && i > -(__int128(1) << 53))
    return double(int64_t(i));
  uint64_t bits = bitsOfDouble(d);
  // Truncated towards minus infinity; for negative numbers the magnitude is too
  // large by one step.
  if (rest && !(bits & 1))
    d = doubleOfBits(d < 0 ? bits - 1 : bits + 1);
  return d;
}

/// A 64-bit integer as a double, rounded as asked.
double doubleFromInteger(__int128 i, Round round) {
  double d = double(i);
  __int128 back = __int128(d); // at most 2^64: exact
  if (round == Round::Zero)
    round = i < 0 ? Round::Up : Round::Down;
  if (round == Round::Down && back > i)
    return std::nextafter(d, -INFINITY);
  if (round == Round::Up && back < i)
    return std::nextafter(d, INFINITY);
  return d;
}

double roundInteger(double d, Round round) {
  switch (round) {
  case Round::Zero:
    return std::trunc(d);
  case Round::Down:
    return std::floor(d);
  case Round::Up:
    return std::ceil(d);
  default:
    return std::nearbyint(d);
  }
}

uint64_t toInteger(double d, Type from, Type to, Round round) {
  unsigned bits = bitsOf(to);
  bool sign = isSigned(to);
  if (d != d)
    return from == Type::F64 || bits == 64 ? uint64_t(1) << (bits - 1) : 0;
  d = roundInteger(d, round);
  double low = sign ? -std::ldexp(1.0, int(bits) - 1) : 0,
         high = std::ldexp(1.0, int(bits) - (sign ? 1 : 0));
  if (d <= low)
    return sign ? uint64_t(-1) << (bits - 1) : 0;
  if (d >= high)
    return sign         ? (uint64_t(1) << (bits - 1)) - 1
           : bits == 64 ? ~uint64_t(0)
                        : (uint64_t(1) << bits) - 1;
  return d < 0 ? uint64_t(int64_t(d)) : uint64_t(d);
}

struct Conversion {
  Type to, from;
  Round round;
  bool toIntegral, ftz, sat, relu, finite;
};

uint64_t convertOne(const Conversion &how, uint64_t bits) {
  if (how.ftz && how.from == Type::F32)
    bits = bitsOfFloat(flush(floatOfBits(uint32_t(bits))));
  Value v = read(how.from, bits);
  if (isInteger(how.to)) {
    if (v.isReal)
      return toInteger(v.real, how.from, how.to, how.round);
    if (how.sat) {
      unsigned width = bitsOf(how.to);
      __int128 low = isSigned(how.to) ? -(__int128(1) << (width - 1)) : 0;
      __int128 high = (__int128(1) << (width - (isSigned(how.to) ? 1 : 0))) - 1;
      v.integer = std::clamp(v.integer, low, high);
    }
    return uint64_t(v.integer);
  }
  double d = v.isReal ? v.real : oddDouble(v.integer);
  if (how.toIntegral)
    d = roundInteger(d, how.round);
  if (how.relu)
    d = d != d ? d : d > 0 ? d : 0.0;
  if (how.sat)
    d = saturate(d);
  Round round = how.toIntegral ? Round::Nearest : how.round;
  switch (how.to) {
  case Type::F64:
    return bitsOfDouble(v.isReal ? d : doubleFromInteger(v.integer, how.round));
  case Type::F32: {
    float f = canonical(floatFromDouble(d, round));
    if (how.finite && std::isinf(f))
      f = std::copysign(floatOfBits(0x7f7fffff), f);
    return bitsOfFloat(how.ftz ? flush(f) : f);
  }
  case Type::TF32: {
    float f = float(d);
    uint32_t r = tf32FromFloat(f, round);
    return how.finite && (r & 0x7fffffff) == 0x7f800000 ? r - 0x2000 : r;
  }
  case Type::UE8M0:
    return encodeUE8M0(d, how.round, how.finite);
  default:
    return encodeSmall(d, *smallFormat(how.to), round, how.finite);
  }
}

Conversion unpack(const Inst &inst) {
  return {Type(inst.mod[0]),      Type(inst.mod[1]),
          Round(inst.mod[2]),     (inst.mod[3] & 1) != 0,
          (inst.mod[3] & 2) != 0, (inst.mod[3] & 4) != 0,
          (inst.mod[3] & 8) != 0, (inst.mod[3] & 16) != 0};
}

uint64_t lane(const Ctx &c, uint32_t slot, bool wide, unsigned l) {
  return wide ? c.src<uint64_t>(slot)[l] : c.src<uint32_t>(slot)[l];
}

/// imm: bits of the destination register that the result fills.
Step execConvert(Ctx &c, const Inst &inst, uint32_t mask) {
  Conversion how = unpack(inst);
  bool wideFrom = bitsOf(how.from) == 64, wideTo = bitsOf(how.to) == 64;
  uint64_t keep = inst.imm >= 64 ? ~uint64_t(0) : (uint64_t(1) << inst.imm) - 1;
  unsigned extend = 64 - bitsOf(how.to);
  bool sign = isSigned(how.to);
  eachLane(mask, [&](unsigned l) {
    uint64_t r = convertOne(how, lane(c, inst.op[1], wideFrom, l));
    r <<= extend;
    r = (sign ? uint64_t(int64_t(r) >> extend) : r >> extend) & keep;
    if (wideTo)
      c.dst<uint64_t>(inst.op[0])[l] = r;
    else
      c.dst<uint32_t>(inst.op[0])[l] = uint32_t(r);
  });
  return Step::Next;
}

/// The types of pairs that one register holds.
struct Pair {
  Type packed, one;
  static Type element(Type type) {
    static constexpr Pair pairs[] = {
        {Type::F16x2, Type::F16},   {Type::BF16x2, Type::BF16},
        {Type::E4M3x2, Type::E4M3}, {Type::E5M2x2, Type::E5M2},
        {Type::E2M1x2, Type::E2M1}, {Type::E2M3x2, Type::E2M3},
        {Type::E3M2x2, Type::E3M2}, {Type::UE8M0x2, Type::UE8M0}};
    for (auto [packed, one] : pairs)
      if (type == packed)
        return one;
    return Type::None;
  }
};

/// Two results in one register: the first source is the upper half.
Step execConvertPair(Ctx &c, const Inst &inst, uint32_t mask) {
  Conversion how = unpack(inst);
  unsigned width = bitsOf(how.to) / 2;
  Conversion each = how;
  each.to = Pair::element(how.to);
  if (Type one = Pair::element(how.from); one != Type::None)
    each.from = one;
  unsigned fromWidth = bitsOf(each.from);
  uint64_t fromMask = (uint64_t(1) << fromWidth) - 1;
  bool packedSource = inst.op[2] == NoSlot;
  const uint32_t *a = c.src<uint32_t>(inst.op[1]),
                 *b = packedSource ? a : c.src<uint32_t>(inst.op[2]);
  uint32_t *out = c.dst<uint32_t>(inst.op[0]);
  eachLane(mask, [&](unsigned l) {
    uint64_t hi = packedSource ? a[l] >> fromWidth & fromMask : a[l],
             lo = packedSource ? a[l] & fromMask : b[l];
    out[l] = uint32_t(convertOne(each, hi) << width | convertOne(each, lo));
  });
  return Step::Next;
}

//===-- Fast forms --------------------------------------------------------===//

uint64_t widenS32(int32_t a) { return uint64_t(int64_t(a)); }
uint64_t widenU32(uint32_t a) { return a; }
uint32_t truncate64(uint64_t a) { return uint32_t(a); }
uint32_t widenS16(int16_t a) { return uint32_t(int32_t(a)); }
uint32_t widenU16(uint16_t a) { return a; }
uint16_t truncate32(uint32_t a) { return uint16_t(a); }
float floatS32(int32_t a) { return float(a); }
float floatU32(uint32_t a) { return float(a); }
float widenHalf(Half a) { return canonical(floatFromHalf(a.bits)); }
float widenBf16(Bf16 a) {
  return floatFromBf16(a.bits);
} // a NaN keeps its bits
Half narrowHalf(float a) { return {halfFromFloat(a)}; }
Bf16 narrowBf16(float a) { return {bf16FromFloat(a)}; }
uint32_t narrowHalf2(float a, float b) {
  return uint32_t(halfFromFloat(a)) << 16 | halfFromFloat(b);
}
uint32_t narrowBf162(float a, float b) {
  return uint32_t(bf16FromFloat(a)) << 16 | bf16FromFloat(b);
}
int32_t truncS32(float a) {
  double d = a;
  return d != d               ? 0
         : d >= 2147483647.0  ? INT32_MAX
         : d <= -2147483648.0 ? INT32_MIN
                              : int32_t(d);
}
double widenF32(float a) { return a; }
float narrowF64(double a) { return float(a); } // a NaN keeps its upper bits

ExecFn fastConvert(const Conversion &how, unsigned registerBits) {
  if (how.ftz || how.sat || how.relu || how.finite)
    return nullptr;
  auto is = [&](Type to, Type from) {
    return how.to == to && how.from == from;
  };
  if (isInteger(how.to) && isInteger(how.from)) {
    if (registerBits != bitsOf(how.to))
      return nullptr;
    unsigned to = bitsOf(how.to), from = bitsOf(how.from);
    if (to == 64 && from == 32)
      return isSigned(how.from) ? map<widenS32> : map<widenU32>;
    if (to == 32 && from == 64)
      return map<truncate64>;
    if (to == 32 && from == 16)
      return isSigned(how.from) ? map<widenS16> : map<widenU16>;
    if (to == 16 && from == 32)
      return map<truncate32>;
    return nullptr;
  }
  if (is(Type::S32, Type::F32) && how.round == Round::Zero)
    return map<truncS32>;
  if (is(Type::F32, Type::F16))
    return how.toIntegral ? nullptr : map<widenHalf>;
  if (is(Type::F32, Type::BF16))
    return how.toIntegral ? nullptr : map<widenBf16>;
  if (is(Type::F64, Type::F32))
    return how.toIntegral ? nullptr : map<widenF32>;
  if (how.round != Round::Nearest || how.toIntegral)
    return nullptr;
  return is(Type::F32, Type::S32)    ? map<floatS32>
         : is(Type::F32, Type::U32)  ? map<floatU32>
         : is(Type::F16, Type::F32)  ? map<narrowHalf>
         : is(Type::BF16, Type::F32) ? map<narrowBf16>
         : is(Type::F32, Type::F64)  ? map<narrowF64>
                                     : nullptr;
}

//===-- Decoder -----------------------------------------------------------===//

bool isNarrow(Type type) {
  return type == Type::E2M1x2 || type == Type::E2M3x2 || type == Type::E3M2x2;
}

/// What ptxas takes of the pairs that came with sm_100.
bool checkNewPair(FunctionDecoder &d, const Conversion &how) {
  Type wide = how.to, narrow = how.from;
  bool narrows = isNarrow(how.to) || how.to == Type::UE8M0x2;
  if (narrows)
    std::swap(wide, narrow);
  if (wide != Type::F32 && wide != Type::F16x2 && wide != Type::BF16x2)
    return d.badType(wide);
  bool isScale = narrow == Type::UE8M0x2,
       isDirected = how.round == Round::Zero || how.round == Round::Up;
  if (isScale && wide == Type::F16x2)
    return d.badType(wide);
  if (narrows && isScale ? !isDirected : how.round != Round::Nearest)
    return d.error("illegal rounding");
  if (how.ftz || how.sat || (isScale && how.relu) ||
      (narrows ? !isScale && !how.finite
               : how.finite && (isScale || wide != Type::BF16x2)))
    return d.error("these modifiers do not go together");
  unsigned version =
      d.builder.module.versionMajor * 10 + d.builder.module.versionMinor;
  if (!isScale && narrows && wide != Type::F32 && version < 91)
    return d.error("needs .version 9.1 or later");
  if (!isScale && !narrows && wide == Type::BF16x2 && version < 92)
    return d.error("needs .version 9.2 or later");
  return true;
}

bool decodePair(FunctionDecoder &d, const Conversion &how) {
  bool packedSource = Pair::element(how.from) != Type::None;
  if (!packedSource && how.from != Type::F32)
    return d.badType(how.from);
  bool isNew = isNarrow(how.to) || isNarrow(how.from) ||
               how.to == Type::UE8M0x2 || how.from == Type::UE8M0x2;
  if (isNew && !checkNewPair(d, how))
    return false;
  auto word = [](Type type) {
    return bitsOf(type) == 8    ? Type::B8
           : bitsOf(type) == 16 ? Type::B16
                                : Type::B32;
  };
  // Two e2m1 fill a register of their own size, and no wider one.
  for (size_t i = 0; i < 2 && i < d.operandCount(); ++i)
    if (Type have = d.registerType(d.operand(i));
        (i ? how.from : how.to) == Type::E2M1x2 && have != Type::None &&
        bitsOf(have) != 8)
      return d.errorAt(d.operand(i), "expected a register of 8 bits");
  size_t operands = packedSource ? 2 : 3;
  if (!d.expectOperands(operands, operands) ||
      !d.src(1, packedSource ? word(how.from) : Type::F32, 1))
    return false;
  if (!packedSource && !d.src(2, Type::F32, 2))
    return false;
  if (!d.dst(0, word(how.to), 0))
    return false;
  bool plain = !how.relu && !how.finite && !how.sat && !how.ftz &&
               how.round == Round::Nearest && how.from == Type::F32;
  if (plain && how.to == Type::F16x2)
    return d.emit(map<narrowHalf2>, Class::Convert);
  if (plain && how.to == Type::BF16x2)
    return d.emit(map<narrowBf162>, Class::Convert);
  return d.emit(execConvertPair, Class::Convert);
}

/// cvt.pack.sat: two 32-bit integers saturated into halves or bytes beside an
/// older value.
template <class T> uint32_t packHalves(int32_t a, int32_t b) {
  auto clamp = [](int32_t v) {
    return uint32_t(uint16_t(std::clamp<int32_t>(
        v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
  };
  return clamp(a) << 16 | clamp(b);
}
template <int Low, int High, unsigned Bits>
uint32_t packSmall(int32_t a, int32_t b, uint32_t c) {
  uint32_t mask = (1u << Bits) - 1;
  auto clamp = [&](int32_t v) {
    return uint32_t(std::clamp(v, Low, High)) & mask;
  };
  return c << 2 * Bits | clamp(a) << Bits | clamp(b);
}
bool decodePack(FunctionDecoder &d) {
  d.has("sat");
  Type to = d.takeType(), from = d.takeType();
  d.has("b32");
  if (from != Type::S32)
    return d.error("packs .s32");
  ExecFn fn = to == Type::S16   ? map<packHalves<int16_t>>
              : to == Type::U16 ? map<packHalves<uint16_t>>
                                : nullptr;
  if (fn)
    return uniformOperands(d, Type::B32, 2) && d.emit(fn, Class::Convert);
  fn = to == Type::S8   ? map<packSmall<-128, 127, 8>>
       : to == Type::U8 ? map<packSmall<0, 255, 8>>
       : to == Type::S4 ? map<packSmall<-8, 7, 4>>
       : to == Type::U4 ? map<packSmall<0, 15, 4>>
                        : nullptr;
  return fn ? uniformOperands(d, Type::B32, 3) && d.emit(fn, Class::Convert)
            : d.badType(to);
}

bool decodeCvt(FunctionDecoder &d) {
  if (d.has("pack"))
    return decodePack(d);
  if (d.has("rs"))
    return d.error("stochastic rounding is not supported by the simulator: "
                   "which random bits an element takes is not published");
  Conversion how{};
  int integral = d.hasOneOf({"rni", "rzi", "rmi", "rpi"}),
      direction = d.hasOneOf({"rn", "rz", "rm", "rp", "rna"});
  how.toIntegral = integral >= 0;
  how.round = integral >= 0    ? Round(integral)
              : direction >= 0 ? Round(direction)
                               : Round::Nearest;
  how.ftz = d.has("ftz");
  how.relu = d.has("relu");
  how.finite = d.has("satfinite");
  how.sat = d.has("sat");
  how.to = d.takeType();
  how.from = d.takeType();
  if (how.from == Type::None)
    return d.error("needs two types");
  d.inst.mod[0] = uint8_t(how.to);
  d.inst.mod[1] = uint8_t(how.from);
  d.inst.mod[2] = uint8_t(how.round);
  d.inst.mod[3] = uint8_t(how.toIntegral | how.ftz << 1 | how.sat << 2 |
                          how.relu << 3 | how.finite << 4);
  if (Pair::element(how.to) != Type::None)
    return decodePair(d, how);
  auto scalar = [](Type t) {
    return isInteger(t) || t == Type::F16 || t == Type::BF16 ||
           t == Type::F32 || t == Type::F64;
  };
  if (how.to == Type::TF32 ? how.from != Type::F32
                           : !scalar(how.to) || !scalar(how.from))
    return d.error("this conversion is not supported");
  bool fromFloat = isFloat(how.from), toFloat = isFloat(how.to);
  if (fromFloat && !toFloat && !how.toIntegral)
    return d.error("needs an integer rounding");
  if (!fromFloat && toFloat && direction < 0)
    return d.error("needs a rounding");
  if (!d.expectOperands(2, 2) || !d.src(1, how.from, 1))
    return false;
  Type registerType = d.registerType(d.operand(0));
  if (!d.dst(0, how.to, 0))
    return false;
  unsigned registerBits =
      registerType == Type::None
          ? bitsOf(how.to)
          : std::max(bitsOf(how.to),
                     std::min(bitsOf(registerType),
                              classOf(how.to) == SlotClass::Word ? 32u : 64u));
  d.inst.imm = registerBits;
  ExecFn fast = fastConvert(how, registerBits);
  return d.emit(fast ? fast : execConvert, Class::Convert);
}
} // namespace

void tile::sim::registerConvert(DecodeTable &t) {
  t.insert({{"cvt", decodeCvt}});
}

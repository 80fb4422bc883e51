//===-- Logic.cpp - Logic, shifts, bit fields, byte permutes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

#include <algorithm>
#include <bit>

using namespace tile::sim;

namespace {
struct And {
  template <class T> static T f(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T f(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T f(T a, T b) { return a ^ b; }
};
struct Not {
  template <class T> static T f(T a) { return T(~a); }
};
struct Cnot {
  template <class T> static T f(T a) { return a == 0; }
};
// Shift amounts beyond the width are clamped to it.
struct Shl {
  template <class T> static T f(T a, uint32_t n) {
    return n >= 8 * sizeof(T) ? T(0) : T(a << n);
  }
};
struct Shr {
  template <class T> static T f(T a, uint32_t n) {
    if (n >= 8 * sizeof(T))
      return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
    return T(a >> n);
  }
};

template <bool Left, bool Wrap>
uint32_t shf(uint32_t lo, uint32_t hi, uint32_t n) {
  n = Wrap ? n & 31 : std::min(n, 32u);
  uint64_t both = uint64_t(hi) << 32 | lo;
  return Left ? (n == 32 ? lo : uint32_t((both << n) >> 32))
              : uint32_t(both >> n);
}

struct Popc {
  template <class T> static uint32_t f(T a) {
    return uint32_t(std::popcount(a));
  }
};
struct Clz {
  template <class T> static uint32_t f(T a) {
    return uint32_t(std::countl_zero(a));
  }
};
template <class T, bool Amount> uint32_t bfind(T a) {
  using U = std::make_unsigned_t<T>;
  U bits = std::is_signed_v<T> && a < 0 ? U(~a) : U(a);
  if (bits == 0)
    return ~0u;
  uint32_t at = 8 * sizeof(T) - 1 - uint32_t(std::countl_zero(bits));
  return Amount ? 8 * sizeof(T) - 1 - at : at;
}
struct Brev {
  template <class T> static T f(T a) {
    T r = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      r |= T(a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return r;
  }
};
struct Bfe {
  template <class T> static T f(T a, uint32_t position, uint32_t length) {
    constexpr unsigned width = 8 * sizeof(T);
    using U = std::make_unsigned_t<T>;
    unsigned pos = position & 255, len = length & 255;
    if (len == 0)
      return 0;
    // Bits beyond the top, and the extension of a signed field, repeat the
    // field's highest existing bit.
    unsigned top = std::min(pos + len - 1, width - 1);
    bool sign = std::is_signed_v<T> && (U(a) >> top & 1);
    U field = pos >= width ? 0 : U(a) >> pos;
    unsigned kept = pos >= width ? 0 : std::min(len, width - pos);
    U mask = kept >= width ? U(~U(0)) : (U(1) << kept) - 1;
    return T((field & mask) | (sign ? U(~mask) : U(0)));
  }
};
struct Bfi {
  template <class T> static T f(T a, T b, uint32_t position, uint32_t length) {
    unsigned pos = position & 255, len = length & 255;
    if (pos >= 8 * sizeof(T) || len == 0)
      return b;
    T mask = len >= 8 * sizeof(T) ? T(~T(0)) : T((T(1) << len) - 1);
    return T((b & ~T(mask << pos)) | T((a & mask) << pos));
  }
};
template <bool Wrap> uint32_t bmsk(uint32_t a, uint32_t b) {
  uint32_t pos = Wrap ? a & 31 : a, len = Wrap ? b & 31 : b;
  if (pos >= 32)
    return 0;
  uint32_t mask = len >= 32 ? ~0u : (1u << len) - 1;
  return mask << pos;
}
template <bool Signed, bool Wrap> uint32_t szext(uint32_t a, uint32_t b) {
  uint32_t bits = Wrap ? b & 31 : std::min(b, 32u);
  if (bits == 0)
    return 0;
  if (bits == 32)
    return a;
  uint32_t low = a & ((1u << bits) - 1);
  return Signed && (low >> (bits - 1) & 1) ? low | ~((1u << bits) - 1) : low;
}

uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t sel = selector >> 4 * i & 15;
    uint32_t byte = uint32_t(bytes >> 8 * (sel & 7)) & 255;
    if (sel & 8)
      byte = byte & 128 ? 255 : 0;
    out |= byte << 8 * i;
  }
  return out;
}
template <unsigned Mode> uint32_t prmtMode(uint32_t a, uint32_t b, uint32_t c) {
  // f4e b4e rc8 ecl ecr rc16: tables of the ISA, by the selector's low two
  // bits.
  static constexpr uint32_t tables[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
      {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
      {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
  return prmt(a, b, tables[Mode][c & 3]);
}

Step execLop3(Ctx &c, const Inst &inst, uint32_t mask) {
  const uint32_t *a = c.src<uint32_t>(inst.op[1]),
                 *b = c.src<uint32_t>(inst.op[2]),
                 *d = c.src<uint32_t>(inst.op[3]);
  uint32_t lut = uint32_t(inst.imm);
  alignas(64) uint32_t out[Lanes] = {};
  for (unsigned term = 0; term < 8; ++term) {
    if (!(lut >> term & 1))
      continue;
    uint32_t fa = term & 4 ? 0 : ~0u, fb = term & 2 ? 0 : ~0u,
             fc = term & 1 ? 0 : ~0u;
    for (unsigned l = 0; l < Lanes; ++l)
      out[l] |= (a[l] ^ fa) & (b[l] ^ fb) & (d[l] ^ fc);
  }
  if (inst.op[4] != NoSlot) {
    uint32_t bits = 0, other = c.pred(inst.op[5]);
    for (unsigned l = 0; l < Lanes; ++l)
      bits |= uint32_t(out[l] != 0) << l;
    c.setPred(inst.op[4], inst.mod[0] ? bits & other : bits | other, mask);
  }
  commit(c.dst<uint32_t>(inst.op[0]), out, mask);
  return Step::Next;
}

Step execFns(Ctx &c, const Inst &inst, uint32_t mask) {
  const uint32_t *a = c.src<uint32_t>(inst.op[1]),
                 *b = c.src<uint32_t>(inst.op[2]);
  const int32_t *n = c.src<int32_t>(inst.op[3]);
  uint32_t *out = c.dst<uint32_t>(inst.op[0]);
  eachLane(mask, [&](unsigned l) {
    uint32_t base = b[l] & 31, found = ~0u, value = a[l];
    int32_t offset = n[l];
    if (offset == 0) {
      found = value >> base & 1 ? base : ~0u;
    } else {
      int step = offset > 0 ? 1 : -1, count = std::abs(offset);
      for (int i = int(base); i >= 0 && i < 32; i += step)
        if ((value >> i & 1) && --count == 0) {
          found = uint32_t(i);
          break;
        }
    }
    out[l] = found;
  });
  return Step::Next;
}

template <unsigned Op>
Step execPredLogic(Ctx &c, const Inst &inst, uint32_t mask) {
  uint32_t a = c.pred(inst.op[1]), b = Op == 3 ? 0 : c.pred(inst.op[2]);
  c.setPred(inst.op[0],
            Op == 0   ? a & b
            : Op == 1 ? a | b
            : Op == 2 ? a ^ b
                      : ~a,
            mask);
  return Step::Next;
}

template <class Op> ExecFn pickBits(Type type) {
  return type == Type::B16   ? map<&Op::template f<uint16_t>>
         : type == Type::B32 ? map<&Op::template f<uint32_t>>
         : type == Type::B64 ? map<&Op::template f<uint64_t>>
                             : nullptr;
}
template <unsigned P, class Op, unsigned Sources>
bool decodeLogic(FunctionDecoder &d) {
  Type type = d.takeType();
  if (type == Type::Pred)
    return uniformOperands(d, type, Sources) &&
           d.emit(execPredLogic<P>, Class::Logic);
  ExecFn fn = pickBits<Op>(type);
  return fn ? uniformOperands(d, type, Sources) && d.emit(fn, Class::Logic)
            : d.badType(type);
}
bool decodeCnot(FunctionDecoder &d) {
  Type type = d.takeType();
  ExecFn fn = pickBits<Cnot>(type);
  return fn ? uniformOperands(d, type, 1) && d.emit(fn, Class::Logic)
            : d.badType(type);
}
template <class Op> bool decodeShift(FunctionDecoder &d) {
  Type type = d.takeType();
  ExecFn fn =
      type == Type::B8                         ? nullptr
      : type == Type::U16 || type == Type::B16 ? map<&Op::template f<uint16_t>>
      : type == Type::U32 || type == Type::B32 ? map<&Op::template f<uint32_t>>
      : type == Type::U64 || type == Type::B64 ? map<&Op::template f<uint64_t>>
      : type == Type::S16                      ? map<&Op::template f<int16_t>>
      : type == Type::S32                      ? map<&Op::template f<int32_t>>
      : type == Type::S64                      ? map<&Op::template f<int64_t>>
                                               : nullptr;
  if (!fn)
    return d.badType(type);
  return d.expectOperands(3, 3) && d.src(1, type, 1) &&
         d.src(2, Type::B32, 2) && d.dst(0, type, 0) &&
         d.emit(fn, Class::Logic);
}
bool decodeShf(FunctionDecoder &d) {
  int direction = d.hasOneOf({"l", "r"}), mode = d.hasOneOf({"clamp", "wrap"});
  if (direction < 0 || mode < 0 || d.takeType() != Type::B32)
    return d.error("needs .l or .r, .clamp or .wrap, and .b32");
  ExecFn fn = direction == 0
                  ? (mode ? map<shf<true, true>> : map<shf<true, false>>)
                  : (mode ? map<shf<false, true>> : map<shf<false, false>>);
  return uniformOperands(d, Type::B32, 3) && d.emit(fn, Class::Logic);
}
bool decodeLop3(FunctionDecoder &d) {
  int combine = d.hasOneOf({"and", "or"});
  if (d.takeType() != Type::B32)
    return d.error("needs .b32");
  if (!d.expectOperands(combine >= 0 ? 6 : 5, combine >= 0 ? 6 : 5))
    return false;
  for (unsigned i = 1; i <= 3; ++i)
    if (!d.src(i, Type::B32, i))
      return false;
  if (!d.immediate(d.operand(4), d.inst.imm))
    return false;
  if (combine >= 0) {
    d.inst.mod[0] = combine == 0;
    const ast::Operand *p = d.second(0);
    if (!p)
      return d.error("needs a predicate beside the result");
    if (!d.src(5, Type::Pred, 5) || !d.predDst(*p, d.inst.op[4]))
      return false;
  }
  return d.dst(d.first(0), Type::B32, d.inst.op[0]) &&
         d.emit(execLop3, Class::Logic);
}
template <class Op> bool decodeCount(FunctionDecoder &d) {
  Type type = d.takeType();
  ExecFn fn = type == Type::B32   ? map<&Op::template f<uint32_t>>
              : type == Type::B64 ? map<&Op::template f<uint64_t>>
                                  : nullptr;
  if (!fn)
    return d.badType(type);
  return d.expectOperands(2, 2) && d.src(1, type, 1) &&
         d.dst(0, Type::B32, 0) && d.emit(fn, Class::Logic);
}
bool decodeBfind(FunctionDecoder &d) {
  bool amount = d.has("shiftamt");
  Type type = d.takeType();
  ExecFn fn =
      type == Type::U32
          ? (amount ? map<bfind<uint32_t, true>> : map<bfind<uint32_t, false>>)
      : type == Type::S32
          ? (amount ? map<bfind<int32_t, true>> : map<bfind<int32_t, false>>)
      : type == Type::U64
          ? (amount ? map<bfind<uint64_t, true>> : map<bfind<uint64_t, false>>)
      : type == Type::S64
          ? (amount ? map<bfind<int64_t, true>> : map<bfind<int64_t, false>>)
          : nullptr;
  if (!fn)
    return d.badType(type);
  return d.expectOperands(2, 2) && d.src(1, type, 1) &&
         d.dst(0, Type::B32, 0) && d.emit(fn, Class::Logic);
}
bool decodeBrev(FunctionDecoder &d) {
  Type type = d.takeType();
  ExecFn fn =
      type == Type::B32 || type == Type::B64 ? pickBits<Brev>(type) : nullptr;
  return fn ? uniformOperands(d, type, 1) && d.emit(fn, Class::Logic)
            : d.badType(type);
}
bool decodeBfe(FunctionDecoder &d) {
  Type type = d.takeType();
  ExecFn fn = isInteger(type) && bitsOf(type) >= 32
                  ? (type == Type::U32   ? map<&Bfe::f<uint32_t>>
                     : type == Type::S32 ? map<&Bfe::f<int32_t>>
                     : type == Type::U64 ? map<&Bfe::f<uint64_t>>
                                         : map<&Bfe::f<int64_t>>)
                  : nullptr;
  if (!fn)
    return d.badType(type);
  return d.expectOperands(4, 4) && d.src(1, type, 1) &&
         d.src(2, Type::B32, 2) && d.src(3, Type::B32, 3) &&
         d.dst(0, type, 0) && d.emit(fn, Class::Logic);
}
bool decodeBfi(FunctionDecoder &d) {
  Type type = d.takeType();
  ExecFn fn = type == Type::B32   ? map<&Bfi::f<uint32_t>>
              : type == Type::B64 ? map<&Bfi::f<uint64_t>>
                                  : nullptr;
  if (!fn)
    return d.badType(type);
  return d.expectOperands(5, 5) && d.src(1, type, 1) && d.src(2, type, 2) &&
         d.src(3, Type::B32, 3) && d.src(4, Type::B32, 4) &&
         d.dst(0, type, 0) && d.emit(fn, Class::Logic);
}
bool decodeBmsk(FunctionDecoder &d) {
  int mode = d.hasOneOf({"clamp", "wrap"});
  if (mode < 0 || d.takeType() != Type::B32)
    return d.error("needs .clamp or .wrap and .b32");
  return uniformOperands(d, Type::B32, 2) &&
         d.emit(mode ? map<bmsk<true>> : map<bmsk<false>>, Class::Logic);
}
bool decodeSzext(FunctionDecoder &d) {
  int mode = d.hasOneOf({"clamp", "wrap"});
  Type type = d.takeType();
  if (mode < 0 || (type != Type::U32 && type != Type::S32))
    return d.error("needs .clamp or .wrap and .u32 or .s32");
  ExecFn fn = type == Type::S32
                  ? (mode ? map<szext<true, true>> : map<szext<true, false>>)
                  : (mode ? map<szext<false, true>> : map<szext<false, false>>);
  return uniformOperands(d, type, 2) && d.emit(fn, Class::Logic);
}
bool decodePrmt(FunctionDecoder &d) {
  int mode = -1;
  if (d.takeType() != Type::B32)
    return d.error("needs .b32");
  static const ExecFn modes[] = {map<prmtMode<0>>, map<prmtMode<1>>,
                                 map<prmtMode<2>>, map<prmtMode<3>>,
                                 map<prmtMode<4>>, map<prmtMode<5>>};
  mode = d.hasOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  return uniformOperands(d, Type::B32, 3) &&
         d.emit(mode < 0 ? map<prmt> : modes[mode], Class::Logic);
}
bool decodeFns(FunctionDecoder &d) {
  if (d.takeType() != Type::B32)
    return d.error("needs .b32");
  return uniformOperands(d, Type::B32, 3) && d.emit(execFns, Class::Logic);
}
} // namespace

void tile::sim::registerLogic(DecodeTable &t) {
  t.insert({{"and", decodeLogic<0, And, 2>},
            {"or", decodeLogic<1, Or, 2>},
            {"xor", decodeLogic<2, Xor, 2>},
            {"not", decodeLogic<3, Not, 1>},
            {"cnot", decodeCnot},
            {"shl", decodeShift<Shl>},
            {"shr", decodeShift<Shr>},
            {"shf", decodeShf},
            {"lop3", decodeLop3},
            {"popc", decodeCount<Popc>},
            {"clz", decodeCount<Clz>},
            {"bfind", decodeBfind},
            {"brev", decodeBrev},
            {"bfe", decodeBfe},
            {"bfi", decodeBfi},
            {"bmsk", decodeBmsk},
            {"szext", decodeSzext},
            {"prmt", decodePrmt},
            {"fns", decodeFns}});
}

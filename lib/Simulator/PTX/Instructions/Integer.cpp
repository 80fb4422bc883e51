//===-- Integer.cpp - Integer arithmetic ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

#include <bit>
#include <limits>

using namespace tile::sim;

namespace {
template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> struct WiderOf;
template <> struct WiderOf<uint8_t> {
  using type = uint16_t;
};
template <> struct WiderOf<int8_t> {
  using type = int16_t;
};
template <> struct WiderOf<uint16_t> {
  using type = uint32_t;
};
template <> struct WiderOf<int16_t> {
  using type = int32_t;
};
template <> struct WiderOf<uint32_t> {
  using type = uint64_t;
};
template <> struct WiderOf<int32_t> {
  using type = int64_t;
};
template <> struct WiderOf<uint64_t> {
  using type = unsigned __int128;
};
template <> struct WiderOf<int64_t> {
  using type = __int128;
};
template <class T> using Wider = typename WiderOf<T>::type;

// 16-bit operands would be promoted to int, where a multiplication can
// overflow; 32 bits without a sign cannot.
template <class T>
using Work = std::conditional_t<sizeof(T) < 4, uint32_t, Unsigned<T>>;

struct Add {
  template <class T> static T f(T a, T b) { return T(Work<T>(a) + Work<T>(b)); }
};
struct Sub {
  template <class T> static T f(T a, T b) { return T(Work<T>(a) - Work<T>(b)); }
};
struct MulLo {
  template <class T> static T f(T a, T b) { return T(Work<T>(a) * Work<T>(b)); }
};
struct MulHi {
  template <class T> static T f(T a, T b) {
    return T((Wider<T>(a) * Wider<T>(b)) >> (8 * sizeof(T)));
  }
};
struct MadLo {
  template <class T> static T f(T a, T b, T c) {
    return T(Work<T>(a) * Work<T>(b) + Work<T>(c));
  }
};
struct MadHi {
  template <class T> static T f(T a, T b, T c) {
    return T(Work<T>(MulHi::f(a, b)) + Work<T>(c));
  }
};
struct MulWide {
  template <class T> static Wider<T> f(T a, T b) {
    return Wider<T>(Wider<T>(a) * Wider<T>(b));
  }
};
struct MadWide {
  template <class T> static Wider<T> f(T a, T b, Wider<T> c) {
    using U = Unsigned<Wider<T>>;
    return Wider<T>(U(Wider<T>(a) * Wider<T>(b)) + U(c));
  }
};
int32_t clamp32(int64_t v) {
  return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : int32_t(v);
}
int32_t addSat(int32_t a, int32_t b) { return clamp32(int64_t(a) + b); }
int32_t subSat(int32_t a, int32_t b) { return clamp32(int64_t(a) - b); }
int32_t madHiSat(int32_t a, int32_t b, int32_t c) {
  return clamp32(int64_t(MulHi::f(a, b)) + c);
}
// Quotient and remainder of a division by zero are all ones, as an H200 gives
// them.
struct Div {
  template <class T> static T f(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return T(0 - Work<T>(a));
    return T(a / b);
  }
};
struct Rem {
  template <class T> static T f(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return T(a % b);
  }
};
struct Min {
  template <class T> static T f(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <class T> static T f(T a, T b) { return a > b ? a : b; }
};
struct Neg {
  template <class T> static T f(T a) { return T(0 - Work<T>(a)); }
};
struct Abs {
  template <class T> static T f(T a) { return a < 0 ? T(0 - Work<T>(a)) : a; }
};
struct Sad {
  template <class T> static T f(T a, T b, T c) {
    return T(Work<T>(c) +
             (a < b ? Work<T>(b) - Work<T>(a) : Work<T>(a) - Work<T>(b)));
  }
};
int32_t minRelu(int32_t a, int32_t b) { return std::max(std::min(a, b), 0); }
int32_t maxRelu(int32_t a, int32_t b) { return std::max(std::max(a, b), 0); }

// Multiplies the low 24 bits: .lo gives bits 31..0 of the 48-bit result, .hi
// bits 47..16.
int64_t low24(int32_t a) { return int64_t(int32_t(uint32_t(a) << 8) >> 8); }
uint32_t mul24LoU(uint32_t a, uint32_t b) {
  return uint32_t(uint64_t(a & 0xffffff) * (b & 0xffffff));
}
uint32_t mul24HiU(uint32_t a, uint32_t b) {
  return uint32_t((uint64_t(a & 0xffffff) * (b & 0xffffff)) >> 16);
}
int32_t mul24LoS(int32_t a, int32_t b) { return int32_t(low24(a) * low24(b)); }
int32_t mul24HiS(int32_t a, int32_t b) {
  return int32_t((low24(a) * low24(b)) >> 16);
}
uint32_t mad24LoU(uint32_t a, uint32_t b, uint32_t c) {
  return mul24LoU(a, b) + c;
}
uint32_t mad24HiU(uint32_t a, uint32_t b, uint32_t c) {
  return mul24HiU(a, b) + c;
}
int32_t mad24LoS(int32_t a, int32_t b, int32_t c) {
  return int32_t(uint32_t(mul24LoS(a, b)) + uint32_t(c));
}
int32_t mad24HiS(int32_t a, int32_t b, int32_t c) {
  return int32_t(uint32_t(mul24HiS(a, b)) + uint32_t(c));
}

// Four bytes, or two halves with two bytes; each side signed or not.
template <bool SA, bool SB> uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned i = 0; i < 4; ++i) {
    int32_t x = SA ? int32_t(int8_t(a >> 8 * i)) : int32_t(a >> 8 * i & 255);
    int32_t y = SB ? int32_t(int8_t(b >> 8 * i)) : int32_t(b >> 8 * i & 255);
    c += uint32_t(x * y);
  }
  return c;
}
template <bool SA, bool SB, bool Hi>
uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned i = 0; i < 2; ++i) {
    uint32_t byte = b >> (8 * i + (Hi ? 16 : 0)) & 255;
    int32_t x =
        SA ? int32_t(int16_t(a >> 16 * i)) : int32_t(a >> 16 * i & 0xffff);
    int32_t y = SB ? int32_t(int8_t(byte)) : int32_t(byte);
    c += uint32_t(x) * uint32_t(y);
  }
  return c;
}

template <class Op>
bool emitUniform(FunctionDecoder &d, Type type, unsigned sources,
                 Class cls = Class::Integer) {
  ExecFn fn = pickInteger<Op>(type);
  return fn ? uniformOperands(d, type, sources) && d.emit(fn, cls)
            : d.badType(type);
}

//===-- Carry chains ------------------------------------------------------===//

// The condition code is one predicate of the frame; every function has its own.
template <class T, bool In, bool Out, bool Subtract>
Step execCarry(Ctx &c, const Inst &inst, uint32_t mask) {
  using S = typename Lane<T>::Storage;
  const S *a = c.src<S>(inst.op[1]), *b = c.src<S>(inst.op[2]);
  S out[Lanes];
  uint32_t carryIn = In ? c.pred(inst.op[3]) : 0, carryOut = 0;
  for (unsigned l = 0; l < Lanes; ++l) {
    unsigned __int128 x = T(a[l]), y = T(b[l]), k = carryIn >> l & 1;
    unsigned __int128 r = Subtract ? x - y - k : x + y + k;
    out[l] = T(r);
    carryOut |= uint32_t(r >> (8 * sizeof(T)) & 1) << l;
  }
  commit(c.dst<S>(inst.op[0]), out, mask);
  if (Out)
    c.setPred(inst.op[3], carryOut, mask);
  return Step::Next;
}

template <class T, bool In, bool Out, bool Hi>
Step execMadCarry(Ctx &c, const Inst &inst, uint32_t mask) {
  using S = typename Lane<T>::Storage;
  const S *a = c.src<S>(inst.op[1]), *b = c.src<S>(inst.op[2]),
          *addend = c.src<S>(inst.op[4]);
  S out[Lanes];
  uint32_t carryIn = In ? c.pred(inst.op[3]) : 0, carryOut = 0;
  for (unsigned l = 0; l < Lanes; ++l) {
    T product = Hi ? MulHi::f(T(a[l]), T(b[l])) : MulLo::f(T(a[l]), T(b[l]));
    using U = Unsigned<T>;
    unsigned __int128 r =
        (unsigned __int128)U(product) + U(T(addend[l])) + (carryIn >> l & 1);
    out[l] = S(U(r));
    carryOut |= uint32_t(r >> (8 * sizeof(T)) & 1) << l;
  }
  commit(c.dst<S>(inst.op[0]), out, mask);
  if (Out)
    c.setPred(inst.op[3], carryOut, mask);
  return Step::Next;
}

template <bool In, bool Subtract> bool decodeCarry(FunctionDecoder &d) {
  bool out = d.has("cc");
  Type type = d.takeType();
  if (!uniformOperands(d, type, 2))
    return false;
  d.inst.op[3] = d.carrySlot();
  bool wide = bitsOf(type) == 64;
  if (!isInteger(type) || bitsOf(type) < 32)
    return d.badType(type);
  ExecFn fn = wide ? (out ? execCarry<uint64_t, In, true, Subtract>
                          : execCarry<uint64_t, In, false, Subtract>)
                   : (out ? execCarry<uint32_t, In, true, Subtract>
                          : execCarry<uint32_t, In, false, Subtract>);
  return d.emit(fn, Class::Integer);
}

template <class T, bool In> ExecFn pickMadCarry(bool out, bool hi) {
  return out ? (hi ? execMadCarry<T, In, true, true>
                   : execMadCarry<T, In, true, false>)
             : (hi ? execMadCarry<T, In, false, true>
                   : execMadCarry<T, In, false, false>);
}

template <bool In> bool decodeMadCarry(FunctionDecoder &d) {
  bool out = d.has("cc"), hi = d.has("hi");
  if (!hi && !d.has("lo"))
    return d.error("needs .lo or .hi");
  Type type = d.takeType();
  if (!d.expectOperands(4, 4) || !d.src(1, type, 1) || !d.src(2, type, 2) ||
      !d.src(3, type, 4) || !d.dst(0, type, 0))
    return false;
  d.inst.op[3] = d.carrySlot();
  ExecFn fn = type == Type::U32   ? pickMadCarry<uint32_t, In>(out, hi)
              : type == Type::S32 ? pickMadCarry<int32_t, In>(out, hi)
              : type == Type::U64 ? pickMadCarry<uint64_t, In>(out, hi)
              : type == Type::S64 ? pickMadCarry<int64_t, In>(out, hi)
                                  : nullptr;
  return fn ? d.emit(fn, Class::Integer) : d.badType(type);
}

//===-- Decoders ----------------------------------------------------------===//

bool isPackedInteger(Type t) { return t == Type::U16x2 || t == Type::S16x2; }

template <Arith A, class Op, unsigned Sources>
bool decodeArith(FunctionDecoder &d) {
  Type type = d.peekType();
  if (isFloat(type))
    return decodeFloatArith(d, A);
  if (isPackedInteger(type))
    return decodePackedInteger(d, A);
  if constexpr (A == Arith::Add || A == Arith::Sub) {
    for (std::string_view m : d.in->modifiers)
      if (m == "cc")
        return decodeCarry<false, A == Arith::Sub>(d);
    if (d.has("sat")) {
      if (d.takeType() != Type::S32)
        return d.error(".sat is for .s32");
      return uniformOperands(d, Type::S32, 2) &&
             d.emit(A == Arith::Add ? map<addSat> : map<subSat>,
                    Class::Integer);
    }
  }
  if constexpr (A == Arith::Min || A == Arith::Max)
    if (d.has("relu")) {
      if (d.takeType() != Type::S32)
        return d.error(".relu is for .s32");
      return uniformOperands(d, Type::S32, 2) &&
             d.emit(A == Arith::Min ? map<minRelu> : map<maxRelu>,
                    Class::Integer);
    }
  return emitUniform<Op>(d, d.takeType(), Sources);
}

bool decodeMul(FunctionDecoder &d) {
  if (isFloat(d.peekType()))
    return decodeFloatArith(d, Arith::Mul);
  int half = d.hasOneOf({"lo", "hi", "wide"});
  Type type = d.takeType();
  if (half < 0)
    return d.error("needs .lo, .hi or .wide");
  if (half == 0)
    return emitUniform<MulLo>(d, type, 2);
  if (half == 1)
    return emitUniform<MulHi>(d, type, 2);
  ExecFn fn = type == Type::U16   ? map<&MulWide::f<uint16_t>>
              : type == Type::S16 ? map<&MulWide::f<int16_t>>
              : type == Type::U32 ? map<&MulWide::f<uint32_t>>
              : type == Type::S32 ? map<&MulWide::f<int32_t>>
                                  : nullptr;
  if (!fn)
    return d.badType(type);
  Type wide = bitsOf(type) == 16 ? Type::B32 : Type::B64;
  return d.expectOperands(3, 3) && d.src(1, type, 1) && d.src(2, type, 2) &&
         d.dst(0, wide, 0) && d.emit(fn, Class::Integer);
}

bool decodeMad(FunctionDecoder &d) {
  if (isFloat(d.peekType()))
    return decodeFloatArith(d, Arith::Fma);
  for (std::string_view m : d.in->modifiers)
    if (m == "cc")
      return decodeMadCarry<false>(d);
  int half = d.hasOneOf({"lo", "hi", "wide"});
  bool sat = d.has("sat");
  Type type = d.takeType();
  if (half < 0)
    return d.error("needs .lo, .hi or .wide");
  if (sat) {
    if (half != 1 || type != Type::S32)
      return d.error(".sat is for .hi.s32");
    return uniformOperands(d, type, 3) && d.emit(map<madHiSat>, Class::Integer);
  }
  if (half == 0)
    return emitUniform<MadLo>(d, type, 3);
  if (half == 1)
    return emitUniform<MadHi>(d, type, 3);
  ExecFn fn = type == Type::U16   ? map<&MadWide::f<uint16_t>>
              : type == Type::S16 ? map<&MadWide::f<int16_t>>
              : type == Type::U32 ? map<&MadWide::f<uint32_t>>
              : type == Type::S32 ? map<&MadWide::f<int32_t>>
                                  : nullptr;
  if (!fn)
    return d.badType(type);
  Type wide = bitsOf(type) == 16 ? Type::B32 : Type::B64;
  return d.expectOperands(4, 4) && d.src(1, type, 1) && d.src(2, type, 2) &&
         d.src(3, wide, 3) && d.dst(0, wide, 0) && d.emit(fn, Class::Integer);
}

template <bool Mad> bool decode24(FunctionDecoder &d) {
  int half = d.hasOneOf({"lo", "hi"});
  Type type = d.takeType();
  if (half < 0 || (type != Type::U32 && type != Type::S32))
    return d.badType(type);
  bool hi = half == 1, s = type == Type::S32;
  ExecFn fn = Mad ? (s ? (hi ? map<mad24HiS> : map<mad24LoS>)
                       : (hi ? map<mad24HiU> : map<mad24LoU>))
                  : (s ? (hi ? map<mul24HiS> : map<mul24LoS>)
                       : (hi ? map<mul24HiU> : map<mul24LoU>));
  return uniformOperands(d, type, Mad ? 3 : 2) && d.emit(fn, Class::Integer);
}

bool decodeDiv(FunctionDecoder &d) {
  if (isFloat(d.peekType()))
    return decodeFloatArith(d, Arith::Div);
  return emitUniform<Div>(d, d.takeType(), 2);
}
bool decodeRem(FunctionDecoder &d) {
  return emitUniform<Rem>(d, d.takeType(), 2);
}
bool decodeSad(FunctionDecoder &d) {
  return emitUniform<Sad>(d, d.takeType(), 3);
}

bool takeSigns(FunctionDecoder &d, bool &a, bool &b) {
  Type first = d.takeType(), second = d.takeType();
  a = first == Type::S32;
  b = second == Type::S32;
  if ((!a && first != Type::U32) || (!b && second != Type::U32))
    return d.error("needs .u32 or .s32 for both factors");
  return uniformOperands(d, Type::B32, 3);
}
bool decodeDp4a(FunctionDecoder &d) {
  bool a, b;
  if (!takeSigns(d, a, b))
    return false;
  return d.emit(a ? (b ? map<dp4a<true, true>> : map<dp4a<true, false>>)
                  : (b ? map<dp4a<false, true>> : map<dp4a<false, false>>),
                Class::Integer);
}
bool decodeDp2a(FunctionDecoder &d) {
  int half = d.hasOneOf({"lo", "hi"});
  bool a, b;
  if (half < 0)
    return d.error("needs .lo or .hi");
  if (!takeSigns(d, a, b))
    return false;
  static const ExecFn table[2][2][2] = {
      {{map<dp2a<false, false, false>>, map<dp2a<false, false, true>>},
       {map<dp2a<false, true, false>>, map<dp2a<false, true, true>>}},
      {{map<dp2a<true, false, false>>, map<dp2a<true, false, true>>},
       {map<dp2a<true, true, false>>, map<dp2a<true, true, true>>}}};
  return d.emit(table[a][b][half], Class::Integer);
}
} // namespace

void tile::sim::registerInteger(DecodeTable &t) {
  t.insert({{"add", decodeArith<Arith::Add, Add, 2>},
            {"sub", decodeArith<Arith::Sub, Sub, 2>},
            {"min", decodeArith<Arith::Min, Min, 2>},
            {"max", decodeArith<Arith::Max, Max, 2>},
            {"neg", decodeArith<Arith::Neg, Neg, 1>},
            {"abs", decodeArith<Arith::Abs, Abs, 1>},
            {"mul", decodeMul},
            {"mad", decodeMad},
            {"mul24", decode24<false>},
            {"mad24", decode24<true>},
            {"div", decodeDiv},
            {"rem", decodeRem},
            {"sad", decodeSad},
            {"dp4a", decodeDp4a},
            {"dp2a", decodeDp2a},
            {"addc", decodeCarry<true, false>},
            {"subc", decodeCarry<true, true>},
            {"madc", decodeMadCarry<true>}});
}

//===-- Compare.cpp - setp, set, selp, slct -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

using namespace tile::sim;

namespace {
enum Cmp : unsigned {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan,
  CmpCount
};

template <unsigned Op, class T> bool compare(T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>)
    unordered = a != a || b != b;
  switch (Op) {
  case Eq:
    return a == b;
  case Ne:
    return a != b && !unordered;
  case Lt:
    return a < b;
  case Le:
    return a <= b;
  case Gt:
    return a > b;
  case Ge:
    return a >= b;
  case Equ:
    return a == b || unordered;
  case Neu:
    return a != b;
  case Ltu:
    return a < b || unordered;
  case Leu:
    return a <= b || unordered;
  case Gtu:
    return a > b || unordered;
  case Geu:
    return a >= b || unordered;
  case Num:
    return !unordered;
  default:
    return unordered;
  }
}

/// How the elements of a type are read; half formats compare as floats.
template <class T> struct Plain {
  using Storage = typename Lane<T>::Storage;
  static T get(Storage s) { return Lane<T>::get(s); }
};
struct Flushed {
  using Storage = uint32_t;
  static float get(uint32_t s) { return flush(floatOfBits(s)); }
};
/// The low or the high half of a word; .ftz makes zeros of subnormal numbers.
template <unsigned Shift, bool Ftz> struct HalfAt {
  using Storage = uint32_t;
  static float get(uint32_t s) {
    uint16_t bits = uint16_t(s >> Shift);
    return floatFromHalf(Ftz && !(bits & 0x7c00) ? bits & 0x8000 : bits);
  }
};
struct Bf16Low {
  using Storage = uint32_t;
  static float get(uint32_t s) { return floatFromBf16(uint16_t(s)); }
};
struct Bf16High {
  using Storage = uint32_t;
  static float get(uint32_t s) { return floatFromBf16(uint16_t(s >> 16)); }
};

template <unsigned Op, class R>
uint32_t compareLanes(const Ctx &c, const Inst &inst) {
  using S = typename R::Storage;
  const S *a = c.src<S>(inst.op[2]), *b = c.src<S>(inst.op[3]);
  uint32_t bits = 0;
  for (unsigned l = 0; l < Lanes; ++l)
    bits |= uint32_t(compare<Op>(R::get(a[l]), R::get(b[l]))) << l;
  return bits;
}
using CompareFn = uint32_t (*)(const Ctx &, const Inst &);
template <class R, size_t... I>
CompareFn pickCompare(unsigned op, std::index_sequence<I...>) {
  static const CompareFn table[] = {compareLanes<I, R>...};
  return table[op];
}
template <class R> CompareFn pickFor(unsigned op) {
  return pickCompare<R>(op, std::make_index_sequence<CmpCount>());
}

CompareFn pickHalf(unsigned op, bool ftz, bool high) {
  if (high)
    return ftz ? pickFor<HalfAt<16, true>>(op) : pickFor<HalfAt<16, false>>(op);
  return ftz ? pickFor<HalfAt<0, true>>(op) : pickFor<HalfAt<0, false>>(op);
}

CompareFn pickLow(Type type, unsigned op, bool ftz) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return pickFor<Plain<uint16_t>>(op);
  case Type::B32:
  case Type::U32:
    return pickFor<Plain<uint32_t>>(op);
  case Type::B64:
  case Type::U64:
    return pickFor<Plain<uint64_t>>(op);
  case Type::S16:
    return pickFor<Plain<int16_t>>(op);
  case Type::S32:
    return pickFor<Plain<int32_t>>(op);
  case Type::S64:
    return pickFor<Plain<int64_t>>(op);
  case Type::F32:
    return ftz ? pickFor<Flushed>(op) : pickFor<Plain<float>>(op);
  case Type::F64:
    return pickFor<Plain<double>>(op);
  case Type::F16:
  case Type::F16x2:
    return pickHalf(op, ftz, false);
  case Type::BF16:
  case Type::BF16x2:
    return pickFor<Bf16Low>(op);
  default:
    return nullptr;
  }
}

// The comparison's function travels in Inst::imm.

uint32_t combine(const Ctx &c, const Inst &inst, uint32_t bits) {
  if (inst.op[4] == NoSlot)
    return bits;
  uint32_t other = c.pred(inst.op[4]);
  return inst.mod[0] == 0   ? bits & other
         : inst.mod[0] == 1 ? bits | other
                            : bits ^ other;
}

/// op: p, q, a, b, c. The second predicate gets the negated comparison.
Step execSetp(Ctx &c, const Inst &inst, uint32_t mask) {
  uint32_t bits = reinterpret_cast<CompareFn>(inst.imm)(c, inst);
  uint32_t first = combine(c, inst, bits);
  if (inst.op[1] != NoSlot)
    c.setPred(inst.op[1], combine(c, inst, ~bits), mask);
  c.setPred(inst.op[0], first, mask);
  return Step::Next;
}
/// Packed comparison: one predicate per half.
Step execSetpPacked(Ctx &c, const Inst &inst, uint32_t mask) {
  bool bf16 = inst.mod[2];
  uint32_t low = reinterpret_cast<CompareFn>(inst.imm)(c, inst);
  uint32_t high = (bf16 ? pickFor<Bf16High>(inst.mod[1])
                        : pickHalf(inst.mod[1], inst.mod[3], true))(c, inst);
  uint32_t first = combine(c, inst, low);
  if (inst.op[1] != NoSlot)
    c.setPred(inst.op[1], combine(c, inst, high), mask);
  c.setPred(inst.op[0], first, mask);
  return Step::Next;
}
/// set: all ones or 1.0. mod[2]: 0 integer, 1 float, 2 half, 3 bf16; mod[3]: a
/// pair of 1 halves, 2 bf16, 3 halves with .ftz.
Step execSet(Ctx &c, const Inst &inst, uint32_t mask) {
  uint32_t bits =
      combine(c, inst, reinterpret_cast<CompareFn>(inst.imm)(c, inst));
  static const uint32_t ones[] = {0xffffffff, 0x3f800000, 0x3c00,
                                  0x3f80,     0x3c00,     0x3f80};
  uint32_t one = ones[inst.mod[2]];
  uint32_t high = 0;
  if (inst.mod[3])
    high = combine(c, inst,
                   (inst.mod[3] == 2 ? pickFor<Bf16High>(inst.mod[1])
                                     : pickHalf(inst.mod[1], inst.mod[3] == 3,
                                                true))(c, inst));
  uint32_t *out = c.dst<uint32_t>(inst.op[0]);
  eachLane(mask, [&](unsigned l) {
    out[l] = (bits >> l & 1) ? (inst.mod[3] ? one & 0xffff : one) : 0;
    if (inst.mod[3])
      out[l] |= (high >> l & 1) ? one << 16 : 0;
  });
  return Step::Next;
}

bool takeComparison(FunctionDecoder &d, unsigned &op) {
  int named =
      d.hasOneOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu",
                  "leu", "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs"});
  if (named < 0)
    return d.error("needs a comparison");
  static const unsigned unsignedNames[] = {Lt, Le, Gt, Ge};
  op = named >= int(CmpCount) ? unsignedNames[named - CmpCount]
                              : unsigned(named);
  return true;
}

bool decodeSetp(FunctionDecoder &d) {
  unsigned op;
  if (!takeComparison(d, op))
    return false;
  int join = d.hasOneOf({"and", "or", "xor"});
  bool ftz = d.has("ftz");
  Type type = d.takeType();
  CompareFn fn = pickLow(type, op, ftz);
  if (!fn)
    return d.badType(type);
  if (!d.expectOperands(join >= 0 ? 4 : 3, join >= 0 ? 4 : 3) ||
      !d.src(1, type, 2) || !d.src(2, type, 3))
    return false;
  if (join >= 0 && !d.src(3, Type::Pred, 4))
    return false;
  d.inst.mod[0] = uint8_t(join);
  d.inst.mod[1] = uint8_t(op);
  d.inst.imm = reinterpret_cast<int64_t>(fn);
  if (const ast::Operand *q = d.second(0))
    if (!d.isSink(*q) && !d.predDst(*q, d.inst.op[1]))
      return false;
  if (!d.predDst(d.first(0), d.inst.op[0]))
    return false;
  bool packed = type == Type::F16x2 || type == Type::BF16x2;
  d.inst.mod[2] = type == Type::BF16x2;
  d.inst.mod[3] = ftz;
  return d.emit(packed ? execSetpPacked : execSetp, Class::Compare);
}

bool decodeSet(FunctionDecoder &d) {
  unsigned op;
  if (!takeComparison(d, op))
    return false;
  int join = d.hasOneOf({"and", "or", "xor"});
  bool ftz = d.has("ftz");
  Type to = d.takeType(), type = d.takeType();
  CompareFn fn = pickLow(type, op, ftz);
  if (!fn)
    return d.badType(type);
  switch (to) {
  case Type::U32:
  case Type::S32:
  case Type::B32:
    d.inst.mod[2] = 0;
    break;
  case Type::F32:
    d.inst.mod[2] = 1;
    break;
  case Type::F16:
  case Type::F16x2:
    d.inst.mod[2] = 2;
    break;
  case Type::BF16:
  case Type::BF16x2:
    d.inst.mod[2] = 3;
    break;
  case Type::U16:
  case Type::S16:
    d.inst.mod[2] = 0;
    break;
  default:
    return d.badType(to);
  }
  d.inst.mod[3] = type == Type::F16x2    ? (ftz ? 3 : 1)
                  : type == Type::BF16x2 ? 2
                                         : 0;
  if (!d.expectOperands(join >= 0 ? 4 : 3, join >= 0 ? 4 : 3) ||
      !d.src(1, type, 2) || !d.src(2, type, 3))
    return false;
  if (join >= 0 && !d.src(3, Type::Pred, 4))
    return false;
  d.inst.mod[0] = uint8_t(join);
  d.inst.mod[1] = uint8_t(op);
  d.inst.imm = reinterpret_cast<int64_t>(fn);
  return d.dst(0, to, 0) && d.emit(execSet, Class::Compare);
}

template <class S> S select(S a, S b, bool p) { return p ? a : b; }
bool decodeSelp(FunctionDecoder &d) {
  Type type = d.takeType();
  if (type == Type::None || type == Type::Pred)
    return d.badType(type);
  if (!d.expectOperands(4, 4) || !d.src(1, type, 1) || !d.src(2, type, 2) ||
      !d.src(3, Type::Pred, 3) || !d.dst(0, type, 0))
    return false;
  switch (classOf(type)) {
  case SlotClass::Word:
    return d.emit(map<select<uint32_t>>, Class::Move);
  case SlotClass::Double:
    return d.emit(map<select<uint64_t>>, Class::Move);
  default:
    return d.badType(type);
  }
}

template <class S> S slctInt(S a, S b, int32_t c) { return c >= 0 ? a : b; }
template <class S, bool Ftz> S slctFloat(S a, S b, float c) {
  return ftzIf<Ftz>(c) >= 0 ? a : b;
}
bool decodeSlct(FunctionDecoder &d) {
  bool ftz = d.has("ftz");
  Type type = d.takeType(), by = d.takeType();
  if (type == Type::None || (by != Type::S32 && by != Type::F32))
    return d.error("needs a type and .s32 or .f32");
  if (!d.expectOperands(4, 4) || !d.src(1, type, 1) || !d.src(2, type, 2) ||
      !d.src(3, by, 3) || !d.dst(0, type, 0))
    return false;
  bool wide = classOf(type) == SlotClass::Double;
  ExecFn fn = by == Type::S32
                  ? (wide ? map<slctInt<uint64_t>> : map<slctInt<uint32_t>>)
              : ftz ? (wide ? map<slctFloat<uint64_t, true>>
                            : map<slctFloat<uint32_t, true>>)
                    : (wide ? map<slctFloat<uint64_t, false>>
                            : map<slctFloat<uint32_t, false>>);
  return d.emit(fn, Class::Move);
}
} // namespace

void tile::sim::registerCompare(DecodeTable &t) {
  t.insert({{"setp", decodeSetp},
            {"set", decodeSet},
            {"selp", decodeSelp},
            {"slct", decodeSlct}});
}

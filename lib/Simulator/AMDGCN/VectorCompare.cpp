//===-- VectorCompare.cpp - VOPC: one bit a lane --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FloatArith.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
template <class T> struct Value {
  static T of(T v) { return v; }
};
template <> struct Value<Half> {
  static float of(Half v) { return floatFromHalf(v.bits); }
};

template <class T> struct Compare {
  static auto of(T v) { return Value<T>::of(v); }
  static bool never(T, T) { return false; }
  static bool less(T a, T b) { return of(a) < of(b); }
  static bool equal(T a, T b) { return of(a) == of(b); }
  static bool atMost(T a, T b) { return of(a) <= of(b); }
  static bool greater(T a, T b) { return of(a) > of(b); }
  static bool differ(T a, T b) { return of(a) < of(b) || of(a) > of(b); }
  static bool atLeast(T a, T b) { return of(a) >= of(b); }
  static bool ordered(T a, T b) { return of(a) == of(a) && of(b) == of(b); }
  static bool unordered(T a, T b) { return !ordered(a, b); }
  static bool notAtLeast(T a, T b) { return !atLeast(a, b); }
  static bool notDiffer(T a, T b) { return !differ(a, b); }
  static bool notGreater(T a, T b) { return !greater(a, b); }
  static bool notAtMost(T a, T b) { return !atMost(a, b); }
  static bool notEqual(T a, T b) { return !equal(a, b); }
  static bool notLess(T a, T b) { return !less(a, b); }
  static bool always(T, T) { return true; }
};

/// A bit of the second operand for each kind of number.
template <class T, class Bits, unsigned Exponent, unsigned Mantissa>
bool isOfClass(Bits b, uint32_t kinds) {
  bool negative = b >> (Exponent + Mantissa) & 1;
  Bits exponent = b >> Mantissa & ((Bits(1) << Exponent) - 1),
       mantissa = b & ((Bits(1) << Mantissa) - 1);
  unsigned kind;
  if (exponent == (Bits(1) << Exponent) - 1)
    kind = mantissa ? (mantissa >> (Mantissa - 1) ? 1 : 0) : negative ? 2 : 9;
  else if (exponent)
    kind = negative ? 3 : 8;
  else if (mantissa)
    kind = negative ? 4 : 7;
  else
    kind = negative ? 5 : 6;
  return kinds >> kind & 1;
}
bool classOf32(Bits32 a, uint32_t kinds) {
  return isOfClass<float, uint32_t, 8, 23>(uint32_t(a), kinds);
}
bool classOf64(double a, uint32_t kinds) {
  return isOfClass<double, uint64_t, 11, 52>(bitsOfDouble(a), kinds);
}
bool classOf16(Half a, uint32_t kinds) {
  return isOfClass<Half, uint16_t, 5, 10>(a.bits, kinds);
}

/// v_cmp and v_cmpx; the latter names no result on RDNA.
template <auto F> bool decodeCompare(InstDecoder &d) {
  bool writesExec = d.in->opcode.starts_with("v_cmpx");
  d.inst.mod[1] = writesExec;
  if (writesExec)
    d.writeMask(Exec);
  if (!writesExec || d.operandCount() == 3)
    return decodeVector<F, Class::Compare>(d);
  using Source = decltype([]<class R, class A, class B>(R (*)(A, B)) -> A {
    return A{};
  }(F));
  using Second = decltype([]<class R, class A, class B>(R (*)(A, B)) -> B {
    return B{};
  }(F));
  if (!d.expect(2, 2) || !d.takeModifiers(2, 0))
    return false;
  if ((d.mods.negate || d.mods.absolute) && !hasSigns<Source>)
    return d.error("its operands are no numbers with a sign to change");
  return d.source(0, wordsOf<Source>, immediateOf<Source>(), 1) &&
         d.source(1, wordsOf<Second>, immediateOf<Second>(), 2) &&
         d.emit(vectorHandler<F>(), Class::Compare);
}

void addBoth(OpcodeTable &t, const std::string &name, DecodeOpcode f) {
  for (const char *prefix : {"v_cmp_", "v_cmpx_"})
    t.emplace(keepName(prefix + name), f);
}

template <class T> void addOrdered(OpcodeTable &t, const std::string &type) {
  using C = Compare<T>;
  addBoth(t, "f_" + type, decodeCompare<C::never>);
  addBoth(t, "lt_" + type, decodeCompare<C::less>);
  addBoth(t, "eq_" + type, decodeCompare<C::equal>);
  addBoth(t, "le_" + type, decodeCompare<C::atMost>);
  addBoth(t, "gt_" + type, decodeCompare<C::greater>);
  addBoth(t, "ge_" + type, decodeCompare<C::atLeast>);
}
template <class T> void addInteger(OpcodeTable &t, const std::string &type) {
  using C = Compare<T>;
  addOrdered<T>(t, type);
  addBoth(t, "ne_" + type, decodeCompare<C::notEqual>);
  addBoth(t, "t_" + type, decodeCompare<C::always>);
}
template <class T> void addFloat(OpcodeTable &t, const std::string &type) {
  using C = Compare<T>;
  addOrdered<T>(t, type);
  addBoth(t, "lg_" + type, decodeCompare<C::differ>);
  addBoth(t, "o_" + type, decodeCompare<C::ordered>);
  addBoth(t, "u_" + type, decodeCompare<C::unordered>);
  addBoth(t, "nge_" + type, decodeCompare<C::notAtLeast>);
  addBoth(t, "nlg_" + type, decodeCompare<C::notDiffer>);
  addBoth(t, "ngt_" + type, decodeCompare<C::notGreater>);
  addBoth(t, "nle_" + type, decodeCompare<C::notAtMost>);
  addBoth(t, "neq_" + type, decodeCompare<C::notEqual>);
  addBoth(t, "nlt_" + type, decodeCompare<C::notLess>);
  // gfx9's name, and gfx11's.
  addBoth(t, "tru_" + type, decodeCompare<C::always>);
  addBoth(t, "t_" + type, decodeCompare<C::always>);
}
} // namespace

void tile::sim::amdgcn::registerVectorCompare(OpcodeTable &t) {
  addInteger<int32_t>(t, "i32");
  addInteger<uint32_t>(t, "u32");
  addInteger<int64_t>(t, "i64");
  addInteger<uint64_t>(t, "u64");
  addInteger<int16_t>(t, "i16");
  addInteger<uint16_t>(t, "u16");
  addFloat<float>(t, "f32");
  addFloat<double>(t, "f64");
  addFloat<Half>(t, "f16");
  addBoth(t, "class_f32", decodeCompare<classOf32>);
  addBoth(t, "class_f64", decodeCompare<classOf64>);
  addBoth(t, "class_f16", decodeCompare<classOf16>);
}

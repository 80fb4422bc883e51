//===-- Half.cpp - f16 and bf16 arithmetic, single and packed -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

using namespace tile::sim;

namespace {
/// The two formats, with exact conversions to float and one rounding back.
struct FormatHalf {
  static float get(uint16_t b) { return floatFromHalf(b); }
  static uint16_t put(float f) { return halfFromFloat(f); }
  static constexpr uint16_t nan = nanF16, infinity = 0x7c00, one = 0x3c00;
  static uint16_t flush(uint16_t b) { return b & 0x7c00 ? b : b & 0x8000; }
};
struct FormatBf16 {
  static float get(uint16_t b) { return floatFromBf16(b); }
  static uint16_t put(float f) { return bf16FromFloat(f); }
  static constexpr uint16_t nan = nanBF16, infinity = 0x7f80;
  static uint16_t flush(uint16_t b) { return b & 0x7f80 ? b : b & 0x8000; }
};

/// A double that was rounded to odd goes through float, also to odd, to the
/// small format.
template <class F> uint16_t putOdd(double d) {
  float f = float(d);
  uint32_t bits = bitsOfFloat(f);
  if (double(f) != d && f == f && !(bits & 1) &&
      (bits & 0x7f800000) != 0x7f800000) {
    bool away = (double(f) < d) == (d > 0);
    bits = away ? bits + 1 : bits - 1;
  }
  return F::put(floatOfBits(bits));
}

// Two half numbers that are added or multiplied are rounded to float and then
// to half. A float has more than twice the bits of both formats plus two, so
// the second rounding is the only one that shows.
template <class F> struct HAdd {
  static uint16_t f(uint16_t a, uint16_t b) {
    return F::put(F::get(a) + F::get(b));
  }
};
template <class F> struct HSub {
  static uint16_t f(uint16_t a, uint16_t b) {
    return F::put(F::get(a) - F::get(b));
  }
};
// A product of bf16 numbers can fall below the normal floats, so it is rounded
// from the exact double.
template <class F> struct HMul {
  static uint16_t f(uint16_t a, uint16_t b) {
    return F::put(F::get(a) * F::get(b));
  }
};
template <> struct HMul<FormatBf16> {
  static uint16_t f(uint16_t a, uint16_t b) {
    return putOdd<FormatBf16>(double(floatFromBf16(a)) *
                              double(floatFromBf16(b)));
  }
};
template <class F> struct HFma {
  static uint16_t f(uint16_t a, uint16_t b, uint16_t c) {
    return putOdd<F>(
        addToOdd(double(F::get(a)) * double(F::get(b)), double(F::get(c))));
  }
};
template <class F> uint16_t relu(uint16_t r) {
  return (r & 0x7fff) > F::infinity ? F::nan : r & 0x8000 ? 0 : r;
}
template <class F> struct HFmaRelu {
  static uint16_t f(uint16_t a, uint16_t b, uint16_t c) {
    return relu<F>(HFma<F>::f(a, b, c));
  }
};
/// The NaN for what lies outside makes zero of what it is multiplied by. An
/// H200 takes it with either sign; it is not the one that tensor copies write
/// there.
template <class F> struct HFmaOob {
  static uint16_t f(uint16_t a, uint16_t b, uint16_t c) {
    auto isNan = [](uint16_t v) { return (v & 0x7fff) == 0x7ff7; };
    bool isOutside = isNan(a) || isNan(b) || isNan(c);
    return isOutside ? uint16_t(0) : HFma<F>::f(a, b, c);
  }
};
template <class F> struct HFmaOobRelu {
  static uint16_t f(uint16_t a, uint16_t b, uint16_t c) {
    return relu<F>(HFmaOob<F>::f(a, b, c));
  }
};
template <class F, bool Max, bool Nan> struct HMinMax {
  static uint16_t f(uint16_t a, uint16_t b) {
    bool nanA = (a & 0x7fff) > F::infinity, nanB = (b & 0x7fff) > F::infinity;
    if (nanA || nanB)
      return Nan || (nanA && nanB) ? F::nan : nanA ? b : a;
    // Ordering the bit patterns orders the numbers, with -0 below +0.
    int x = a & 0x8000 ? -int(a & 0x7fff) - 1 : int(a),
        y = b & 0x8000 ? -int(b & 0x7fff) - 1 : int(b);
    return (Max ? x > y : x < y) ? a : b;
  }
};
template <class F, bool Max, bool Nan> struct HMinMaxXor {
  static uint16_t f(uint16_t a, uint16_t b) {
    uint16_t r = HMinMax<F, Max, Nan>::f(a & 0x7fff, b & 0x7fff);
    return (r & 0x7fff) > F::infinity ? r : uint16_t(r | ((a ^ b) & 0x8000));
  }
};
template <class F> struct HNeg {
  static uint16_t f(uint16_t a) {
    return (a & 0x7fff) > F::infinity ? F::nan : a ^ 0x8000;
  }
};
template <class F> struct HAbs {
  static uint16_t f(uint16_t a) {
    return (a & 0x7fff) > F::infinity ? F::nan : a & 0x7fff;
  }
};
template <class F> struct HExp2 {
  static uint16_t f(uint16_t a) { return F::put(std::exp2(F::get(a))); }
};
template <class F> struct HTanh {
  static uint16_t f(uint16_t a) { return F::put(std::tanh(F::get(a))); }
};

template <class F, class Op, bool Ftz, bool Sat, class... A>
inline uint16_t wrapHalf(A... a) {
  auto in = [](uint16_t b) { return Ftz ? F::flush(b) : b; };
  uint16_t r = Op::f(in(a)...);
  if constexpr (Ftz)
    r = F::flush(r);
  if constexpr (Sat)
    r = (r & 0x8000) || (r & 0x7fff) > F::infinity ? 0
        : r > F::one                               ? F::one
                                                   : r;
  return r;
}
template <class F, class Op, bool Ftz, bool Sat> uint16_t one1(uint16_t a) {
  return wrapHalf<F, Op, Ftz, Sat>(a);
}
template <class F, class Op, bool Ftz, bool Sat>
uint16_t one2(uint16_t a, uint16_t b) {
  return wrapHalf<F, Op, Ftz, Sat>(a, b);
}
template <class F, class Op, bool Ftz, bool Sat>
uint16_t one3(uint16_t a, uint16_t b, uint16_t c) {
  return wrapHalf<F, Op, Ftz, Sat>(a, b, c);
}
inline uint32_t join(uint16_t lo, uint16_t hi) {
  return uint32_t(hi) << 16 | lo;
}
template <class F, class Op, bool Ftz, bool Sat> uint32_t pair1(uint32_t a) {
  return join(wrapHalf<F, Op, Ftz, Sat>(uint16_t(a)),
              wrapHalf<F, Op, Ftz, Sat>(uint16_t(a >> 16)));
}
template <class F, class Op, bool Ftz, bool Sat>
uint32_t pair2(uint32_t a, uint32_t b) {
  return join(wrapHalf<F, Op, Ftz, Sat>(uint16_t(a), uint16_t(b)),
              wrapHalf<F, Op, Ftz, Sat>(uint16_t(a >> 16), uint16_t(b >> 16)));
}
template <class F, class Op, bool Ftz, bool Sat>
uint32_t pair3(uint32_t a, uint32_t b, uint32_t c) {
  return join(wrapHalf<F, Op, Ftz, Sat>(uint16_t(a), uint16_t(b), uint16_t(c)),
              wrapHalf<F, Op, Ftz, Sat>(uint16_t(a >> 16), uint16_t(b >> 16),
                                        uint16_t(c >> 16)));
}

template <class F, class Op, unsigned N, bool Ftz, bool Sat>
ExecFn shape(bool packed) {
  if constexpr (N == 1)
    return packed ? map<pair1<F, Op, Ftz, Sat>> : map<one1<F, Op, Ftz, Sat>>;
  else if constexpr (N == 2)
    return packed ? map<pair2<F, Op, Ftz, Sat>> : map<one2<F, Op, Ftz, Sat>>;
  else
    return packed ? map<pair3<F, Op, Ftz, Sat>> : map<one3<F, Op, Ftz, Sat>>;
}
template <template <class> class Op, unsigned N>
ExecFn pickHalf(Type type, bool ftz, bool sat) {
  bool packed = type == Type::F16x2 || type == Type::BF16x2;
  if (type == Type::BF16 || type == Type::BF16x2)
    return ftz ? shape<FormatBf16, Op<FormatBf16>, N, true, false>(packed)
               : shape<FormatBf16, Op<FormatBf16>, N, false, false>(packed);
  using O = Op<FormatHalf>;
  return ftz ? (sat ? shape<FormatHalf, O, N, true, true>(packed)
                    : shape<FormatHalf, O, N, true, false>(packed))
             : (sat ? shape<FormatHalf, O, N, false, true>(packed)
                    : shape<FormatHalf, O, N, false, false>(packed));
}

template <class F> using HMin = HMinMax<F, false, false>;
template <class F> using HMax = HMinMax<F, true, false>;
template <class F> using HMinNan = HMinMax<F, false, true>;
template <class F> using HMaxNan = HMinMax<F, true, true>;
template <class F> using HMinXor = HMinMaxXor<F, false, false>;
template <class F> using HMaxXor = HMinMaxXor<F, true, false>;
template <class F> using HMinXorNan = HMinMaxXor<F, false, true>;
template <class F> using HMaxXorNan = HMinMaxXor<F, true, true>;

ExecFn pickHalfMinMax(FunctionDecoder &d, Type type, bool max, bool ftz) {
  bool nan = d.has("NaN"), xorsign = d.has("xorsign");
  if (xorsign && !d.has("abs"))
    return nullptr;
  if (xorsign)
    return max ? (nan ? pickHalf<HMaxXorNan, 2>(type, ftz, false)
                      : pickHalf<HMaxXor, 2>(type, ftz, false))
               : (nan ? pickHalf<HMinXorNan, 2>(type, ftz, false)
                      : pickHalf<HMinXor, 2>(type, ftz, false));
  return max ? (nan ? pickHalf<HMaxNan, 2>(type, ftz, false)
                    : pickHalf<HMax, 2>(type, ftz, false))
             : (nan ? pickHalf<HMinNan, 2>(type, ftz, false)
                    : pickHalf<HMin, 2>(type, ftz, false));
}
} // namespace

bool tile::sim::decodeHalfArith(FunctionDecoder &d, Arith op, Type type) {
  bool ftz = d.has("ftz"), sat = d.has("sat"), relu = d.has("relu"),
       oob = d.has("oob");
  d.has("rn");
  ExecFn fn = nullptr;
  unsigned sources = 2;
  if (relu && op != Arith::Fma)
    return d.error(".relu is for fma");
  if (oob && (op != Arith::Fma || ftz))
    return d.error(".oob is for fma, without .ftz");
  if (sat && (type == Type::BF16 || type == Type::BF16x2))
    return d.error(".sat is for f16");
  switch (op) {
  case Arith::Add:
    fn = pickHalf<HAdd, 2>(type, ftz, sat);
    break;
  case Arith::Sub:
    fn = pickHalf<HSub, 2>(type, ftz, sat);
    break;
  case Arith::Mul:
    fn = pickHalf<HMul, 2>(type, ftz, sat);
    break;
  case Arith::Fma:
    if (oob)
      fn = relu ? pickHalf<HFmaOobRelu, 3>(type, ftz, sat)
                : pickHalf<HFmaOob, 3>(type, ftz, sat);
    else
      fn = relu ? pickHalf<HFmaRelu, 3>(type, ftz, sat)
                : pickHalf<HFma, 3>(type, ftz, sat);
    sources = 3;
    break;
  case Arith::Min:
    fn = pickHalfMinMax(d, type, false, ftz);
    break;
  case Arith::Max:
    fn = pickHalfMinMax(d, type, true, ftz);
    break;
  case Arith::Neg:
    fn = pickHalf<HNeg, 1>(type, ftz, false);
    sources = 1;
    break;
  case Arith::Abs:
    fn = pickHalf<HAbs, 1>(type, ftz, false);
    sources = 1;
    break;
  case Arith::Div:
    break;
  }
  return fn ? uniformOperands(d, type, sources) && d.emit(fn, Class::Float16)
            : d.badType(type);
}

namespace {
template <template <class> class Op>
bool decodeHalfFunction(FunctionDecoder &d, Type type) {
  bool ftz = d.has("ftz");
  d.has("approx");
  return uniformOperands(d, type, 1) &&
         d.emit(pickHalf<Op, 1>(type, ftz, false), Class::Special);
}
} // namespace

namespace tile::sim {
bool decodeHalfExp2(FunctionDecoder &d, Type type) {
  return decodeHalfFunction<HExp2>(d, type);
}
bool decodeHalfTanh(FunctionDecoder &d, Type type) {
  return decodeHalfFunction<HTanh>(d, type);
}
} // namespace tile::sim

//===-- Transcendental.cpp - ex2 lg2 sin cos tanh rsqrt -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The hardware approximates these; the simulator gives the value of the C
// library, which lies within the documented error. Special operands give the
// documented special results.
//
//===----------------------------------------------------------------------===//
#include "Families.h"

using namespace tile::sim;

namespace {
struct Exp2 {
  static float f(float a) { return std::exp2(a); }
};
struct Log2 {
  static float f(float a) { return std::log2(a); }
};
struct Sin {
  static float f(float a) { return std::sin(a); }
};
struct Cos {
  static float f(float a) { return std::cos(a); }
};
struct Tanh {
  static float f(float a) { return std::tanh(a); }
};
struct Rsqrt {
  static float f(float a) { return float(1.0 / std::sqrt(double(a))); }
};
template <class Op, bool Ftz> float wrapOne(float a) {
  return canonical(ftzIf<Ftz>(Op::f(ftzIf<Ftz>(a))));
}
double rsqrt64(double a) { return 1.0 / std::sqrt(a); }
double rsqrtCoarse(double a) {
  return coarse(a, [](double x) { return 1.0 / std::sqrt(x); });
}

template <class Op> bool decodeSingle(FunctionDecoder &d) {
  if (!d.has("approx"))
    return d.error("needs .approx");
  bool ftz = d.has("ftz");
  Type type = d.takeType();
  if (type != Type::F32)
    return d.badType(type);
  return uniformOperands(d, type, 1) &&
         d.emit(ftz ? map<wrapOne<Op, true>> : map<wrapOne<Op, false>>,
                Class::Special);
}
bool decodeExp2(FunctionDecoder &d) {
  if (isHalfType(d.peekType()))
    return decodeHalfExp2(d, d.takeType());
  return decodeSingle<Exp2>(d);
}
bool decodeTanh(FunctionDecoder &d) {
  if (isHalfType(d.peekType()))
    return decodeHalfTanh(d, d.takeType());
  return decodeSingle<Tanh>(d);
}
bool decodeRsqrt(FunctionDecoder &d) {
  if (d.peekType() != Type::F64)
    return decodeSingle<Rsqrt>(d);
  if (!d.has("approx"))
    return d.error("needs .approx");
  bool ftz = d.has("ftz");
  return uniformOperands(d, d.takeType(), 1) &&
         d.emit(ftz ? map<rsqrtCoarse> : map<rsqrt64>, Class::Special);
}
} // namespace

void tile::sim::registerTranscendental(DecodeTable &t) {
  t.insert({{"ex2", decodeExp2},
            {"lg2", decodeSingle<Log2>},
            {"sin", decodeSingle<Sin>},
            {"cos", decodeSingle<Cos>},
            {"tanh", decodeTanh},
            {"rsqrt", decodeRsqrt}});
}

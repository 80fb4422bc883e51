//===-- Packed.cpp - .u16x2 and .s16x2 arithmetic -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

#include <algorithm>

using namespace tile::sim;

namespace {
template <class T, class F> uint32_t both(uint32_t a, uint32_t b, F f) {
  uint16_t lo = uint16_t(f(T(a), T(b))),
           hi = uint16_t(f(T(a >> 16), T(b >> 16)));
  return uint32_t(hi) << 16 | lo;
}
template <class T> uint32_t add2(uint32_t a, uint32_t b) {
  return both<T>(a, b, [](T x, T y) { return x + y; });
}
template <class T, bool Relu> uint32_t min2(uint32_t a, uint32_t b) {
  return both<T>(a, b, [](T x, T y) {
    T r = std::min(x, y);
    return Relu ? std::max<T>(r, 0) : r;
  });
}
template <class T, bool Relu> uint32_t max2(uint32_t a, uint32_t b) {
  return both<T>(a, b, [](T x, T y) {
    T r = std::max(x, y);
    return Relu ? std::max<T>(r, 0) : r;
  });
}
} // namespace

bool tile::sim::decodePackedInteger(FunctionDecoder &d, Arith op) {
  bool relu = d.has("relu");
  Type type = d.takeType();
  bool s = type == Type::S16x2;
  ExecFn fn = nullptr;
  if (relu && (!s || op == Arith::Add))
    return d.error(".relu is for min and max of .s16x2");
  if (op == Arith::Add)
    fn = s ? map<add2<int16_t>> : map<add2<uint16_t>>;
  else if (op == Arith::Min)
    fn = s ? (relu ? map<min2<int16_t, true>> : map<min2<int16_t, false>>)
           : map<min2<uint16_t, false>>;
  else if (op == Arith::Max)
    fn = s ? (relu ? map<max2<int16_t, true>> : map<max2<int16_t, false>>)
           : map<max2<uint16_t, false>>;
  return fn ? uniformOperands(d, type, 2) && d.emit(fn, Class::Integer)
            : d.badType(type);
}

//===-- BfloatArith.h - Arithmetic in bfloat16 ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A product of two is exact in single precision; a sum of far apart ones is
// rounded to odd in double precision, and then once.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "FloatArith.h"

namespace tile::sim::amdgcn {

inline float floatOf(Bf16 v) { return floatFromBf16(v.bits); }

inline Bf16 addBfloat(Bf16 a, Bf16 b) {
  return {bf16FromDouble(addToOdd(double(floatOf(a)), double(floatOf(b))))};
}
inline Bf16 mulBfloat(Bf16 a, Bf16 b) {
  return {bf16FromDouble(double(floatOf(a)) * double(floatOf(b)))};
}
inline Bf16 fuseBfloat(Bf16 a, Bf16 b, Bf16 c) {
  return {bf16FromDouble(
      addToOdd(double(floatOf(a)) * double(floatOf(b)), double(floatOf(c))))};
}
inline Bf16 leastBfloat(Bf16 a, Bf16 b) {
  return {bf16FromFloat(leastNumber(floatOf(a), floatOf(b)))};
}
inline Bf16 mostBfloat(Bf16 a, Bf16 b) {
  return {bf16FromFloat(mostNumber(floatOf(a), floatOf(b)))};
}

} // namespace tile::sim::amdgcn

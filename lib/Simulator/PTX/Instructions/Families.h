//===-- Families.h - Opcodes that several families share ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../../Lanes.h"
#include "../Decoder.h"

namespace tile::sim {

/// Arithmetic whose opcode exists for integers and for floating point.
enum class Arith : uint8_t { Add, Sub, Mul, Fma, Div, Min, Max, Neg, Abs };

/// Floating-point forms; the type modifier is still to be taken (Float.cpp,
/// Half.cpp).
bool decodeFloatArith(FunctionDecoder &d, Arith op);
bool decodeHalfArith(FunctionDecoder &d, Arith op, Type type);
/// .u16x2 and .s16x2 (Packed.cpp).
bool decodePackedInteger(FunctionDecoder &d, Arith op);

bool decodeHalfExp2(FunctionDecoder &d, Type type);
bool decodeHalfTanh(FunctionDecoder &d, Type type);

/// bar.warp.sync (Collective.cpp).
bool decodeWarpBarrier(FunctionDecoder &d);
/// st.async, st.bulk and red.async (StoreAsync.cpp).
bool decodeStoreAsync(FunctionDecoder &d);
bool decodeRedAsync(FunctionDecoder &d);
/// cp.async.bulk and cp.reduce.async.bulk (BulkCopy.cpp).
bool decodeBulk(FunctionDecoder &d, bool reduce);
/// cp.async.mbarrier.arrive (Mbarrier.cpp).
bool decodeCopyArrive(FunctionDecoder &d);

inline bool isHalfType(Type t) {
  return t == Type::F16 || t == Type::F16x2 || t == Type::BF16 ||
         t == Type::BF16x2;
}

/// The common shape "d, a, b[, c]" with one type for all operands.
inline bool uniformOperands(FunctionDecoder &d, Type type, unsigned sources) {
  if (!d.expectOperands(sources + 1, sources + 1))
    return false;
  for (unsigned i = 1; i <= sources; ++i)
    if (!d.src(i, type, i))
      return false;
  return d.dst(0, type, 0);
}

} // namespace tile::sim

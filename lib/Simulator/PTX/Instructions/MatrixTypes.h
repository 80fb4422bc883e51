//===-- MatrixTypes.h - Fragments and elements of matrix instructions -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One formula covers all shapes. Lane l has group g = l / 4 and place t = l
// % 4. A 32-bit register of A or B holds e = 32 / bits elements (an f64
// register one). So four lanes hold a chunk of 4e along K. With h = M / 8:
//
//   A register r, element i: row g + r % h * 8, k = r / h * 4e + e t + i
//
//   B register r, element i: column g, k = 4e r + e t + i
//
//   C element i: row g + i / 2 * 8, column 2 t + i % 2
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Families.h"

namespace tile::sim {

inline bool isIntegerMatrix(Type t) {
  return t == Type::S8 || t == Type::U8 || t == Type::S4 || t == Type::U4 ||
         t == Type::B1;
}

/// One of many elements of 4 or 6 bits, from the lowest bits on.
inline uint8_t packedElement(const std::byte *from, unsigned bits, unsigned i) {
  unsigned bit = bits * i, last = (bit + bits - 1) / 8;
  uint32_t two = uint32_t(from[bit / 8]) | uint32_t(from[last]) << 8;
  return uint8_t(two >> (bit % 8) & ((1u << bits) - 1));
}

/// Value of a floating-point element; exact in float for all formats but f64.
inline float matrixFloat(Type type, uint32_t bits) {
  switch (type) {
  case Type::F16:
    return floatFromHalf(uint16_t(bits));
  case Type::BF16:
    return floatFromBf16(uint16_t(bits));
  case Type::TF32:
    return floatOfBits(bits & ~0x1fffu); // the low bits do not take part
  case Type::E4M3:
    return float(decodeSmall(bits & 255, formatE4M3));
  case Type::E5M2:
    return float(decodeSmall(bits & 255, formatE5M2));
  default:
    return floatOfBits(bits);
  }
}
inline int32_t matrixInteger(Type type, uint32_t bits) {
  switch (type) {
  case Type::S8:
    return int8_t(bits);
  case Type::U8:
    return uint8_t(bits);
  case Type::S4:
    return int32_t(bits << 28) >> 28;
  case Type::U4:
    return int32_t(bits & 15);
  default:
    return int32_t(bits & 1);
  }
}

/// All 32 lanes must take part: Next if they do, else what the handler returns
/// (Matrix.cpp).
Step needWarp(Ctx &c, const Inst &inst, uint32_t mask);

/// Takes a shape such as m16n8k16 (Mma.cpp).
bool takeMatrixShape(FunctionDecoder &d, unsigned &m, unsigned &n, unsigned &k);
/// Adds the slots of a vector of exactly `count` registers (Mma.cpp).
bool takeMatrixRegisters(FunctionDecoder &d, const ast::Operand &operand,
                         unsigned count, Type type, bool isResult,
                         std::vector<uint32_t> &slots);

/// fp8 has so few values that a table is quicker.
const float *fp8Table(Type type);

inline int32_t clampToS32(int64_t v) {
  return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : int32_t(v);
}

} // namespace tile::sim

//===-- Floats.h - Floats of all formats ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All formats but f64 are computed with as f64 and rounded once. Two roundings
// of additions, multiplications, divisions and roots give the same, as f64 has
// more than twice their bits.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_LIB_REFERENCE_FLOATS_H
#define TILE_TEST_LIB_REFERENCE_FLOATS_H

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>

namespace mlir::triton::reference {

/// A format of floats.
class FloatFormat {
public:
  /// The format of a type or of its elements. Other types have none.
  static const FloatFormat *get(Type type);

  double decode(uint64_t bits) const;
  /// Rounds to nearest, ties to even, or towards zero.
  uint64_t encode(double value, bool towardsZero = false) const;

  unsigned width;
  unsigned mantissa;
  int bias;
  enum Kind { IEEE, FiniteOnly, UnsignedZero, FP8E4B15 } kind;
};

/// `encode` for an integer that f64 may not hold exactly.
uint64_t encodeInteger(const FloatFormat &format, __int128 value);

} // namespace mlir::triton::reference

#endif // TILE_TEST_LIB_REFERENCE_FLOATS_H

//===-- Exponentials.h - How powers of two are computed ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_EXPONENTIALS_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_EXPONENTIALS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::nvidia_gpu {

/// Of a `math.exp2` of f32: of so many pairs of neighbours that a thread has,
/// one is computed by a polynomial.
inline constexpr llvm::StringLiteral kPolynomialPairsAttrName =
    "ttnvgpu.polynomial_pairs";

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_EXPONENTIALS_H

//===-- MicroscalingScales.h - Scales of MX formats as numbers --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_MICROSCALINGSCALES_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_MICROSCALINGSCALES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::triton::gpu {

/// 2^(x - 127) as bf16 for a tensor of e8m0 bits, NaN for 255.
Value decodeScales(OpBuilder &b, Location loc, Value scales);

/// The scales of an operand, rows by groups along K, as numbers in bf16, one
/// for each element of a tensor of `operandType`, whose rows are K if `isB`.
/// They are zeros where the condition `isZero`, if given, holds.
Value spreadScales(OpBuilder &b, Location loc, Value scales,
                   RankedTensorType operandType, bool isB, Value isZero = {});

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_MICROSCALINGSCALES_H

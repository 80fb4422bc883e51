//===-- MicroscalingScales.h - Scales of MX formats as numbers --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_MICROSCALINGSCALES_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_MICROSCALINGSCALES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::triton::gpu {

/// 2^(x - 127) as bf16 for a tensor of e8m0 bits, NaN for 255.
Value decodeScales(OpBuilder &b, Location loc, Value scales);

/// Gives every element of an operand its scale, as a number in bf16. `scales`
/// are rows by groups along K. The result has the shape and the layout of
/// `operandType`, whose rows are K if `isB`, and whose columns are K if not.
/// All scales are zeros if `isZero` is given and true.
Value spreadScales(OpBuilder &b, Location loc, Value scales,
                   RankedTensorType operandType, bool isB, Value isZero = {});

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_MICROSCALINGSCALES_H

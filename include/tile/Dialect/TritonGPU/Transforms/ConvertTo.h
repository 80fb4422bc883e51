//===-- ConvertTo.h - Tensors in other layouts ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_CONVERTTO_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_CONVERTTO_H

#include "mlir/IR/Builders.h"

namespace mlir::triton::gpu {

/// A tensor in `layout`: itself, or a conversion of it.
Value convertTo(OpBuilder &b, Location loc, Value tensor, Attribute layout);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_CONVERTTO_H

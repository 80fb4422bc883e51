//===-- SplitRows.h - Long tensors as several -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_TRANSFORMS_SPLITROWS_H
#define TILE_DIALECT_TRITON_TRANSFORMS_SPLITROWS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::triton {

/// The operation of `function` for which `triton-split-rows` has no pieces of
/// at most `longest` elements along each dimension; null if there is none.
Operation *findUnsplittable(FunctionOpInterface function, int64_t longest);

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_TRANSFORMS_SPLITROWS_H

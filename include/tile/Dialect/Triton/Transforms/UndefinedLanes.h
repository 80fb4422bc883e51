//===-- UndefinedLanes.h - What masked loads leave undefined ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITON_TRANSFORMS_UNDEFINEDLANES_H
#define TILE_DIALECT_TRITON_TRANSFORMS_UNDEFINEDLANES_H

#include "mlir/IR/BuiltinOps.h"
#include "tile/Support/AttributeNames.h"

namespace mlir::triton {

/// As line tables have it: where a load itself is written, `12:22 kernel.py`.
/// Null where that is not known.
StringAttr getLoadPlace(Location loc);

/// Whether the module lists the loads of a place.
bool isUndefinedLoad(ModuleOp module, Location loc);

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_TRANSFORMS_UNDEFINEDLANES_H

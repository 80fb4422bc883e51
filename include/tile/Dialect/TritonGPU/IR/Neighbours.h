//===-- Neighbours.h - Layouts for wide accesses ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_IR_NEIGHBOURS_H
#define TILE_DIALECT_TRITONGPU_IR_NEIGHBOURS_H

#include "tile/Layout/LinearLayout.h"

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::triton::gpu {

/// The layout of `result`, in which lanes that hold every other element along
/// `dim` have changed some of them, so that each holds `count` neighbours.
/// Nullopt if that takes more than such exchanges.
std::optional<LinearLayout> gatherNeighbours(RankedTensorType result,
                                             unsigned dim, int32_t count);

/// Converts the tensors that `access` goes to memory with to `layout`: its
/// pointers, values and mask.
void convertOperands(Operation *access, Attribute layout);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_NEIGHBOURS_H

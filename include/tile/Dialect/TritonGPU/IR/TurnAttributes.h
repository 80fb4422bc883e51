//===-- TurnAttributes.h - Turns through shared memory ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_IR_TURNATTRIBUTES_H
#define TILE_DIALECT_TRITONGPU_IR_TURNATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

/// On a `convert_layout`: the most bytes of a round through shared memory.
inline constexpr llvm::StringLiteral kTurnBytesAttrName =
    "allocation.turn_bytes";

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITONGPU_IR_TURNATTRIBUTES_H

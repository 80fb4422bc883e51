//===-- IterationAttributes.h - What iterations owe each other --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_IR_ITERATIONATTRIBUTES_H
#define TILE_DIALECT_TRITONGPU_IR_ITERATIONATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::gpu {

/// On a loop: no iteration waits for what another one does. What an iteration
/// acquires, it acquires for itself.
inline constexpr llvm::StringLiteral kIndependentIterationsAttrName =
    "ttg.independent_iterations";

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_ITERATIONATTRIBUTES_H

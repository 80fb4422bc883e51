//===-- DivisionAttributes.h - How a cluster divides tensors ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_IR_DIVISIONATTRIBUTES_H
#define TILE_DIALECT_TRITONGPU_IR_DIVISIONATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::gpu {

/// On a `convert_layout` in front of the conversion to the operand of a dot.
/// The dot wants the operand divided over the blocks of the cluster as this
/// result is, and not as the layout of the operand says.
inline constexpr llvm::StringLiteral kDividesOperandAttrName =
    "ttg.divides_operand";

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_DIVISIONATTRIBUTES_H

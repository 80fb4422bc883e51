//===-- BlockTypeSyntax.h - The text of a descriptor's blocks ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_BLOCKTYPESYNTAX_H
#define TILE_DIALECT_TRITON_IR_BLOCKTYPESYNTAX_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::triton {

/// block-type ::= tensor-type | (integer `x`)+ type (`,` encoding)?
ParseResult parseBlockType(AsmParser &parser, RankedTensorType &block);
void printBlockType(AsmPrinter &printer, RankedTensorType block);

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_BLOCKTYPESYNTAX_H

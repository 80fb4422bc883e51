//===-- BlockOffsets.h - How offsets of block pointers are written --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_BLOCKOFFSETS_H
#define TILE_DIALECT_TRITON_IR_BLOCKOFFSETS_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::triton {

/// Offsets are i32 where no type follows: `%row : i64, %c0`.
ParseResult
parseBlockOffsets(OpAsmParser &parser,
                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &offsets,
                  SmallVectorImpl<Type> &types);
void printBlockOffsets(OpAsmPrinter &printer, Operation *op,
                       OperandRange offsets, TypeRange types);

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_BLOCKOFFSETS_H

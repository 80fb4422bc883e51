//===-- DeclaredAttributes.h - Dialects of attributes only ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_IR_DECLAREDATTRIBUTES_H
#define TILE_DIALECT_TRITONGPU_IR_DECLAREDATTRIBUTES_H

namespace mlir {
class MLIRContext;
}

namespace mlir::triton::gpu {

/// Loads the dialects that verify `loop.stage` and the like.
void loadAttributeDialects(MLIRContext &context);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_DECLAREDATTRIBUTES_H

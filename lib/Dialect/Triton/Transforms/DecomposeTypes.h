//===-- DecomposeTypes.h - Values that become several -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_DIALECT_TRITON_TRANSFORMS_DECOMPOSETYPES_H
#define TILE_LIB_DIALECT_TRITON_TRANSFORMS_DECOMPOSETYPES_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::triton {

/// Whether the type is a tensor with an extent that is no power of two, of
/// which triton-split-shapes makes several.
bool isSplit(Type type);

/// Whether a result or an argument of a block is of such a type.
bool hasValueOfType(Operation *root, function_ref<bool(Type)> isSuch);

/// For a type that a conversion replaces by several others. Adds patterns for
/// the operations that pass values of any type on (functions, calls, branches,
/// structured control flow, select). An operation is legal if none of its types
/// is to be converted.
void populateDecompositionPatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns,
                                   ConversionTarget &target);

/// Applies the patterns to everything that can be reached. Code that cannot is
/// erased: a conversion would leave it with the types that it had.
LogicalResult applyDecomposition(Operation *op, const ConversionTarget &target,
                                 RewritePatternSet &&patterns);

} // namespace mlir::triton

#endif // TILE_LIB_DIALECT_TRITON_TRANSFORMS_DECOMPOSETYPES_H

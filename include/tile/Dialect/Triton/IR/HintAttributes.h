//===-- HintAttributes.h - What assembly asks of caches ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITON_IR_HINTATTRIBUTES_H
#define TILE_DIALECT_TRITON_IR_HINTATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

/// On assembly that only asks caches for lines of memory.
inline constexpr llvm::StringLiteral kPrefetchAttr = "tt.prefetch";

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_HINTATTRIBUTES_H

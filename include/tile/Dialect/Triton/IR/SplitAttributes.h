//===-- SplitAttributes.h - What pieces of tensors are told -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What triton-split-shapes says to the lowering (tile/Support/AttributeNames.h
// has the other attributes).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITON_IR_SPLITATTRIBUTES_H
#define TILE_DIALECT_TRITON_IR_SPLITATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

inline constexpr llvm::StringLiteral kFirstIndexAttrName = "tt.first_index";
inline constexpr llvm::StringLiteral kPieceAttrName = "tt.piece";

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_SPLITATTRIBUTES_H

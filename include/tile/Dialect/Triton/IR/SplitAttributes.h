//===-- SplitAttributes.h - What pieces of tensors are told -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What triton-split-shapes says to the lowering, and what triton-split-rows is
// told (tile/Support/AttributeNames.h has the other attributes).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITON_IR_SPLITATTRIBUTES_H
#define TILE_DIALECT_TRITON_IR_SPLITATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

inline constexpr llvm::StringLiteral kFirstIndexAttrName = "tt.first_index";
inline constexpr llvm::StringLiteral kPieceAttrName = "tt.piece";

// On the module.
inline constexpr llvm::StringLiteral kLongestExtentAttrName =
    "tt.longest_extent";
inline constexpr llvm::StringLiteral kGroupWarpsAttrName = "tt.group_warps";

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_SPLITATTRIBUTES_H

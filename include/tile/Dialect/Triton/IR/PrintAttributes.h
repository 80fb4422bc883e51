//===-- PrintAttributes.h - What prints are told about pieces ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What triton-split-shapes says to the lowering of prints
// (tile/Support/AttributeNames.h has the other attributes).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITON_IR_PRINTATTRIBUTES_H
#define TILE_DIALECT_TRITON_IR_PRINTATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

inline constexpr llvm::StringLiteral kFirstIndexAttrName = "tt.first_index";

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_PRINTATTRIBUTES_H

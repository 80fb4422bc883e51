//===-- CallAttributes.h - How functions of libraries are called -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITON_IR_CALLATTRIBUTES_H
#define TILE_DIALECT_TRITON_IR_CALLATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

/// On a call whose operand gives the shape alone: the function takes nothing.
inline constexpr llvm::StringLiteral kNoArgumentsAttr = "tt.no_arguments";

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_CALLATTRIBUTES_H

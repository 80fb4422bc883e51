//===-- ProfileAttributes.h - Memory for records of a launch ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a module says of the memory that its profiler needs. Only the lowering
// of records writes these (tile/Support/AttributeNames.h has the others).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_PROFILEATTRIBUTES_H
#define TILE_DIALECT_TRITONGPU_IR_PROFILEATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::gpu {

inline constexpr llvm::StringLiteral kProfileScratchSizeAttrName =
    "ttg.profile_scratch_memory_size";
inline constexpr llvm::StringLiteral kProfileScratchAlignmentAttrName =
    "ttg.profile_scratch_memory_alignment";

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_PROFILEATTRIBUTES_H

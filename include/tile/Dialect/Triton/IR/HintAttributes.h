//===-- HintAttributes.h - What accesses ask of caches ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITON_IR_HINTATTRIBUTES_H
#define TILE_DIALECT_TRITON_IR_HINTATTRIBUTES_H

#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton {

/// On assembly that only asks caches for lines of memory.
inline constexpr llvm::StringLiteral kPrefetchAttr = "tt.prefetch";

/// On an atomic operation, or one that stores a block by its descriptor: its
/// EvictionPolicy, as a number.
inline constexpr llvm::StringLiteral kEvictionAttr = "tt.eviction";

inline EvictionPolicy getEviction(Operation *op) {
  auto policy = op->getAttrOfType<IntegerAttr>(kEvictionAttr);
  return policy ? static_cast<EvictionPolicy>(policy.getInt())
                : EvictionPolicy::NORMAL;
}

/// What takes the place of an access asks the same.
inline void copyEviction(Operation *from, Operation *to) {
  if (Attribute policy = from->getAttr(kEvictionAttr))
    to->setAttr(kEvictionAttr, policy);
}

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_HINTATTRIBUTES_H

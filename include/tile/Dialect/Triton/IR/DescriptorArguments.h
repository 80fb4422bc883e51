//===-- DescriptorArguments.h - Descriptors from the host -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_DESCRIPTORARGUMENTS_H
#define TILE_DIALECT_TRITON_IR_DESCRIPTORARGUMENTS_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Support/AttributeNames.h"

namespace mlir::triton {

/// What the host passes for a descriptor: its base, shape, and strides, and
/// whether elements out of bounds are NaNs.
inline SmallVector<Type> getPartTypes(TensorDescType type) {
  Builder builder(type.getContext());
  unsigned rank = type.getBlockType().getRank();
  SmallVector<Type> types = {PointerType::get(type.getElementType())};
  types.append(rank, builder.getI32Type());
  types.append(rank, builder.getI64Type());
  types.push_back(builder.getI1Type());
  return types;
}

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_DESCRIPTORARGUMENTS_H

//===-- DescriptorArguments.h - Descriptors from the host -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_DESCRIPTORARGUMENTS_H
#define TILE_DIALECT_TRITON_IR_DESCRIPTORARGUMENTS_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Support/AttributeNames.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::triton {

/// On a descriptor from the host: loads round elements of f32 to tf32.
inline constexpr llvm::StringLiteral kRoundsToTF32AttrName =
    "tt.round_f32_to_tf32";

/// On an operation that makes a descriptor of arguments of the kernel alone:
/// the launch may make it. Its base and strides are known to be what copy
/// engines take, but for the strides' signs.
inline constexpr llvm::StringLiteral kOfArgumentsAttrName = "tt.of_arguments";

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

/// Whether loads through an argument, a descriptor from the host, round to
/// tf32. Fails where its elements cannot.
inline FailureOr<bool> roundsToTF32(FunctionOpInterface function,
                                    unsigned index, Type element) {
  if (!function.getArgAttr(index, kRoundsToTF32AttrName))
    return false;
  if (!element.isF32())
    return function.emitError("expected elements of f32 in argument ")
           << index << " with '" << kRoundsToTF32AttrName << "', found "
           << element;
  return true;
}

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_DESCRIPTORARGUMENTS_H

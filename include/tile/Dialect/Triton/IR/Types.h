//===-- Types.h - Types of the tt dialect and helpers on them -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TYPES_H
#define TILE_DIALECT_TRITON_IR_TYPES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/Triton/IR/Types.h.inc"

namespace mlir::triton {

/// True for a pointer to a tensor.
bool isBlockPointer(Type type);

/// The pointee of a pointer, or of the elements of a tensor of pointers; the
/// type itself if it is neither.
Type getPointeeType(Type type);

/// The address space of a pointer or a tensor of pointers.
int getAddressSpace(Type type);

/// The type of `scalar` in the shape and encoding of `like`: a tensor if `like`
/// is one, the scalar type otherwise.
Type getTypeLike(Type scalar, Type like);

/// What a load through `ptrType` yields: T for a pointer to T, tensor<T> for a
/// tensor of pointers, the block for a block pointer. Returns the type itself
/// if it is none of them, so that a verifier gets to complain.
Type getLoadedType(Type ptrType);

/// i1 in the shape of the value that `type` is or points to.
Type getMaskType(Type type);

/// The base address of a block pointer, as a type.
Type getBlockBaseType(Type blockPtrType);

/// The bit width of the elements of `type`; 64 for pointers.
unsigned getElementBitWidth(Type type);

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_TYPES_H

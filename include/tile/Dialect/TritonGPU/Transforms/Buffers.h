//===-- Buffers.h - Rings of buffers ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_BUFFERS_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_BUFFERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::triton::gpu {

/// A buffer for a tensor of a type.
Value allocateBuffer(OpBuilder &builder, Location loc, RankedTensorType type,
                     Attribute encoding);

/// An array of `count` buffers for tensors of a type.
Value allocateBuffers(OpBuilder &builder, Location loc, RankedTensorType type,
                      Attribute encoding, int count);

/// The buffers of which `view` is a part.
Value getBuffers(Value view);

/// One of an array of buffers or barriers.
Value getBuffer(OpBuilder &builder, Location loc, Value buffers, Value index);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_BUFFERS_H

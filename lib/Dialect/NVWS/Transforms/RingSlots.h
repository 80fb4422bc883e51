//===-- RingSlots.h - Where a partition has a slot of a ring ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_DIALECT_NVWS_TRANSFORMS_RINGSLOTS_H
#define TILE_LIB_DIALECT_NVWS_TRANSFORMS_RINGSLOTS_H

#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::nvws {

/// Takes a slot of `ring`, as a `buffer`. `nvws-assign-stage-phase` says which.
template <typename EnterOp>
EnterOp enterSlot(OpBuilder &builder, Location loc, Value ring, Type buffer) {
  return EnterOp::create(builder, loc, TypeRange(buffer),
                         gpu::AsyncTokenType::get(builder.getContext()), ring,
                         /*stage=*/Value(), /*phase=*/Value());
}

/// Gives the slot back that `token` stands for, once accesses of all `kinds`
/// are done.
template <typename ExitOp>
ExitOp exitSlot(OpBuilder &builder, Location loc, Value ring, Value token,
                ArrayRef<AsyncOp> kinds) {
  SmallVector<Attribute> attributes;
  for (AsyncOp kind : kinds)
    attributes.push_back(AsyncOpAttr::get(builder.getContext(), kind));
  return ExitOp::create(builder, loc, ring, /*stage=*/Value(), token,
                        builder.getArrayAttr(attributes));
}

} // namespace mlir::triton::nvws

#endif // TILE_LIB_DIALECT_NVWS_TRANSFORMS_RINGSLOTS_H

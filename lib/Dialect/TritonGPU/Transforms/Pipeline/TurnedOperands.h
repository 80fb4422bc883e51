//===-- TurnedOperands.h - Operands that products read turned ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A product of warp groups reads 8-bit operands from shared memory in which
// neighbours along K are neighbours. A tile that lies the other way round in
// global memory is copied as it lies, read, packed along K in registers, and
// written again.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITONGPU_TRANSFORMS_PIPELINE_TURNEDOPERANDS_H
#define TILE_LIB_DIALECT_TRITONGPU_TRANSFORMS_PIPELINE_TURNEDOPERANDS_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

/// The layout in which a tile is read that `alloc` writes the other way round;
/// null if it does not.
BlockedEncodingAttr getTurningLayout(LocalAllocOp alloc);

/// The encoding of the buffer that such a tile is copied to, in which such
/// reads have no bank conflicts; null where `alloc` turns nothing.
Attribute getTurnedBufferEncoding(LocalAllocOp alloc);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_DIALECT_TRITONGPU_TRANSFORMS_PIPELINE_TURNEDOPERANDS_H

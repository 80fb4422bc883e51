//===-- TurnedOperands.h - Transposed 8-bit operands of dots ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A dot of warp groups reads 8-bit operands from shared memory, where
// neighbours along K have to be neighbours. A tile may lie the other way round
// in global memory. Then it is copied as it is, and threads transpose it: they
// read it, pack bytes along K in registers, and write it to a second buffer.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITONGPU_TRANSFORMS_PIPELINE_TURNEDOPERANDS_H
#define TILE_LIB_DIALECT_TRITONGPU_TRANSFORMS_PIPELINE_TURNEDOPERANDS_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

/// The layout in which threads read a tile that `alloc` stores transposed. Null
/// if `alloc` does not transpose.
BlockedEncodingAttr getTurningLayout(LocalAllocOp alloc);

/// The encoding of the buffer that such a tile is copied to. Reads in the
/// layout above have no bank conflicts there. Null if `alloc` does not
/// transpose.
Attribute getTurnedBufferEncoding(LocalAllocOp alloc);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_DIALECT_TRITONGPU_TRANSFORMS_PIPELINE_TURNEDOPERANDS_H

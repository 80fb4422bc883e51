//===-- BufferSize.h - What a buffer takes of shared memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_IR_BUFFERSIZE_H
#define TILE_DIALECT_TRITONGPU_IR_BUFFERSIZE_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

/// How many elements a buffer, or an array of buffers, takes in the memory of
/// one block of a cluster. The gaps of its encoding, and places that it leaves
/// unused, count.
int64_t getElementsInMemory(MemDescType type);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_BUFFERSIZE_H

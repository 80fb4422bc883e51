//===-- MemoryOps.h - Questions to loads ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_MEMORYOPS_H
#define TILE_DIALECT_TRITON_IR_MEMORYOPS_H

#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton {

/// True for a load that looks for what others write meanwhile: a volatile one,
/// or one that asks not to be served from a cache. It is neither removed, nor
/// merged, moved or repeated, and all threads get what one of them read.
bool isFreshRead(LoadOp load);

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_MEMORYOPS_H

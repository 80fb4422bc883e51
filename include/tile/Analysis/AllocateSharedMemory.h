//===-- AllocateSharedMemory.h - Places in shared memory --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_ANALYSIS_ALLOCATESHAREDMEMORY_H
#define TILE_ANALYSIS_ALLOCATESHAREDMEMORY_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton {

/// Gives every buffer in shared memory an offset. The offsets and the size of
/// all buffers together become attributes of the operations. Returns the size.
/// Fails, with an error on the largest buffer, where a block of the module's
/// target may not have so much. The size is an attribute then, too.
FailureOr<int64_t> allocateSharedMemory(ModuleOp module);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_ALLOCATESHAREDMEMORY_H

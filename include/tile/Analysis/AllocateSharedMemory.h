//===-- AllocateSharedMemory.h - Places in shared memory --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_ANALYSIS_ALLOCATESHAREDMEMORY_H
#define TILE_ANALYSIS_ALLOCATESHAREDMEMORY_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton {

/// Gives everything that lives in shared memory its place, and notes the places
/// and the size of all on the operations. Returns the size; fails, with an
/// error on the largest buffer, where it is more than a block of the module's
/// target may have (the size is noted then, too).
FailureOr<int64_t> allocateSharedMemory(ModuleOp module);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_ALLOCATESHAREDMEMORY_H

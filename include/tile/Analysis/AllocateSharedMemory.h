//===-- AllocateSharedMemory.h - Places in shared memory --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_ANALYSIS_ALLOCATESHAREDMEMORY_H
#define TILE_ANALYSIS_ALLOCATESHAREDMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::triton {

/// How many blocks of a kernel are resident on a processor at once where each
/// takes so many bytes of shared memory.
using ResidentBlocks = llvm::function_ref<int64_t(int64_t sharedBytes)>;

/// Gives every buffer in shared memory an offset. The offsets and the size of
/// all buffers together become attributes of the operations. Returns the size.
/// Fails, with an error on the largest buffer, where a block of the module's
/// target may not have so much. The size is an attribute then, too.
///
/// Results that leave a loop go through shared memory in the fewest turns that
/// cost no resident block. Where nobody counts these, they take no more memory
/// than the loop.
FailureOr<int64_t>
allocateSharedMemory(ModuleOp module,
                     ResidentBlocks countResidentBlocks = nullptr);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_ALLOCATESHAREDMEMORY_H

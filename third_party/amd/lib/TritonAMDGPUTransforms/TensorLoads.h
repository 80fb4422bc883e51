//===-- TensorLoads.h - Loads by the tensor data mover ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTRANSFORMS_TENSORLOADS_H
#define AMD_TRITONAMDGPUTRANSFORMS_TENSORLOADS_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::amd {

/// A buffer for the block that `load` reads. Where lanes read several rows at
/// once, these lie at different banks.
gpu::MemDescType getLoadedBufferType(DescriptorLoadOp load);

/// Starts the copy of the block at `indices` of the tensor that `load` reads.
Value startTensorCopy(OpBuilder &b, DescriptorLoadOp load, ValueRange indices,
                      Value buffer, Value pred);

/// Waits until all copies are done; a barrier tells the other waves.
Value waitForTensorCopies(OpBuilder &b, Location loc, ValueRange tokens);

/// Replaces `load` by what reads the buffer, in the layouts that its users
/// want; `wait` is the token of the wait for the copy.
void readTensorBuffer(DescriptorLoadOp load, Value buffer, Value wait);

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTRANSFORMS_TENSORLOADS_H

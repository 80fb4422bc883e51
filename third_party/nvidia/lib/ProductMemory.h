//===-- ProductMemory.h - Operands of dots in shared memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_LIB_PRODUCTMEMORY_H
#define NVIDIA_LIB_PRODUCTMEMORY_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::nvidia {

/// Whether the blocks of a cluster have the same elements of both tensors.
bool isDividedAlike(Value a, Value b);

/// Puts an operand into shared memory where it is defined, outside of loops
/// that do not change it; transpositions become views. Neighbours along
/// `innerDim` are neighbours there. Where there is a choice, it lies as it did
/// before. Bytes of two 4-bit elements may get padding.
Value putIntoSharedMemory(OpBuilder &b, Operation *op, Value operand,
                          unsigned innerDim, bool hasChoice,
                          bool fp4Padded = false);

/// Puts a value into such a buffer for `op`, if it is not in one already.
Value putIntoSharedMemory(OpBuilder &b, Operation *op, Value value,
                          gpu::MemDescType memory);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_PRODUCTMEMORY_H

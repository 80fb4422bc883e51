//===-- CopyEngines.h - How AMD GPUs bring loads to LDS ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTRANSFORMS_COPYENGINES_H
#define AMD_TRITONAMDGPUTRANSFORMS_COPYENGINES_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"

namespace mlir::triton::amd {

/// The tensor data mover copies blocks of descriptors (TensorDataMover.cpp).
const gpu::CopyStrategy &getTensorDataMover();
/// Lanes load straight into LDS what `tritonamdgpu-stream-pipeline` has marked
/// (DirectCopies.cpp).
const gpu::CopyStrategy &getDirectCopies();
/// Lanes load operands of matrix products, and write them to LDS
/// (RegisterCopies.cpp).
const gpu::CopyStrategy &getRegisterCopies();

/// Bytes that a lane loads straight into LDS at once.
constexpr int64_t kDirectBytes = 16;

/// Gives the addresses of a copy the layout in which lanes write side by side.
/// Returns the conversions; none where it has that layout, or cannot have it.
SmallVector<Operation *> layOutCopy(gpu::AsyncCopyGlobalToLocalOp copy);

/// Replaces a load of a block by a copy to a buffer of its own, a wait for it,
/// and what reads the buffer.
void copyBlockAtOnce(DescriptorLoadOp load);

/// Waits until all copies of blocks are done. Returns the token of the wait.
Value waitForBlocks(OpBuilder &b, Location loc, ValueRange tokens);

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTRANSFORMS_COPYENGINES_H

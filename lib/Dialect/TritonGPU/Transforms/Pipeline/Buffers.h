//===-- Buffers.h - Reads of rings of buffers -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What software pipelines of one group of warps and of several have in common:
// arrays of buffers that copies fill, and the reads.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TRITONGPU_PIPELINE_BUFFERS_H
#define TILE_LIB_TRITONGPU_PIPELINE_BUFFERS_H

#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"

namespace mlir::triton::gpu {

/// Has the users of a load, which is to be erased, read `slot`, where a copy
/// has put what it loads. Dots read it by themselves, others by loads right
/// after `slot` (which have `token`, if there is one). Calls `onCreate` and
/// `onErase` for the operations that come and go.
void readBuffer(OpBuilder &builder, Operation *load,
                const CopyStrategy &strategy, Value slot, Value token,
                function_ref<void(Operation *)> onCreate,
                function_ref<void(Operation *)> onErase);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_BUFFERS_H

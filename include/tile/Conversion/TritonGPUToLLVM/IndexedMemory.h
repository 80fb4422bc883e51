//===-- IndexedMemory.h - Elements of buffers by index ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_INDEXEDMEMORY_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_INDEXEDMEMORY_H

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"
#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"

namespace mlir::triton {

void populateIndexedMemoryPatterns(const LoweringContext &context);

/// Where an element of a buffer with paddings is that would be at `offset`
/// without them.
Value insertPaddings(const LLVMBuilder &b, const SharedAccess &access,
                     Value offset);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_INDEXEDMEMORY_H

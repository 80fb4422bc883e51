//===-- TurnedOperands.cpp - Operands that products read turned -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A thread holds 16 by 4 elements: it reads four at once as they lie, and
// writes 16 along K. Threads next to each other are next to each other along K:
// they write the 16-byte chunks of one swizzled row. What they read together is
// in rows 16 apart, which the swizzle of the copies spreads over the banks.
//
//===----------------------------------------------------------------------===//

#include "TurnedOperands.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

static constexpr unsigned kWritten = 16, kRead = 4, kChunkBytes = 16,
                          kChunksOfBanks = 8;

BlockedEncodingAttr mlir::triton::gpu::getTurningLayout(LocalAllocOp alloc) {
  RankedTensorType type = alloc.getSrc().getType();
  if (type.getRank() != 2 || type.getElementTypeBitWidth() != 8)
    return {};
  unsigned inner = getOrder(alloc.getType()).front(), outer = 1 - inner;
  if (getOrder(type).front() == inner)
    return {};
  SmallVector<int64_t> shape = getShapePerCTA(type);
  unsigned lanes = lookupThreadsPerWarp(alloc), warps = lookupNumWarps(alloc);
  SmallVector<unsigned> size(2), threads(2), grid(2, 1);
  size[inner] = kWritten;
  size[outer] = kRead;
  threads[inner] =
      std::clamp<unsigned>(shape[inner] / kWritten, 1, kChunksOfBanks);
  threads[outer] = lanes / threads[inner];
  grid[outer] =
      std::clamp<unsigned>(shape[outer] / (kRead * threads[outer]), 1, warps);
  grid[inner] = warps / grid[outer];
  return BlockedEncodingAttr::get(type.getContext(), size, threads, grid,
                                  {inner, outer},
                                  getCTALayout(type.getEncoding()));
}

Attribute mlir::triton::gpu::getTurnedBufferEncoding(LocalAllocOp alloc) {
  BlockedEncodingAttr layout = getTurningLayout(alloc);
  if (!layout)
    return {};
  RankedTensorType type = alloc.getSrc().getType();
  SmallVector<unsigned> order = getOrder(type);
  unsigned chunks = getShapePerCTA(type)[order[0]] / kChunkBytes;
  return SwizzledSharedEncodingAttr::get(
      type.getContext(), /*vec=*/kChunkBytes, /*perPhase=*/kWritten,
      /*maxPhase=*/std::clamp(chunks, 1u, kChunksOfBanks), order,
      layout.getCTALayout());
}

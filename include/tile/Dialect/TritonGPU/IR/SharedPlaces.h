//===-- SharedPlaces.h - Where a tensor lies in a buffer --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_IR_SHAREDPLACES_H
#define TILE_DIALECT_TRITONGPU_IR_SHAREDPLACES_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton::gpu {

/// From the registers of a tensor to the offset in a buffer, and the block that
/// the buffer is in. Blocks that hold copies have their own. Where a view
/// starts is to be added to both.
LinearLayout getPlaces(RankedTensorType registers, MemDescType memory);

/// Whether every block of a cluster finds the elements of its registers in its
/// own part of a buffer.
bool staysInBlock(RankedTensorType registers, MemDescType memory);

/// Whether all blocks of a cluster have all elements of a buffer themselves.
bool isInEachBlock(MemDescType memory);

/// Bits of the number of a block that do not change what the block holds of a
/// buffer.
uint32_t getCopyBits(MemDescType memory);

/// Whether a block holds a copy of elements that in registers other blocks
/// have: no store of the registers reaches all copies.
bool missesCopies(RankedTensorType registers, MemDescType memory);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_SHAREDPLACES_H

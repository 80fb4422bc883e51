//===-- SharedPlaces.h - Where a tensor lies in a buffer --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_IR_SHAREDPLACES_H
#define TILE_DIALECT_TRITONGPU_IR_SHAREDPLACES_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton::gpu {

/// From the registers of a tensor to the offset in a buffer, and the block that
/// the buffer is in.
LinearLayout getPlaces(RankedTensorType registers, MemDescType memory);

/// Whether every block of a cluster finds the elements of its registers in its
/// own part of a buffer. If not, there is no access to it.
bool staysInBlock(RankedTensorType registers, MemDescType memory);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_SHAREDPLACES_H

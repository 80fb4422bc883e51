//===-- PackedScales.h - Scales that are loaded as they are copied -*- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// tcgen05.cp copies scales from shared memory to tensor memory: 512 bytes at a
// time, four scales of 128 rows each. Programs keep them packed like that, and
// turn what they have loaded into rows of scales by reshapes and
// transpositions.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PACKEDSCALES_H
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PACKEDSCALES_H

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

namespace mlir::triton::nvidia_gpu {

/// Scales of a dot that lie in memory as tcgen05.cp reads them.
struct PackedScales {
  /// What a load has given.
  TypedValue<RankedTensorType> loaded;
  /// The reshapes and transpositions from there to rows of scales, in their
  /// order.
  SmallVector<Operation *> views;
  /// How `loaded` lies in shared memory.
  gpu::NVMMASharedEncodingAttr encoding;

  gpu::MemDescType getBufferType() const;
  /// The rows of scales in a buffer that `loaded` was stored to.
  Value makeViews(OpBuilder &builder, Value buffer) const;
};

/// Nullopt if `scales` come from elsewhere, or lie otherwise.
std::optional<PackedScales> findPackedScales(Value scales);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PACKEDSCALES_H

//===-- CopyEngines.h - What copies on NVIDIA GPUs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_COPYENGINES_H
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_COPYENGINES_H

#include "mlir/IR/Builders.h"

namespace mlir::triton::gpu {
class CopyStrategy;
class RingBarriers;
} // namespace mlir::triton::gpu

namespace mlir::triton::nvidia_gpu {

/// The TMA copies blocks of descriptors, and rows that it gathers. It arrives
/// at mbarriers.
const gpu::CopyStrategy &getBulkTensorCopies();

/// TMA copies four rows at a time. Gives each warp four row numbers at a time,
/// the same in all its lanes.
Value distributeRows(OpBuilder &builder, Location loc, Value rows);

/// mbarriers in shared memory.
const gpu::RingBarriers &getMbarriers();

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_COPYENGINES_H

//===-- CopyEngines.h - What copies on NVIDIA GPUs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_COPYENGINES_H
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_COPYENGINES_H

namespace mlir::triton::gpu {
class CopyStrategy;
class RingBarriers;
} // namespace mlir::triton::gpu

namespace mlir::triton::nvidia_gpu {

/// The TMA copies blocks of descriptors, and arrives at mbarriers.
const gpu::CopyStrategy &getBulkTensorCopies();

/// mbarriers in shared memory.
const gpu::RingBarriers &getMbarriers();

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_COPYENGINES_H

//===-- ClusterBarriers.h - mbarriers of all blocks of a cluster -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_CLUSTERBARRIERS_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_CLUSTERBARRIERS_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::nvidia_gpu {

/// On `arrive_barrier`: the barrier of each block of the cluster is arrived at.
/// Each warp does for itself where there is an arrival for each of them, else
/// the first thread, alone and at once. On `wait_barrier`: the first thread
/// waits, alone, for what all of them did before they arrived.
inline constexpr llvm::StringLiteral kAllBlocksAttrName = "ttnvgpu.all_blocks";

/// The type of a barrier that each of `numBlocks` blocks of a cluster has for
/// itself, or of an array of `count` of them.
gpu::MemDescType getBarrierType(MLIRContext *context, unsigned numBlocks,
                                std::optional<int64_t> count = std::nullopt);

/// The bits of a block's number that make no difference to what it has of a
/// buffer. Of blocks that differ in these alone, the first holds a barrier for
/// all of them.
unsigned getSharedBlockBits(gpu::MemDescType type);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_CLUSTERBARRIERS_H

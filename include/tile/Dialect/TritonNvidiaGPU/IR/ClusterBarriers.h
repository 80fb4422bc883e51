//===-- ClusterBarriers.h - mbarriers of all blocks of a cluster -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_CLUSTERBARRIERS_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_CLUSTERBARRIERS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::nvidia_gpu {

/// On `arrive_barrier`: the barrier of each block of the cluster is arrived at.
/// Each warp does for itself where there is an arrival for each of them, else
/// the first thread, alone and at once. On `wait_barrier`: the first thread
/// waits, alone, for what all of them did before they arrived.
inline constexpr llvm::StringLiteral kAllBlocksAttrName = "ttnvgpu.all_blocks";

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_CLUSTERBARRIERS_H

//===-- ClusterCopies.h - Copies for all blocks of a cluster ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_CLUSTERCOPIES_H
#define TILE_LIB_TRITONGPU_PIPELINE_CLUSTERCOPIES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::gpu {

/// Has the blocks of a cluster wait until all mbarriers that were made before
/// this are there, and all are done with what was in the place of buffers.
void startSharing(OpBuilder &builder, Location loc);

/// Makes an mbarrier at which the blocks of a cluster meet, and has them wait
/// until all mbarriers that were made before this are there. Null where a
/// program is one block.
Value makeClusterBarrier(OpBuilder &builder, Location loc);

/// Has the blocks of a cluster meet at `barrier` between what reads buffers and
/// the next copies to those of all blocks. `loop` may be replaced by one with
/// another iteration argument.
void joinBlocksOfCluster(scf::ForOp &loop, Value barrier);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_CLUSTERCOPIES_H

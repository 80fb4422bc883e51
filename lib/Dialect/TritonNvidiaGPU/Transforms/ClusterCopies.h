//===-- ClusterCopies.h - Copies for all blocks of a cluster ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONNVIDIAGPU_CLUSTERCOPIES_H
#define TILE_LIB_TRITONNVIDIAGPU_CLUSTERCOPIES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::nvidia_gpu {

/// Has the blocks of a cluster wait for each other at the mbarrier in
/// `barriers`, between the reads of buffers and the next copies to the buffers
/// of all blocks. `loop` may be replaced by a loop with one more iteration
/// argument.
void joinBlocksOfCluster(scf::ForOp &loop, Value barriers);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_CLUSTERCOPIES_H

//===-- ClusterSignals.h - What blocks of a cluster tell others -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_CLUSTERSIGNALS_H
#define TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_CLUSTERSIGNALS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::triton::nvidia_gpu {

/// Whether the blocks that share a barrier have it in the first of them.
bool isOfSeveralBlocks(Value barrier);

/// Whether `op` itself signals barriers of other blocks.
bool signalsOtherBlocks(Operation *op);

/// The barriers of other blocks that `op` signals, and that the other block may
/// never wait for. Bytes that come to a block are not meant: it waits for them.
SmallVector<Value, 2> getSignalsOnly(Operation *op);

/// Whether all blocks of the cluster meet here.
bool isBarrierOfCluster(Operation *op);

/// Whether `op`, or something in it, is as `isOne` says.
inline bool contains(Operation *op, function_ref<bool(Operation *)> isOne) {
  return op
      ->walk([&](Operation *inner) {
        return isOne(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_CLUSTERSIGNALS_H

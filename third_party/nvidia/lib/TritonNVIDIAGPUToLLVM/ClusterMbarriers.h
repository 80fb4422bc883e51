//===-- ClusterMbarriers.h - Barriers beside partitions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_CLUSTERMBARRIERS_H
#define NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_CLUSTERMBARRIERS_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::triton::nvidia {

/// Warps of a block that wait for the same warps of the other blocks of the
/// cluster: the default ones, or those of a partition.
struct WaitingWarps {
  /// The region of the partition, null for the default warps.
  Region *partition;
  unsigned firstWarp, numWarps;
  /// The barrier of the block at which these warps meet.
  unsigned barrier;
};

/// The mbarriers of a block, one for each group of warps.
struct MbarriersOfCluster {
  unsigned numBlocks, threadsPerWarp;
  /// The default warps first.
  SmallVector<WaitingWarps> groups;
  /// Makes the address of eight bytes of shared memory, the mbarrier of a
  /// group.
  function_ref<Value(const LLVMBuilder &, const WaitingWarps &)> getAddress;
};

/// Replaces the cluster barriers of `kernel` by mbarriers. At a cluster barrier
/// all threads of the blocks would have to arrive; at an mbarrier only warps of
/// one group do. Returns whether one cluster barrier is left: the warps that
/// are not default ones have to arrive at it once, before anything else. Fails,
/// with an error, where mbarriers cannot do the work of a cluster barrier.
FailureOr<bool> useMbarriersOfClusters(LLVM::LLVMFuncOp kernel,
                                       const MbarriersOfCluster &places);

/// Fails and says why if the default warps cannot call this function.
LogicalResult checkCalledFunction(LLVM::LLVMFuncOp function);

/// Arrives at the mbarrier that another block, or this one, has at `address`,
/// where `pred` holds: `count` times if it is given. `scope` is what makes
/// known what the thread did before, as in `.release.cluster`, or nothing.
void emitRemoteArrival(const LLVMBuilder &b, Value address, Value block,
                       Value pred, StringRef scope,
                       std::optional<int> count = std::nullopt);

/// Arrives at the barrier of the cluster and waits there.
void emitClusterBarrier(const LLVMBuilder &b);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_CLUSTERMBARRIERS_H

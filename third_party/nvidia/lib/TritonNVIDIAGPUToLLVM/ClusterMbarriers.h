//===-- ClusterMbarriers.h - Barriers beside partitions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_CLUSTERMBARRIERS_H
#define NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_CLUSTERMBARRIERS_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::triton::nvidia {

/// The mbarrier of a block at which the default warps of a cluster wait for
/// each other.
struct MbarrierOfCluster {
  unsigned numBlocks;
  unsigned numDefaultWarps, threadsPerWarp;
  /// Makes the address of eight bytes of shared memory, the mbarrier.
  function_ref<Value(const LLVMBuilder &)> getAddress;
};

/// Replaces the cluster barriers of `kernel` by mbarriers. At a cluster barrier
/// all threads of the blocks would have to arrive; at the mbarriers only the
/// default warps do. Returns whether one cluster barrier is left: the other
/// warps have to arrive at it once, before anything else. Fails, with an error,
/// where mbarriers cannot do the work of a cluster barrier.
FailureOr<bool> useMbarriersOfClusters(LLVM::LLVMFuncOp kernel,
                                       const MbarrierOfCluster &place);

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

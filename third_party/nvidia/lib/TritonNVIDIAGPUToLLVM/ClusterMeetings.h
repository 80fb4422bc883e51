//===-- ClusterMeetings.h - Blocks with specialised warps meet --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_CLUSTERMEETINGS_H
#define NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_CLUSTERMEETINGS_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::triton::nvidia {

/// Where the default warps of the blocks of a cluster meet.
struct MeetingPlace {
  unsigned numBlocks;
  unsigned numDefaultWarps, threadsPerWarp;
  /// Makes the address of eight bytes of shared memory, the mbarrier.
  function_ref<Value(const LLVMBuilder &)> getAddress;
};

/// Has the default warps of `kernel` meet at mbarriers in place of the barrier
/// of the cluster, at which all threads of its blocks would have to arrive.
/// Returns whether the other warps come to that one once, first of all. Fails
/// and says why where warps cannot meet so.
FailureOr<bool> meetAtMbarriers(LLVM::LLVMFuncOp kernel,
                                const MeetingPlace &place);

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

#endif // NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_CLUSTERMEETINGS_H

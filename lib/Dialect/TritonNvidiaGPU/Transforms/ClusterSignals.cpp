//===-- ClusterSignals.cpp - What blocks of a cluster tell others ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ClusterSignals.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

bool nvidia_gpu::isOfSeveralBlocks(Value barrier) {
  return getSharedBlockBits(cast<gpu::MemDescType>(barrier.getType())) != 0;
}

/// Whether a multiplication ends for the blocks that share its operands.
static bool isMulticast(Operation *op) {
  if (auto product = dyn_cast<TCGen5MMAOp>(op))
    return product.getMulticast();
  auto scaled = dyn_cast<TCGen5MMAScaledOp>(op);
  return scaled && scaled.getMulticast();
}

SmallVector<Value, 2> nvidia_gpu::getSignalsOnly(Operation *op) {
  if (auto copy = dyn_cast<AsyncTMACopyGlobalToLocalOp>(op))
    if (isOfSeveralBlocks(copy.getBarrier()))
      return {copy.getBarrier()};
  if (auto gather = dyn_cast<AsyncTMAGatherOp>(op))
    if (isOfSeveralBlocks(gather.getBarrier()))
      return {gather.getBarrier()};
  if (auto expect = dyn_cast<BarrierExpectOp>(op))
    if (expect.getFromCTA() || isOfSeveralBlocks(expect.getAlloc()))
      return {expect.getAlloc()};
  if (auto arrive = dyn_cast<ArriveBarrierOp>(op))
    if (arrive.getFromCTA() || arrive.getMulticastCTA() ||
        isOfSeveralBlocks(arrive.getAlloc()))
      return {arrive.getAlloc()};
  // What is multiplied, or has been, ends for all blocks that share an operand.
  if (auto product = dyn_cast<MMAv5OpInterface>(op)) {
    ValueRange barriers = product.getCompletionBarriers();
    if (product.usesTwoCTAs() || isMulticast(op) ||
        llvm::any_of(barriers, isOfSeveralBlocks))
      return SmallVector<Value, 2>(barriers);
  }
  if (auto commit = dyn_cast<TCGen5CommitOp>(op))
    if (!commit.getDescs().empty() || isOfSeveralBlocks(commit.getBarrier()) ||
        usesBlockPairs(op->getParentOfType<ModuleOp>()))
      return {commit.getBarrier()};
  return {};
}

bool nvidia_gpu::signalsOtherBlocks(Operation *op) {
  if (auto copy = dyn_cast<AsyncTMACopyGlobalToLocalOp>(op))
    if (copy.getMulticast())
      return true;
  // One block asks, and all get the answer.
  return isa<AsyncSharedStoreOp, CLCTryCancelOp>(op) ||
         !getSignalsOnly(op).empty();
}

bool nvidia_gpu::isBarrierOfCluster(Operation *op) {
  return isa<ClusterBarrierOp, ClusterWaitOp>(op);
}

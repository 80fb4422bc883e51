//===-- ClusterBarrierAfterInit.cpp - Blocks wait for others' barriers ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Programs with explicit barriers do not say when the blocks of a cluster know
// of the barriers of one another. It is the compiler's part, as the fence
// behind the initialisation is.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUCLUSTERBARRIERAFTERINIT
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {
bool isOfSeveralBlocks(Value barrier) {
  return getSharedBlockBits(cast<gpu::MemDescType>(barrier.getType())) != 0;
}

/// Whether a multiplication ends for the blocks that share its operands.
bool isMulticast(Operation *op) {
  if (auto product = dyn_cast<TCGen5MMAOp>(op))
    return product.getMulticast();
  auto scaled = dyn_cast<TCGen5MMAScaledOp>(op);
  return scaled && scaled.getMulticast();
}

/// Whether `op` itself signals barriers of other blocks.
bool signalsOtherBlocks(Operation *op) {
  if (auto copy = dyn_cast<AsyncTMACopyGlobalToLocalOp>(op))
    return copy.getMulticast() || isOfSeveralBlocks(copy.getBarrier());
  if (auto expect = dyn_cast<BarrierExpectOp>(op))
    return expect.getFromCTA() || isOfSeveralBlocks(expect.getAlloc());
  if (auto arrive = dyn_cast<ArriveBarrierOp>(op))
    return arrive.getFromCTA() || arrive.getMulticastCTA() ||
           isOfSeveralBlocks(arrive.getAlloc());
  if (auto gather = dyn_cast<AsyncTMAGatherOp>(op))
    return isOfSeveralBlocks(gather.getBarrier());
  // What is multiplied, or has been, ends for all blocks that share an operand.
  if (auto product = dyn_cast<MMAv5OpInterface>(op))
    return !product.getCompletionBarriers().empty() &&
           (product.usesTwoCTAs() || isMulticast(op) ||
            llvm::any_of(product.getCompletionBarriers(), isOfSeveralBlocks));
  if (auto commit = dyn_cast<TCGen5CommitOp>(op))
    return !commit.getDescs().empty() ||
           isOfSeveralBlocks(commit.getBarrier()) ||
           usesBlockPairs(op->getParentOfType<ModuleOp>());
  // One block asks, and all get the answer.
  return isa<AsyncSharedStoreOp, CLCTryCancelOp>(op);
}

bool isBarrierOfCluster(Operation &op) {
  return isa<ClusterBarrierOp, ClusterWaitOp>(op);
}

/// The last initialisation that comes before all signals to other blocks with
/// no barrier of the cluster between. Null if there is nothing to wait for.
InitBarrierOp findUnannounced(Block &body) {
  InitBarrierOp last;
  for (Operation &op : body) {
    if (auto init = dyn_cast<InitBarrierOp>(op))
      last = init;
    else if (isBarrierOfCluster(op))
      last = {};
    WalkResult result = op.walk([](Operation *inner) {
      return signalsOtherBlocks(inner) ? WalkResult::interrupt()
                                       : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return last;
  }
  return {};
}

struct ClusterBarrierAfterInit
    : nvidia_gpu::impl::TritonNvidiaGPUClusterBarrierAfterInitBase<
          ClusterBarrierAfterInit> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FuncOp>()) {
      if (!function.isPublic() || function.isDeclaration())
        continue;
      InitBarrierOp init = findUnannounced(function.getBody().front());
      if (!init || gpu::lookupNumCTAs(init) == 1)
        continue;
      OpBuilder builder(init->getContext());
      builder.setInsertionPointAfter(init);
      FenceMbarrierInitReleaseClusterOp::create(builder, init.getLoc());
      ClusterBarrierOp::create(builder, init.getLoc());
      ++numBarriers;
    }
  }
};
} // namespace

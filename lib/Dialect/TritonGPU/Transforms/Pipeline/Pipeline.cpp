//===-- Pipeline.cpp - Overlap the stages of scheduled loops --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AsyncLoads.h"
#include "AsyncProducts.h"
#include "Buffers.h"
#include "ClusterCopies.h"
#include "EarlyCopies.h"
#include "PredicateOp.h"
#include "tile/Dialect/TritonGPU/Transforms/LoopSchedule.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-pipeline"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUPIPELINE
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// Expands `loop` as `schedule` says.
FailureOr<scf::ForOp> expand(scf::ForOp loop, const LoopSchedule &schedule) {
  scf::PipeliningOption options;
  options.supportDynamicLoops = true;
  options.peelEpilogue = false;
  options.predicateFn = [&](RewriterBase &rewriter, Operation *op,
                            Value predicate) {
    bool inLoop = op->getBlock() != loop->getBlock();
    return predicateOp(rewriter, op, predicate, inLoop);
  };
  options.getScheduleFn =
      [&](scf::ForOp forOp,
          std::vector<std::pair<Operation *, unsigned>> &order) {
        order = schedule.getOrder(forOp);
      };
  IRRewriter rewriter(loop);
  return scf::pipelineForLoop(rewriter, loop, options);
}

/// Ends the life of buffers and barriers after the loop, when no copy can still
/// write.
void releaseBuffers(scf::ForOp loop, const AsyncRings &rings) {
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  Location loc = loop.getLoc();
  if (rings.hasThreadCopies)
    AsyncWaitOp::create(builder, loc, ValueRange(), /*num=*/0);
  if (rings.clusterBarrier)
    freeBarriers(builder, loc, rings.clusterBarrier);
  for (Value barriers : rings.barriers)
    freeBarriers(builder, loc, barriers);
  for (Value buffer : llvm::reverse(rings.buffers))
    LocalDeallocOp::create(builder, loc, buffer);
}

struct Pipeline : public gpu::impl::TritonGPUPipelineBase<Pipeline> {
  using Base::Base;

  void runOnOperation() override {
    ModuleAxisInfoAnalysis axisInfo(getOperation());
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(kMaxStageAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(pipeline(loop, axisInfo)))
        return signalPassFailure();
  }

private:
  LogicalResult pipeline(scf::ForOp loop,
                         const ModuleAxisInfoAnalysis &axisInfo) {
    std::optional<LoopSchedule> schedule = LoopSchedule::read(loop);
    if (!schedule)
      return loop.emitError("expected every operation of a loop with '")
             << kMaxStageAttr << "' to have '" << kStageAttr
             << "' (up to it) and '" << kClusterAttr << "'";
    AsyncRings rings = makeLoadsAsync(loop, *schedule, axisInfo);
    LoopSchedule::erase(loop);
    FailureOr<scf::ForOp> expanded = expand(loop, *schedule);
    if (failed(expanded))
      return loop.emitError("cannot overlap the stages of this loop as its "
                            "schedule says");
    releaseBuffers(*expanded, rings);
    startCopiesEarly(*expanded, rings);
    numProducts += makeProductsAsync(*expanded, rings.buffers);
    updateWaitCounts(*expanded);
    joinBlocksOfCluster(*expanded, rings.clusterBarrier);
    numCopies += rings.buffers.size();
    ++numLoops;
    return success();
  }
};

} // namespace

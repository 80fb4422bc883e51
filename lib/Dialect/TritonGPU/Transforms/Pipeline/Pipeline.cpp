//===-- Pipeline.cpp - Overlap the stages of scheduled loops --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AsyncLoads.h"
#include "AsyncProducts.h"
#include "Buffers.h"
#include "EarlyCopies.h"
#include "PredicateOp.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/Transforms/Expand.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"

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

/// Ends the life of buffers and barriers after the loop, when no copy can still
/// write.
void releaseBuffers(scf::ForOp loop, const AsyncRings &rings) {
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  Location loc = loop.getLoc();
  for (const CopyStrategy *strategy : rings.waitedByTokens)
    strategy->wait(builder, loc, /*tokens=*/{});
  const RingBarriers *ringBarriers = getTargetModel(loop).getRingBarriers();
  if (rings.clusterBarrier)
    ringBarriers->free(builder, loc, rings.clusterBarrier);
  for (Value barriers : rings.barriers)
    ringBarriers->free(builder, loc, barriers);
  for (Value buffer : llvm::reverse(rings.buffers))
    LocalDeallocOp::create(builder, loc, buffer);
}

struct Pipeline : public gpu::impl::TritonGPUPipelineBase<Pipeline> {
  using Base::Base;

  void runOnOperation() override {
    ModuleAxisInfoAnalysis axisInfo(getOperation());
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (LoopSchedule::isOn(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(pipeline(loop, axisInfo)))
        return signalPassFailure();
  }

private:
  static LogicalResult check(scf::ForOp loop, const LoopSchedule &schedule) {
    std::string reason = whyNot(loop, schedule);
    if (reason.empty())
      return success();
    return loop.emitError("cannot overlap the stages of this loop as its "
                          "schedule says: ")
           << reason;
  }

  LogicalResult pipeline(scf::ForOp loop,
                         const ModuleAxisInfoAnalysis &axisInfo) {
    FailureOr<LoopSchedule> schedule = LoopSchedule::require(loop);
    if (failed(schedule) || failed(check(loop, *schedule)))
      return failure();
    AsyncRings rings = makeLoadsAsync(loop, *schedule, axisInfo);
    LoopSchedule::erase(loop);
    if (failed(check(loop, *schedule)))
      return failure();
    FailureOr<scf::ForOp> expanded = expand(loop, *schedule, predicateOp);
    if (failed(expanded))
      return failure();
    releaseBuffers(*expanded, rings);
    startCopiesEarly(*expanded, rings);
    numProducts += makeProductsAsync(*expanded, rings.buffers);
    for (const CopyStrategy *strategy : rings.waitedByTokens)
      strategy->countPending(*expanded);
    if (rings.clusterBarrier)
      getTargetModel(*expanded).getRingBarriers()->joinBlocks(
          *expanded, rings.clusterBarrier);
    numCopies += rings.buffers.size();
    ++numLoops;
    return success();
  }
};

} // namespace

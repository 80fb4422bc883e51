//===-- PartitionScheduling.cpp - Which warps run what of a loop ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Pipeline/CopyStrategy.h"
#include "Producer.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#define DEBUG_TYPE "tritongpu-partition-scheduling"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUPARTITIONSCHEDULING
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

bool isInnermost(scf::ForOp loop) {
  return !loop.getBody()
              ->walk(
                  [](LoopLikeOpInterface) { return WalkResult::interrupt(); })
              .wasInterrupted();
}

/// The loads that a copy to a buffer can replace: asynchronous ones whose
/// values do not go on to the next iteration.
SmallVector<Operation *> getLoads(scf::ForOp loop) {
  Block *body = loop.getBody();
  SmallVector<Operation *> loads;
  for (Operation &op : body->without_terminator()) {
    if (!op.hasAttr(kLatencyAttr) || !CopyStrategy::find(&op, loop))
      continue;
    bool staysInside = llvm::all_of(op.getUsers(), [&](Operation *user) {
      return body->findAncestorOpInBlock(*user) != body->getTerminator();
    });
    if (staysInside && !op.use_empty())
      loads.push_back(&op);
  }
  return loads;
}

struct PartitionScheduling
    : public gpu::impl::TritonGPUPartitionSchedulingBase<PartitionScheduling> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!loop->hasAttr(kWarpSpecializeAttr))
        return WalkResult::advance();
      loop.walk([&](scf::ForOp inner) {
        if (!isInnermost(inner))
          return;
        inner->setAttr(kWarpSpecializeAttr, UnitAttr::get(&getContext()));
        loops.push_back(inner);
      });
      // The loops inside are divided, each for itself.
      if (!isInnermost(loop))
        loop->removeAttr(kWarpSpecializeAttr);
      return WalkResult::skip();
    });
    for (scf::ForOp loop : loops)
      schedule(loop);
  }

private:
  void schedule(scf::ForOp loop) {
    if (!supported)
      return giveUp(loop, loop.getLoc(),
                    "the warps of this target cannot wait for each other");
    auto function = loop->getParentOfType<FunctionOpInterface>();
    if (!function || function.isPrivate())
      return giveUp(loop, loop.getLoc(), "it is in a device function");
    if (lookupNumCTAs(loop) > 1)
      return giveUp(loop, loop.getLoc(), "its program has several blocks");
    if (loop->getParentOfType<WarpSpecializeOp>())
      return giveUp(loop, loop.getLoc(), "its warps are specialised already");
    if (lookupNumWarps(loop) > 16)
      return giveUp(loop, loop.getLoc(),
                    "there is no room for more warps in its block");
    SmallVector<Operation *> loads = getLoads(loop);
    if (loads.empty())
      return giveUp(loop, loop.getLoc(),
                    "it has no load that other warps could do");
    MemoryModel memory(loop, MemoryModel::Arguments::AssumedDisjoint);
    ProducerSlice slice(loop, loads);
    if (auto obstacle = slice.findObstacle(memory))
      return giveUp(loop, obstacle->loc, obstacle->reason);

    int latency = 0;
    for (Operation *load : loads) {
      latency = std::max(latency, *getI32Attr(load, kLatencyAttr));
      setI32Attr(load, kPartitionAttr, 0);
    }
    setI32Attr(loop, kNumStagesAttr, latency + 1);
    removeLatencies(loop);
    noteDisjointArguments(function, memory.getAssumptions());
    ++numLoops;
  }

  static void removeLatencies(scf::ForOp loop) {
    for (Operation &op : *loop.getBody())
      op.removeAttr(kLatencyAttr);
  }

  void giveUp(scf::ForOp loop, Location place, const std::string &reason) {
    loop->removeAttr(kWarpSpecializeAttr);
    // With a single stage, nothing else starts early.
    bool hasOneStage = llvm::any_of(*loop.getBody(), [](Operation &op) {
      return getI32Attr(&op, kLatencyAttr) == 0;
    });
    if (hasOneStage)
      removeLatencies(loop);
    remark::missed(
        place,
        remark::RemarkOpts::name("loop-not-specialized").category(DEBUG_TYPE))
        << StringRef(reason);
  }
};

} // namespace

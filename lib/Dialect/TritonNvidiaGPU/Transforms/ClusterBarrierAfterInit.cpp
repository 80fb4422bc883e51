//===-- ClusterBarrierAfterInit.cpp - Blocks wait for others' barriers ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs with explicit barriers do not say when the blocks of a cluster know
// of the barriers of one another. It is the compiler's part, as the fence
// behind the initialisation is.
//
// All blocks of a cluster run the same program. So they may meet anywhere. They
// meet before the first wait or signal that may follow an initialisation: a
// block that waits could wait for one that has not come to this place.
//
//===----------------------------------------------------------------------===//

#include "ClusterSignals.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUCLUSTERBARRIERAFTERINIT
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {
/// Whether a block goes on behind `op` without the others.
bool usesBarriers(Operation *op) {
  return isa<WaitBarrierOp>(op) || signalsOtherBlocks(op);
}

/// Whether other blocks signal, or are signalled. Who waits at a barrier of
/// several blocks waits for them.
bool needsOtherBlocks(Operation *op) {
  auto wait = dyn_cast<WaitBarrierOp>(op);
  return (wait && isOfSeveralBlocks(wait.getAlloc())) || signalsOtherBlocks(op);
}

/// Whether blocks that come to the end of what is in `op` may meet behind it.
bool mayMeetBehind(Operation *op) {
  return isa<RegionBranchOpInterface>(op) &&
         (!isa<LoopLikeOpInterface>(op) || !contains(op, usesBarriers));
}

class Announcement {
public:
  explicit Announcement(unsigned &numBarriers) : numBarriers(numBarriers) {}

  void announce(InitBarrierOp init) {
    Seen seen;
    if (!reachesSignal(init->getNextNode(), seen))
      return;
    seen.clear();
    meetBehind(init->getNextNode(), seen);
  }

private:
  using Seen = llvm::SmallPtrSet<Block *, 8>;

  /// Whether other blocks may get a signal on a way from `op` on, before all
  /// blocks meet.
  static bool reachesSignal(Operation *op, Seen &seen) {
    if (!op)
      return false;
    Block *block = op->getBlock();
    for (; op; op = op->getNextNode()) {
      if (isBarrierOfCluster(op) && !needsFence(op))
        return false;
      if (contains(op, needsOtherBlocks))
        return true;
    }
    for (Block *next : block->getSuccessors())
      if (seen.insert(next).second && reachesSignal(&next->front(), seen))
        return true;
    Operation *parent = block->getParentOp();
    if (block->getNumSuccessors() || isa<FuncOp>(parent))
      return false;
    if (isa<LoopLikeOpInterface>(parent) && seen.insert(block).second &&
        reachesSignal(&block->front(), seen))
      return true;
    return reachesSignal(parent->getNextNode(), seen);
  }

  void meetBehind(Operation *op, Seen &seen) {
    if (!op)
      return;
    Block *block = op->getBlock();
    for (; op; op = op->getNextNode()) {
      if (isa<ClusterBarrierOp, ClusterArriveOp>(op))
        return fence(op);
      if (contains(op, usesBarriers))
        return meet(op);
      if (op->hasTrait<mlir::OpTrait::IsTerminator>())
        break;
    }
    for (Block *next : block->getSuccessors())
      if (seen.insert(next).second)
        meetBehind(&next->front(), seen);
    Operation *parent = block->getParentOp();
    if (block->getNumSuccessors() || isa<FuncOp>(parent))
      return;
    if (mayMeetBehind(parent))
      return meetBehind(parent->getNextNode(), seen);
    meet(block->getTerminator());
  }

  void meet(Operation *before) {
    OpBuilder builder(before);
    Location loc = before->getLoc();
    if (!isFence(before->getPrevNode()))
      FenceMbarrierInitReleaseClusterOp::create(builder, loc);
    ClusterBarrierOp::create(builder, loc);
    ++numBarriers;
  }

  /// Whether a barrier of the program orders no accesses, and no fence does.
  static bool needsFence(Operation *barrier) {
    auto relaxed = barrier->getAttrOfType<BoolAttr>("relaxed");
    return relaxed && relaxed.getValue() && !isFence(barrier->getPrevNode());
  }

  static void fence(Operation *barrier) {
    if (!needsFence(barrier))
      return;
    OpBuilder builder(barrier);
    FenceMbarrierInitReleaseClusterOp::create(builder, barrier->getLoc());
  }

  static bool isFence(Operation *op) {
    return isa_and_nonnull<FenceMbarrierInitReleaseClusterOp>(op);
  }

  unsigned &numBarriers;
};

struct ClusterBarrierAfterInit
    : nvidia_gpu::impl::TritonNvidiaGPUClusterBarrierAfterInitBase<
          ClusterBarrierAfterInit> {
  using Base::Base;

  void runOnOperation() override {
    unsigned count = 0;
    Announcement announcement(count);
    for (auto function : getOperation().getOps<FuncOp>()) {
      if (function.isDeclaration() || gpu::lookupNumCTAs(function) == 1)
        continue;
      SmallVector<InitBarrierOp> inits;
      function.walk([&](InitBarrierOp init) { inits.push_back(init); });
      for (InitBarrierOp init : inits)
        announcement.announce(init);
    }
    numBarriers += count;
  }
};
} // namespace

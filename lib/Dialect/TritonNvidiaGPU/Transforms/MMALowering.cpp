//===-- MMALowering.cpp - Multiplications that run on ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tensor core multiplies into tensor memory beside the threads, and arrives
// at an mbarrier when it is done. Here each multiplication gets a barrier, and
// each place that needs it done a wait.
//
// In a loop, the first such place may come in the next iteration. It may be
// before the multiplication of that one. Then one barrier is enough:
//
//   wait for i - 1; store the sum; multiply i
//
// Or it is behind it. Then two are under way, at two barriers that alternate:
//
//   multiply i; wait for i - 1; copy to the buffers that i - 1 has read
//
// Or nothing in the loop needs it: the loop may read what never changes, or
// rings that other warps fill. Then one wait comes behind the loop.
//
// The phase of a new barrier whose parity is 1 counts as complete. So the first
// iteration does not wait, and neither does who comes from a loop without
// iterations.
//
//===----------------------------------------------------------------------===//

#include "RingPositions.h"

#include "tile/Analysis/Alias.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-mma-lowering"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAMMALOWERING
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

//===----------------------------------------------------------------------===//
// What has to wait for a multiplication
//===----------------------------------------------------------------------===//

using Roots = SharedMemoryAliasAnalysis::Roots;

bool shares(const Roots &a, const Roots &b) {
  return llvm::any_of(a, [&](Value root) { return b.contains(root); });
}

class Conflicts {
public:
  Conflicts(MMAv5OpInterface mma, const SharedMemoryAliasAnalysis &aliases)
      : mma(mma), aliases(aliases),
        sum(aliases.getRoots(mma.getAccumulator())) {
    for (Value factor : mma.getFactors()) {
      const Roots &roots = aliases.getRoots(factor);
      factors.insert(roots.begin(), roots.end());
    }
  }

  /// Whether `op`, or what is in it, has to wait for the multiplication. Copies
  /// to rings of `loop` are left to `findOverwriting`.
  bool needsIt(Operation *op, scf::ForOp loop) const {
    return op
        ->walk([&](Operation *nested) {
          if (loop && nested->getParentOp() == loop && getLag(nested, loop))
            return WalkResult::advance();
          return conflictsWith(nested) ? WalkResult::interrupt()
                                       : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// How many iterations later `op` overwrites what the multiplication of an
  /// iteration reads: a copy to a ring in the body of `loop`.
  std::optional<int64_t> getLag(Operation *op, scf::ForOp loop) const {
    if (isa<ArriveBarrierOp>(op) && op->hasAttr(kAllBlocksAttrName))
      return getLagOfCluster(op, loop);
    auto copy = dyn_cast<gpu::AsyncCopyOpInterface>(op);
    if (!copy || !shares(aliases.getRoots(copy.getCopyTarget()), factors))
      return std::nullopt;
    std::optional<int64_t> least;
    for (Value factor : mma.getFactors()) {
      if (!shares(aliases.getRoots(copy.getCopyTarget()),
                  aliases.getRoots(factor)))
        continue;
      auto lag =
          getIterationsUntilOverwritten(factor, copy.getCopyTarget(), loop);
      if (!lag)
        return std::nullopt;
      // What comes before the multiplication of its own iteration overwrites
      // what the last round has read.
      if (*lag == 0 && op->isBeforeInBlock(mma))
        lag = getRingSize(factor);
      least = std::min(least.value_or(*lag), *lag);
    }
    return least;
  }

private:
  /// A block of a cluster says that it has read its buffers. Then others may
  /// copy to them, as this one does behind it.
  std::optional<int64_t> getLagOfCluster(Operation *op, scf::ForOp loop) const {
    std::optional<int64_t> least;
    for (; op; op = op->getNextNode()) {
      auto copy = dyn_cast<gpu::AsyncCopyOpInterface>(op);
      if (!copy || !shares(aliases.getRoots(copy.getCopyTarget()), factors))
        continue;
      int64_t lag = getLag(op, loop).value_or(0);
      least = std::min(least.value_or(lag), lag);
    }
    return least;
  }

  bool conflictsWith(Operation *op) const {
    if (op == mma.getOperation() || isa<ViewLikeOpInterface>(op))
      return false;
    if (isa<CallOpInterface, gpu::WarpSpecializeOp>(op))
      return true;
    // Others may copy to the buffers of this block, once it has come there.
    if (isa<ClusterBarrierOp, ClusterArriveOp>(op))
      return true;
    // Their source, where there is one, is written when they are executed.
    if (isa<gpu::LocalAllocOp, TMEMAllocOp>(op)) {
      Value result = op->getResult(0);
      return op->getNumOperands() &&
             (factors.contains(result) || sum.contains(result));
    }
    auto other = dyn_cast<MMAv5OpInterface>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<gpu::MemDescType>(operand.get().getType()))
        continue;
      const Roots &roots = aliases.getRoots(operand.get());
      // Multiplications with one sum are done one after the other.
      bool isNextSum =
          other && &operand == &other.getAccumulatorMutable() &&
          operand.get().getType() == mma.getAccumulator().getType();
      if (shares(roots, sum) && !isNextSum)
        return true;
      if (shares(roots, factors) && mayWrite(op, operand))
        return true;
    }
    return false;
  }

  static bool mayWrite(Operation *op, OpOperand &operand) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects)
      return !op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>();
    SmallVector<MemoryEffects::EffectInstance> found;
    effects.getEffectsOnValue(operand.get(), found);
    return llvm::any_of(found, [](const MemoryEffects::EffectInstance &effect) {
      return !isa<MemoryEffects::Read>(effect.getEffect());
    });
  }

  mutable MMAv5OpInterface mma;
  const SharedMemoryAliasAnalysis &aliases;
  Roots sum, factors;
};

//===----------------------------------------------------------------------===//
// Where to wait
//===----------------------------------------------------------------------===//

/// Where a multiplication in the body of a loop is waited for.
struct PlannedWait {
  MMAv5OpInterface mma;
  /// The wait comes before this operation of the body. Null if nothing in the
  /// loop needs it: the wait comes behind the loop.
  Operation *place;
  /// Whether it is for the multiplication of the iteration before.
  bool isNextIteration;
  /// More waits of the same iteration, in branches that not all iterations
  /// take.
  SmallVector<Operation *> occasional = {};
  Value barriers = {};

  /// Whether another one is started before the wait.
  bool alternates() const {
    return isNextIteration && mma->isBeforeInBlock(place);
  }

  bool isBehindLoop() const { return !place; }
};

/// The first operation of each block of a branch that has to wait.
void findFirst(scf::IfOp branch, const Conflicts &conflicts,
               SmallVectorImpl<Operation *> &places) {
  for (Region &region : branch->getRegions())
    for (Operation &op : region.getOps())
      if (conflicts.needsIt(&op, /*loop=*/{})) {
        places.push_back(&op);
        break;
      }
}

PlannedWait planWait(MMAv5OpInterface mma, scf::ForOp loop,
                     const Conflicts &conflicts) {
  Block *body = loop.getBody();
  Operation *terminator = body->getTerminator();
  auto needsIt = [&](Operation *op, int64_t iteration) {
    if (std::optional<int64_t> lag = conflicts.getLag(op, loop))
      return *lag <= iteration;
    return conflicts.needsIt(op, loop);
  };
  // A branch waits by itself: the end of a tile, in a loop over many tiles.
  SmallVector<Operation *> occasional;
  for (Operation *op = mma->getNextNode(); op != terminator;
       op = op->getNextNode()) {
    if (!needsIt(op, 0))
      continue;
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch)
      return {mma, op, /*isNextIteration=*/false, occasional};
    findFirst(branch, conflicts, occasional);
  }
  for (Operation &op : body->without_terminator())
    if (needsIt(&op, 1))
      return {mma, &op, /*isNextIteration=*/true, occasional};
  bool isNeeded = llvm::any_of(body->without_terminator(), [&](Operation &op) {
    return needsIt(&op, std::numeric_limits<int64_t>::max());
  });
  if (!isNeeded)
    return {mma, /*place=*/nullptr, /*isNextIteration=*/false};
  // A barrier tells the parity of two phases, so that no more are under way.
  return {mma, mma->getNextNode(), /*isNextIteration=*/true, occasional};
}

bool isKnownTrue(Value value) { return matchPattern(value, m_One()); }

/// The loop in whose body a multiplication is in each iteration; null if there
/// is none.
scf::ForOp getLoop(MMAv5OpInterface mma) {
  auto loop = dyn_cast<scf::ForOp>(mma->getParentOp());
  return loop && isKnownTrue(mma.getPredicate()) ? loop : scf::ForOp();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

Value makeTrue(OpBuilder &builder, Location loc) {
  return arith::ConstantIntOp::create(builder, loc, 1, 1);
}

Value makeInt(OpBuilder &builder, Location loc, int value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

/// Which barrier of two a multiplication arrives at, and the parity of its
/// phase. Where there is one barrier, its number is 0.
struct Phase {
  Value number, parity;
};

/// The phase of the multiplication before, where two barriers alternate
/// (`number` given) or do not.
Phase getPhaseBefore(OpBuilder &b, Location loc, Phase phase) {
  Value one = makeInt(b, loc, 1);
  if (!phase.number)
    return {Value(), arith::XOrIOp::create(b, loc, phase.parity, one)};
  Value number = arith::XOrIOp::create(b, loc, phase.number, one);
  return {number, arith::XOrIOp::create(b, loc, phase.parity, number)};
}

Phase getPhaseAfter(OpBuilder &b, Location loc, Phase phase) {
  Value one = makeInt(b, loc, 1);
  if (!phase.number)
    return {Value(), arith::XOrIOp::create(b, loc, phase.parity, one)};
  return {arith::XOrIOp::create(b, loc, phase.number, one),
          arith::XOrIOp::create(b, loc, phase.parity, phase.number)};
}

Value getBarrier(OpBuilder &b, Location loc, Value barriers, Phase phase) {
  Value number = phase.number ? phase.number : makeInt(b, loc, 0);
  return gpu::getBuffer(b, loc, barriers, number);
}

/// Two blocks that multiply together wait for each other first. Then the
/// operands of both are there, nobody reads the sum any more, and both have
/// made the barriers that hear of the end.
void waitForOtherBlock(MMAv5OpInterface mma) {
  OpBuilder builder(mma);
  if (mma.usesTwoCTAs())
    ClusterBarrierOp::create(builder, mma.getLoc());
}

void start(MMAv5OpInterface mma, Value barrier) {
  OpBuilder builder(mma);
  mma.setAsync(true);
  mma.addCompletionBarrier(barrier, makeTrue(builder, mma.getLoc()));
}

void wait(OpBuilder &b, Location loc, Value barriers, Phase phase,
          Value predicate = {}) {
  WaitBarrierOp::create(b, loc, getBarrier(b, loc, barriers, phase),
                        phase.parity, predicate, /*deps=*/ValueRange());
}

/// The phases of one loop, as its iteration arguments.
class LoopPhases {
public:
  LoopPhases(scf::ForOp &loop, bool alternates) : alternates(alternates) {
    IRRewriter rewriter(loop);
    SmallVector<Value> inits(alternates ? 2 : 1,
                             makeInt(rewriter, loop.getLoc(), 0));
    first = loop.getNumRegionIterArgs();
    auto noYields = [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
      return SmallVector<Value>(args.begin(), args.end());
    };
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, noYields));
  }

  /// Computes the phases of an iteration, when the loop has all its arguments.
  void begin(scf::ForOp loop) {
    Location loc = loop.getLoc();
    OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
    current = take(loop.getRegionIterArgs());
    before = getPhaseBefore(b, loc, current);
    Phase after = getPhaseAfter(b, loc, current);
    Operation *yield = loop.getBody()->getTerminator();
    yield->setOperand(first, after.parity);
    if (alternates)
      yield->setOperand(first + 1, after.number);
  }

  /// The phase of the last iteration, behind the loop.
  Phase getLast(OpBuilder &b, scf::ForOp loop) const {
    return getPhaseBefore(b, loop.getLoc(), take(loop.getResults()));
  }

  Phase current, before;

private:
  Phase take(ValueRange values) const {
    return {alternates ? values[first + 1] : Value(), values[first]};
  }

  bool alternates;
  unsigned first;
};

/// Waits for all multiplications that were started so far, `last` among them.
/// The end of those of two blocks arrives in both: so both have made their
/// barriers before.
void waitForAll(OpBuilder &builder, MMAv5OpInterface last) {
  const gpu::RingBarriers &mbarriers = getMbarriers();
  Location loc = last.getLoc();
  Value barriers = mbarriers.allocate(builder, loc, /*count=*/1);
  mbarriers.initialize(builder, loc, barriers, /*arrivals=*/1);
  if (last.usesTwoCTAs())
    mbarriers.startSharing(builder, loc);
  mbarriers.arriveAfterProducts(builder, loc,
                                getBarrier(builder, loc, barriers, Phase()));
  wait(builder, loc, barriers, {Value(), makeInt(builder, loc, 0)});
  mbarriers.free(builder, loc, barriers);
}

/// Starts the multiplications of the body of a loop, and waits for them.
void lowerInLoop(scf::ForOp loop, MutableArrayRef<PlannedWait> waits) {
  const gpu::RingBarriers &mbarriers = getMbarriers();
  OpBuilder builder(loop);
  std::optional<LoopPhases> phases[2];
  for (PlannedWait &wait : waits) {
    if (wait.isBehindLoop())
      continue;
    bool alternates = wait.alternates();
    builder.setInsertionPoint(loop);
    wait.barriers =
        mbarriers.allocate(builder, wait.mma.getLoc(), alternates ? 2 : 1);
    mbarriers.initialize(builder, wait.mma.getLoc(), wait.barriers,
                         /*arrivals=*/1);
    if (!phases[alternates])
      phases[alternates].emplace(loop, alternates);
  }
  for (std::optional<LoopPhases> &phase : phases)
    if (phase)
      phase->begin(loop);
  for (PlannedWait &planned : waits) {
    if (planned.isBehindLoop()) {
      planned.mma.setAsync(true);
      continue;
    }
    Location loc = planned.mma.getLoc();
    LoopPhases &phase = *phases[planned.alternates()];
    builder.setInsertionPoint(planned.place);
    wait(builder, loc, planned.barriers,
         planned.isNextIteration ? phase.before : phase.current);
    for (Operation *place : planned.occasional) {
      builder.setInsertionPoint(place);
      wait(builder, loc, planned.barriers, phase.current);
    }
    builder.setInsertionPoint(planned.mma);
    start(planned.mma,
          getBarrier(builder, loc, planned.barriers, phase.current));
  }
  builder.setInsertionPointAfter(loop);
  for (PlannedWait &planned : waits)
    if (planned.isNextIteration)
      wait(builder, planned.mma.getLoc(), planned.barriers,
           phases[planned.alternates()]->getLast(builder, loop));
  for (PlannedWait &planned : waits)
    if (!planned.isBehindLoop())
      mbarriers.free(builder, planned.mma.getLoc(), planned.barriers);
  auto *behind = llvm::find_if(
      waits, [](const PlannedWait &wait) { return wait.isBehindLoop(); });
  if (behind != waits.end())
    waitForAll(builder, behind->mma);
}

/// Starts a multiplication that is in no loop, or not in each iteration, and
/// waits for it in its block.
void lowerInBlock(MMAv5OpInterface mma, const Conflicts &conflicts) {
  Operation *place = mma->getNextNode();
  while (!place->hasTrait<mlir::OpTrait::IsTerminator>() &&
         !conflicts.needsIt(place, /*loop=*/{}))
    place = place->getNextNode();
  const gpu::RingBarriers &mbarriers = getMbarriers();
  Location loc = mma.getLoc();
  OpBuilder builder(mma);
  Value barriers = mbarriers.allocate(builder, loc, /*count=*/1);
  mbarriers.initialize(builder, loc, barriers, /*arrivals=*/1);
  start(mma, getBarrier(builder, loc, barriers, Phase()));
  builder.setInsertionPoint(place);
  bool always = isKnownTrue(mma.getPredicate());
  wait(builder, loc, barriers, {Value(), makeInt(builder, loc, 0)},
       always ? Value() : mma.getPredicate());
  mbarriers.free(builder, loc, barriers);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

class MMALoweringPass
    : public nvidia_gpu::impl::TritonNvidiaMMALoweringBase<MMALoweringPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      lower(function);
  }

private:
  void lower(FunctionOpInterface function) {
    SmallVector<MMAv5OpInterface> products;
    function->walk([&](MMAv5OpInterface mma) {
      if (!mma.isAsync())
        products.push_back(mma);
    });
    if (products.empty())
      return;
    // All is decided before anything changes.
    SharedMemoryAliasAnalysis aliases(function);
    llvm::MapVector<Operation *, SmallVector<PlannedWait>> ofLoop;
    for (MMAv5OpInterface mma : products)
      if (scf::ForOp loop = getLoop(mma))
        ofLoop[loop].push_back(planWait(mma, loop, Conflicts(mma, aliases)));
    for (MMAv5OpInterface mma : products)
      if (!getLoop(mma)) {
        lowerInBlock(mma, Conflicts(mma, aliases));
        ++numWaitedFor;
      }
    for (auto &[loop, waits] : ofLoop) {
      for (PlannedWait &wait : waits) {
        if (wait.isBehindLoop())
          LDBG() << "wait behind the loop for " << wait.mma;
        else
          LDBG() << "wait before " << *wait.place << " of "
                 << (wait.isNextIteration ? "the next" : "the same")
                 << " iteration for " << wait.mma;
        bool runsOn = wait.isNextIteration || wait.isBehindLoop();
        ++(runsOn ? numRunningOn : numWaitedFor);
      }
      lowerInLoop(cast<scf::ForOp>(loop), waits);
    }
    llvm::for_each(products, waitForOtherBlock);
  }
};

} // namespace

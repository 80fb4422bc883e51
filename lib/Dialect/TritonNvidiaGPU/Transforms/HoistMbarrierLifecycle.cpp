//===-- HoistMbarrierLifecycle.cpp - Barriers that outlive an iteration ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A barrier of one iteration begins in phase 0, and each iteration makes it
// anew:
//
//   for { make; announce; copy; wait for phase 0; end }
//
// If it lives on, its phases go on as well. The loop carries their parity:
//
//   make; for (phase = 0) { announce; copy; wait for phase; phase ^= 1 }; end
//
// So it must be known at each wait how many phases have ended. Here the
// arrivals are counted along the control flow, from the place where the barrier
// is made to its end. Each phase must get all its arrivals, and a wait, before
// the next one gets its first.
//
// Whoever makes a barrier for copies puts a fence behind it: what threads did
// to the memory comes before the copies. An iteration keeps this fence.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-gpu-hoist-mbarrier-lifecycle"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUHOISTMBARRIERLIFECYCLE
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

bool isKnownTrue(Value value) { return !value || matchPattern(value, m_One()); }

/// Whether `value` is the same in all iterations, and in all blocks.
bool isOfLaunch(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  return function && function.isPublic();
}

//===----------------------------------------------------------------------===//
// A barrier and what is done to it
//===----------------------------------------------------------------------===//

/// A barrier that a block of operations makes and ends.
struct Lifecycle {
  gpu::LocalAllocOp alloc;
  InitBarrierOp init;
  InvalBarrierOp inval;
  /// Null if nobody frees the memory.
  gpu::LocalDeallocOp dealloc;
  /// The barrier and its views.
  SmallPtrSet<Value, 4> views;
  /// What arrives or waits, and the operations around it.
  SmallPtrSet<Operation *, 8> users, holders;
  /// The outermost loop around all of this.
  Operation *loop = nullptr;
};

/// Whether there is one barrier in the buffer: operations are done to the first
/// place of the last dimension.
bool isSingle(gpu::MemDescType type) {
  return type.getElementType().isInteger(64) &&
         llvm::all_of(type.getShape().drop_back(),
                      [](int64_t size) { return size == 1; });
}

/// Whether it is known what `use` does to the barrier: it arrives, waits, or
/// has bytes counted.
bool isKnown(OpOperand &use) {
  Operation *op = use.getOwner();
  Value barrier = use.get();
  // All blocks of a cluster take part in the others.
  if (op->hasAttr(kAllBlocksAttrName))
    return false;
  if (auto expect = dyn_cast<BarrierExpectOp>(op))
    return !expect.getFromCTA();
  if (auto arrive = dyn_cast<ArriveBarrierOp>(op))
    return !arrive.getFromCTA() && !arrive.getMulticastCTA();
  if (auto wait = dyn_cast<WaitBarrierOp>(op))
    return use.getOperandNumber() == 0 && wait.getAlloc() == barrier;
  if (auto commit = dyn_cast<TCGen5CommitOp>(op))
    return !llvm::is_contained(commit.getDescs(), barrier);
  if (auto product = dyn_cast<MMAv5OpInterface>(op))
    return llvm::is_contained(product.getCompletionBarriers(), barrier);
  if (auto copy = dyn_cast<AsyncTMACopyGlobalToLocalOp>(op))
    return copy.getBarrier() == barrier && copy.getResult() != barrier;
  if (auto gather = dyn_cast<AsyncTMAGatherOp>(op))
    return gather.getBarrier() == barrier && gather.getResult() != barrier;
  return false;
}

/// The outermost of the loops around `op`, with nothing but control flow
/// between.
Operation *findOutermostLoop(Operation *op) {
  Operation *outermost = nullptr;
  for (Operation *parent = op->getParentOp();
       isa<scf::ForOp, scf::WhileOp, scf::IfOp>(parent);
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      outermost = parent;
  return outermost;
}

std::optional<Lifecycle> findLifecycle(gpu::LocalAllocOp alloc) {
  Lifecycle life{alloc};
  life.loop = findOutermostLoop(alloc);
  if (!life.loop || alloc.getSrc() || !isSingle(alloc.getType()))
    return std::nullopt;
  SmallVector<Value> worklist = {alloc.getResult()};
  // Sets `slot` unless something is there.
  auto isFirst = [](auto &slot, auto op) {
    bool free = !slot;
    slot = op;
    return free;
  };
  while (!worklist.empty()) {
    Value view = worklist.pop_back_val();
    life.views.insert(view);
    for (OpOperand &use : view.getUses()) {
      Operation *op = use.getOwner();
      if (isa<gpu::MemDescIndexOp, gpu::MemDescReinterpretOp>(op)) {
        // Another reading of the bytes may have another number of barriers.
        if (isa<gpu::MemDescReinterpretOp>(op) &&
            op->getResult(0).getType() != view.getType())
          return std::nullopt;
        worklist.push_back(op->getResult(0));
        continue;
      }
      if (auto init = dyn_cast<InitBarrierOp>(op)) {
        if (!isFirst(life.init, init))
          return std::nullopt;
        continue;
      }
      if (auto inval = dyn_cast<InvalBarrierOp>(op)) {
        if (!isFirst(life.inval, inval))
          return std::nullopt;
        continue;
      }
      if (auto dealloc = dyn_cast<gpu::LocalDeallocOp>(op)) {
        if (!isFirst(life.dealloc, dealloc))
          return std::nullopt;
        continue;
      }
      if (!isKnown(use))
        return std::nullopt;
      life.users.insert(op);
    }
  }
  Block *block = alloc->getBlock();
  if (!life.init || !life.inval || life.init->getBlock() != block ||
      life.inval->getBlock() != block ||
      !life.init->isBeforeInBlock(life.inval))
    return std::nullopt;
  if (life.dealloc && (life.dealloc->getBlock() != block ||
                       !life.inval->isBeforeInBlock(life.dealloc)))
    return std::nullopt;
  for (Operation *user : life.users) {
    Operation *inBlock = block->findAncestorOpInBlock(*user);
    if (!inBlock || !life.init->isBeforeInBlock(inBlock) ||
        !inBlock->isBeforeInBlock(life.inval))
      return std::nullopt;
    for (Operation *op = user->getParentOp(); op != life.loop->getParentOp();
         op = op->getParentOp())
      life.holders.insert(op);
  }
  return life;
}

/// The value that a new place has for `view`: what makes it is made again
/// there. Null if that takes more than constants.
Value remake(OpBuilder &builder, Value view, Value alloc) {
  if (view == alloc)
    return view;
  Operation *op = view.getDefiningOp();
  IRMapping map;
  for (Value operand : op->getOperands()) {
    Value made;
    if (isa<gpu::MemDescType>(operand.getType()))
      made = remake(builder, operand, alloc);
    else if (matchPattern(operand, m_Constant()))
      made = builder.clone(*operand.getDefiningOp())->getResult(0);
    if (!made)
      return {};
    map.map(operand, made);
  }
  return builder.clone(*op, map)->getResult(0);
}

/// Whether a view depends on nothing but constants.
bool canRemake(Value view, Value alloc) {
  if (view == alloc)
    return true;
  return llvm::all_of(view.getDefiningOp()->getOperands(), [&](Value operand) {
    return isa<gpu::MemDescType>(operand.getType())
               ? canRemake(operand, alloc)
               : matchPattern(operand, m_Constant());
  });
}

//===----------------------------------------------------------------------===//
// Counting phases
//===----------------------------------------------------------------------===//

/// How far a barrier is at some place of the program.
struct State {
  /// Arrivals in the phase that is under way.
  int64_t arrived = 0;
  /// Whether a phase has all its arrivals, and nobody has waited for it.
  bool isComplete = false;
  /// If that is so only where a condition holds: the condition.
  Value condition;

  bool operator==(const State &other) const {
    return arrived == other.arrived && isComplete == other.isComplete &&
           condition == other.condition;
  }
};

class PhaseCounter {
public:
  explicit PhaseCounter(Lifecycle &life)
      : life(life), isShared(getSharedBlockBits(life.alloc.getType()) != 0) {}

  /// Whether the barrier's phases can be told, and it ends as it began.
  bool run() {
    State state;
    return visit(std::next(life.init->getIterator()), life.inval->getIterator(),
                 state) &&
           state == State();
  }

  /// Waits that end a phase only where their predicate holds.
  SmallPtrSet<Operation *, 2> conditional;

private:
  bool visit(Block::iterator begin, Block::iterator end, State &state) {
    return std::all_of(begin, end, [&](Operation &op) {
      if (life.users.contains(&op))
        return step(&op, state);
      return !life.holders.contains(&op) || enter(&op, state);
    });
  }

  bool visit(Region &region, State &state) {
    if (region.empty())
      return true;
    return visit(region.front().begin(), region.front().end(), state);
  }

  /// Branches must agree, and an iteration must leave all as it was.
  bool enter(Operation *op, State &state) {
    State before = state;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      State other = state;
      return visit(branch.getThenRegion(), state) &&
             visit(branch.getElseRegion(), other) && state == other;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visit(loop.getRegion(), state) && state == before;
    auto loop = dyn_cast<scf::WhileOp>(op);
    if (!loop || !visit(loop.getBefore(), state))
      return false;
    State atExit = state;
    bool agrees = visit(loop.getAfter(), state) && state == before;
    state = atExit;
    return agrees;
  }

  bool step(Operation *op, State &state) {
    if (auto wait = dyn_cast<WaitBarrierOp>(op))
      return finish(wait, state);
    if (auto expect = dyn_cast<BarrierExpectOp>(op))
      return arrive(1, expect.getPred(), state);
    if (auto arrival = dyn_cast<ArriveBarrierOp>(op))
      return arrive(arrival.getCount(), arrival.getPred(), state);
    if (auto commit = dyn_cast<TCGen5CommitOp>(op))
      return arrive(1, commit.getPred(), state);
    auto product = dyn_cast<MMAv5OpInterface>(op);
    // Copies have bytes counted, and do not arrive.
    if (!product)
      return true;
    for (auto [barrier, predicate] :
         llvm::zip_equal(product.getCompletionBarriers(),
                         product.getCompletionBarrierPredicates())) {
      if (!life.views.contains(barrier))
        continue;
      if (!isKnownTrue(predicate) || !arrive(1, product.getPredicate(), state))
        return false;
    }
    return true;
  }

  bool arrive(int64_t number, Value predicate, State &state) {
    // Blocks that share a barrier arrive as often each.
    int64_t expected = life.init.getCount();
    if (state.isComplete || (isShared && !isKnownTrue(predicate)))
      return false;
    state.arrived += number;
    if (!isKnownTrue(predicate)) {
      // Parts of a phase under a condition are not told apart.
      if (number != expected)
        return false;
      state.condition = predicate;
    }
    if (state.arrived < expected)
      return true;
    state.isComplete = state.arrived == expected;
    state.arrived = 0;
    return state.isComplete;
  }

  /// A wait for phase 0 after another one would be none at all. Behind the move
  /// it is one for the arrivals before it.
  bool finish(WaitBarrierOp wait, State &state) {
    if (!state.isComplete || !matchPattern(wait.getPhase(), m_Zero()))
      return false;
    // A block that does not wait may be two phases ahead of one that does.
    if (isShared && !isKnownTrue(wait.getPred()) && !isOfLaunch(wait.getPred()))
      return false;
    if (state.condition) {
      if (wait.getPred() != state.condition)
        return false;
      conditional.insert(wait);
    }
    state = State();
    return true;
  }

  Lifecycle &life;
  /// Whether blocks of a cluster have it together.
  bool isShared;
};

//===----------------------------------------------------------------------===//
// Carrying the parity
//===----------------------------------------------------------------------===//

/// Hands the parity of the phase on to the waits, through loops and branches.
class PhaseCarrier {
public:
  PhaseCarrier(const Lifecycle &life, const PhaseCounter &counter, Value one)
      : life(life), counter(counter), one(one), rewriter(one.getContext()) {}

  /// The parity behind `op`, which may be replaced.
  Value carry(Operation *op, Value phase) {
    if (auto wait = dyn_cast<WaitBarrierOp>(op))
      return life.users.contains(op) ? advance(wait, phase) : phase;
    if (!life.holders.contains(op))
      return phase;
    rewriter.setInsertionPoint(op);
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case<scf::ForOp, scf::IfOp, scf::WhileOp>(
            [&](auto control) { return carryInto(control, phase); });
  }

private:
  Value advance(WaitBarrierOp wait, Value phase) {
    Location loc = wait.getLoc();
    wait.getPhaseMutable().assign(phase);
    rewriter.setInsertionPointAfter(wait);
    Value next = arith::XOrIOp::create(rewriter, loc, phase, one);
    if (!counter.conditional.contains(wait))
      return next;
    return arith::SelectOp::create(rewriter, loc, wait.getPred(), next, phase);
  }

  Value carry(Block &block, Value phase) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      phase = carry(&op, phase);
    return phase;
  }

  /// Carries it through a block, to its terminator.
  void carryToEnd(Block &block, Value phase) {
    phase = carry(block, phase);
    Operation *terminator = block.getTerminator();
    terminator->insertOperands(terminator->getNumOperands(), phase);
  }

  SmallVector<Type> withPhase(TypeRange types) const {
    SmallVector<Type> all(types);
    all.push_back(one.getType());
    return all;
  }

  /// Puts `op` in the place of `old`, whose results are the first of its own.
  Value replace(Operation *old, Operation *op) {
    op->setDiscardableAttrs(old->getDiscardableAttrDictionary());
    rewriter.replaceOp(old, op->getResults().drop_back());
    return op->getResults().back();
  }

  Value carryInto(scf::ForOp loop, Value phase) {
    SmallVector<Value> inits(loop.getInitArgs());
    inits.push_back(phase);
    auto made = scf::ForOp::create(
        rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
        loop.getStep(), inits, /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
    made.getRegion().takeBody(loop.getRegion());
    Value carried = made.getRegion().addArgument(one.getType(), loop.getLoc());
    carryToEnd(*made.getBody(), carried);
    return replace(loop, made);
  }

  Value carryInto(scf::IfOp branch, Value phase) {
    auto made = scf::IfOp::create(
        rewriter, branch.getLoc(), withPhase(branch.getResultTypes()),
        branch.getCondition(), /*addThenBlock=*/false, /*addElseBlock=*/false);
    made.getThenRegion().takeBody(branch.getThenRegion());
    if (branch.getElseRegion().empty()) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.createBlock(&made.getElseRegion());
      scf::YieldOp::create(rewriter, branch.getLoc());
    } else {
      made.getElseRegion().takeBody(branch.getElseRegion());
    }
    carryToEnd(*made.thenBlock(), phase);
    carryToEnd(*made.elseBlock(), phase);
    return replace(branch, made);
  }

  Value carryInto(scf::WhileOp loop, Value phase) {
    SmallVector<Value> inits(loop.getInits());
    inits.push_back(phase);
    auto made = scf::WhileOp::create(rewriter, loop.getLoc(),
                                     withPhase(loop.getResultTypes()), inits);
    made.getBefore().takeBody(loop.getBefore());
    made.getAfter().takeBody(loop.getAfter());
    for (Region *region : {&made.getBefore(), &made.getAfter()})
      carryToEnd(region->front(),
                 region->addArgument(one.getType(), loop.getLoc()));
    return replace(loop, made);
  }

  const Lifecycle &life;
  const PhaseCounter &counter;
  Value one;
  IRRewriter rewriter;
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Moves the barrier to before its outermost loop, and its end behind it.
void hoist(Lifecycle &life, const PhaseCounter &counter) {
  OpBuilder builder(life.loop);
  Location loc = life.alloc.getLoc();
  Operation *begin = life.loop->getPrevNode();
  Block *block = life.loop->getBlock();
  bool hasWaits = llvm::any_of(life.users, llvm::IsaPred<WaitBarrierOp>);
  if (hasWaits) {
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    begin = one.getDefiningOp();
    Operation *behind = life.loop->getNextNode();
    PhaseCarrier(life, counter, one).carry(life.loop, zero);
    life.loop = behind->getPrevNode();
  }
  builder.setInsertionPoint(life.loop);
  life.alloc->moveBefore(block, begin ? std::next(begin->getIterator())
                                      : block->begin());
  Value alloc = life.alloc;
  bool hasCopies = llvm::any_of(
      life.users, llvm::IsaPred<AsyncTMACopyGlobalToLocalOp, AsyncTMAGatherOp>);
  if (hasCopies) {
    OpBuilder inLoop(life.init);
    FenceAsyncSharedOp::create(inLoop, loc, /*bCluster=*/false);
  }
  Value barrier = remake(builder, life.init.getAlloc(), alloc);
  life.init.getAllocMutable().assign(barrier);
  life.init->moveBefore(life.loop);
  builder.setInsertionPointAfter(life.loop);
  Value last = remake(builder, life.inval.getAlloc(), alloc);
  life.inval.getAllocMutable().assign(last);
  life.inval->moveBefore(block, builder.getInsertionPoint());
  if (life.dealloc)
    life.dealloc->moveAfter(life.inval);
}

/// What tells other blocks of new barriers has nothing to tell in a loop that
/// makes none.
void hoistFences(ModuleOp module) {
  SmallVector<FenceMbarrierInitReleaseClusterOp> fences;
  module.walk(
      [&](FenceMbarrierInitReleaseClusterOp op) { fences.push_back(op); });
  for (FenceMbarrierInitReleaseClusterOp fence : fences) {
    Operation *loop = findOutermostLoop(fence);
    if (!loop)
      continue;
    bool makesBarriers =
        loop->walk([](InitBarrierOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!makesBarriers)
      fence->moveBefore(loop);
  }
}

struct HoistMbarrierLifecycle
    : nvidia_gpu::impl::TritonNvidiaGPUHoistMbarrierLifecycleBase<
          HoistMbarrierLifecycle> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<gpu::LocalAllocOp> allocs;
    getOperation().walk([&](gpu::LocalAllocOp op) { allocs.push_back(op); });
    bool changed = false;
    for (gpu::LocalAllocOp alloc : allocs) {
      std::optional<Lifecycle> life = findLifecycle(alloc);
      if (!life || !canRemake(life->init.getAlloc(), alloc) ||
          !canRemake(life->inval.getAlloc(), alloc))
        continue;
      PhaseCounter counter(*life);
      if (!counter.run()) {
        LDBG() << "phases are not known: " << alloc;
        continue;
      }
      hoist(*life, counter);
      changed = true;
      ++numHoisted;
    }
    if (changed)
      hoistFences(getOperation());
  }
};

} // namespace

//===-- Membar.cpp - Barriers between accesses to shared memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward dataflow over the control-flow graph. The state is the set of
// accesses since the last barrier, on some path. An operation that conflicts
// with it gets a barrier in front. States only grow, so that a barrier once
// inserted stays needed, and iterating to the fixed point terminates.
//
// An asynchronous dot reads its operands until it is waited for. Until then no
// barrier helps. The pass that made it asynchronous has seen to it that nothing
// overwrites them. After the wait, other warps may not have come so far yet.
// From there on it is a read like any other. A dot of a single warp group is no
// such read, because all its warps compute the dot as one.
//
// Beside shared memory there is memory of another kind: tensor memory. Up to
// four warps have parts of their own there. But what one thread starts for all
// of them accesses all parts: it needs a barrier behind the accesses of
// threads. When it is done, an mbarrier tells, so that nothing is to be said of
// it here.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/Membar.h"

#include "BarrierWaits.h"

#include "tile/Analysis/AsyncWork.h"
#include "tile/Analysis/TokenOrigins.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/Support/DebugLog.h"
#include <set>

#define DEBUG_TYPE "tile-membar"

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

namespace {
/// Stands for the frame of the function, as opposed to one of its arguments.
constexpr int kOwnFrame = -1;

/// A range of the function's frame, or some part of the caller's memory that an
/// argument views. Beside it stands the operation that accessed it, by program
/// order, so that sets are deterministic.
struct Access {
  int root;
  int64_t begin, end;
  int64_t order;
  Operation *op;

  bool operator<(const Access &other) const {
    return std::tie(root, begin, end, order) <
           std::tie(other.root, other.begin, other.end, other.order);
  }
  bool overlaps(const Access &other) const {
    // A caller's buffers live through the call, apart from the callee's frame;
    // but several arguments may view the same one.
    if (root == kOwnFrame && other.root == kOwnFrame)
      return begin < other.end && other.begin < end;
    return root != kOwnFrame && other.root != kOwnFrame;
  }
};

struct State {
  std::set<Access> reads, writes;
  /// Reads of dots that nobody waited for yet, each with how many dots were
  /// started since then. In a loop, one dot may be there several
  /// times, from one iteration and from those before it.
  std::set<std::pair<Access, unsigned>> running;
  /// Counts of dots end here, so that loops come to a fixed point; no wait
  /// leaves more of them under way (PTX, wgmma.wait_group: at most 7).
  static constexpr unsigned kMaxAge = 8;
  /// Whether threads read or wrote other memory than shared memory, and whether
  /// a thread started work on it.
  bool readsOther = false, writesOther = false, startsOther = false;

  bool hasAccesses() const {
    return !reads.empty() || !writes.empty() || readsOther || writesOther;
  }
  unsigned getOther() const {
    return readsOther | writesOther << 1 | startsOther << 2;
  }
  bool merge(const State &other) {
    unsigned otherBefore = getOther();
    readsOther |= other.readsOther;
    writesOther |= other.writesOther;
    startsOther |= other.startsOther;
    size_t before = reads.size() + writes.size();
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
    size_t numRunning = running.size();
    running.insert(other.running.begin(), other.running.end());
    return before != reads.size() + writes.size() ||
           numRunning != running.size() || otherBefore != getOther();
  }
  /// What a barrier orders before everything that follows.
  void clear() {
    reads.clear();
    writes.clear();
    readsOther = writesOther = startsOther = false;
  }
  void startProduct(const std::set<Access> &operands) {
    std::set<std::pair<Access, unsigned>> older;
    for (const auto &[read, age] : running)
      older.insert({read, std::min(age + 1, kMaxAge)});
    running = std::move(older);
    for (const Access &read : operands)
      running.insert({read, 0});
  }
  /// All dots but the last `pendings` ones are done.
  void waitForProducts(unsigned pendings) {
    for (auto it = running.begin(); it != running.end();) {
      if (it->second < pendings) {
        ++it;
        continue;
      }
      reads.insert(it->first);
      it = running.erase(it);
    }
  }
};

/// Whether a wait for its token says that a copy is done.
bool startsCopy(Operation *op) {
  auto copy = dyn_cast<ttg::AsyncCopyOpInterface>(op);
  return copy && !copy.arrivesAtBarrier();
}

/// Whether one thread begins the next phase by `after` while other warps may
/// still be in the wait `before`. These would miss the end of their phase if
/// the next one ended as well.
bool mayMissPhase(Operation *before, Operation *after) {
  auto wait = dyn_cast<ttg::BarrierUserOpInterface>(before);
  auto next = dyn_cast<ttg::BarrierUserOpInterface>(after);
  if (!wait || !next || wait.getBarrierUse() != ttg::BarrierUse::Wait)
    return false;
  bool isOfOneThread = next.getBarrierUse() == ttg::BarrierUse::Announce ||
                       arrivesAfterTensorCores(after);
  return isOfOneThread && ttg::lookupNumWarps(after) > 1;
}

/// What needs a barrier between accesses to the same memory.
class Conflicts {
public:
  explicit Conflicts(Operation *function) : origins(function) {}

  /// `op` is what accesses memory as `after` says.
  bool any(const State &before, const State &after, Operation *op) const {
    return anyOther(before, after, ttg::lookupNumWarps(op)) ||
           any(before.writes, after.reads) ||
           any(before.writes, after.writes) || any(before.reads, after.writes);
  }

private:
  static bool anyOther(const State &before, const State &after, int numWarps) {
    constexpr int kWarpsWithPartsOfTheirOwn = 4;
    if (after.startsOther && (before.readsOther || before.writesOther))
      return true;
    return numWarps > kWarpsWithPartsOfTheirOwn &&
           ((before.writesOther && after.readsOther) ||
            (after.writesOther && (before.readsOther || before.writesOther)));
  }

  bool any(const std::set<Access> &a, const std::set<Access> &b) const {
    for (const Access &x : a)
      for (const Access &y : b)
        if (x.overlaps(y) && !isOrderedByWait(x.op, y.op) &&
            (mayMissPhase(x.op, y.op) ||
             !ttg::isOrderedByBarrierObject(x.op, y.op)))
          return true;
    return false;
  }

  /// A read that takes the token of a copy is ordered against that copy by a
  /// wait, behind which a barrier stands. A copy that is still under way
  /// belongs to another iteration and writes to another part of the buffer.
  /// Tokens of other copies say nothing of it. The token of a wait that counts
  /// may stand for anything. What dots read in place has no token. And only a
  /// wait could order two copies, no barrier.
  bool isOrderedByWait(Operation *before, Operation *after) const {
    if (!startsCopy(before))
      return false;
    if (startsCopy(after) || isa<MatrixProductOpInterface>(after))
      return true;
    auto load = dyn_cast<ttg::LocalLoadOp>(after);
    if (!load || !load.getToken())
      return false;
    const TokenOrigins::Origins &found = origins.get(load.getToken());
    return found.isCounted || found.starts.contains(before);
  }

  TokenOrigins origins;
};

/// What callers must know of a function.
struct Summary {
  /// Accesses before its first barrier, and after its last.
  State atEntry, atExit;
};

bool isBlockBarrier(Operation *op) {
  if (isa<::mlir::gpu::BarrierOp>(op) || isOrderingBlockBarrier(op))
    return true;
  auto barrier = dyn_cast<ttg::BarrierOp>(op);
  return barrier && barrier.hasLocal();
}

/// Whether all warps of the block meet behind `op`, and nothing comes before.
bool endsPartition(Operation *op) {
  return isa<ttg::WarpYieldOp, ttg::WarpReturnOp>(op);
}

class FunctionMembar {
public:
  FunctionMembar(FunctionOpInterface function, const Allocation &allocation,
                 const llvm::DenseMap<Operation *, Summary> &summaries,
                 unsigned &numBarriers)
      : function(function), allocation(allocation), summaries(summaries),
        numBarriers(numBarriers), conflicts(function) {}

  Summary run() {
    int64_t next = 0;
    function->walk<WalkOrder::PreOrder>(
        [&](Operation *op) { orderOf[op] = next++; });
    Summary summary;
    summary.atExit = runRegion(function.getFunctionBody(), State());
    summary.atExit.waitForProducts(0);
    summary.atEntry = entry;
    return summary;
  }

private:
  /// Runs the blocks of a region to the fixed point; returns what is pending at
  /// its exits.
  State runRegion(Region &region, const State &in) {
    State out;
    if (region.empty())
      return in;
    llvm::DenseMap<Block *, State> atBegin;
    llvm::SetVector<Block *> worklist;
    llvm::DenseSet<Block *> visited;
    atBegin[&region.front()] = in;
    worklist.insert(&region.front());
    while (!worklist.empty()) {
      Block *block = worklist.front();
      worklist.erase(worklist.begin());
      visited.insert(block);
      State state = atBegin[block];
      for (Operation &op : llvm::make_early_inc_range(*block))
        visit(&op, state);
      if (block->getNumSuccessors() == 0)
        out.merge(state);
      for (Block *successor : block->getSuccessors())
        if (atBegin[successor].merge(state) || !visited.contains(successor))
          worklist.insert(successor);
    }
    return out;
  }

  /// Structured control flow: regions may follow each other in any order that
  /// the interface allows; iterate until nothing new reaches any of them.
  void visitRegions(RegionBranchOpInterface op, State &state) {
    llvm::DenseMap<Region *, State> atBegin;
    State after;
    SmallVector<Region *> worklist;
    auto reach = [&](ArrayRef<RegionSuccessor> successors, const State &with) {
      for (const RegionSuccessor &successor : successors) {
        Region *region = successor.getSuccessor();
        if (!region) {
          after.merge(with);
          continue;
        }
        bool isNew = !atBegin.count(region);
        if (atBegin[region].merge(with) || isNew)
          worklist.push_back(region);
      }
    };
    SmallVector<RegionSuccessor> successors;
    op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    reach(successors, state);
    while (!worklist.empty()) {
      Region *region = worklist.pop_back_val();
      State end = runRegion(*region, State(atBegin[region]));
      for (Block &block : *region) {
        auto terminator =
            dyn_cast<RegionBranchTerminatorOpInterface>(block.getTerminator());
        if (!terminator)
          continue;
        SmallVector<RegionSuccessor> next;
        op.getSuccessorRegions(terminator, next);
        reach(next, end);
      }
    }
    state = std::move(after);
  }

  void insertBarrier(OpBuilder &builder, Operation *op) {
    ttg::BarrierOp::create(builder, op->getLoc(), ttg::AddrSpace::Local);
    ++numBarriers;
  }

  Access getAccess(const Allocation::Buffer &buffer, Operation *op) {
    return {kOwnFrame, buffer.offset, buffer.offset + buffer.size,
            orderOf.lookup(op), op};
  }

  /// Adds accesses by `op` of all that `memdesc` may view.
  void addViews(std::set<Access> &set, Value memdesc, Operation *op) {
    for (int buffer : allocation.getBuffersOf(memdesc))
      set.insert(getAccess(allocation.getBuffers()[buffer], op));
    for (BlockArgument argument : allocation.getArgumentsOf(memdesc)) {
      if (isInSharedMemory(argument))
        set.insert(
            Access{int(argument.getArgNumber()), 0, 0, orderOf.lookup(op), op});
    }
  }

  static bool isInSharedMemory(Value memdesc) {
    auto type = cast<ttg::MemDescType>(memdesc.getType());
    return isa<ttg::SharedMemorySpaceAttr>(type.getMemorySpace());
  }

  /// Whether an operation makes a buffer in another memory, and gives it a
  /// value for good. That is no effect, as such buffers may be merged.
  static bool makesFilledBuffer(Operation *op) {
    return llvm::any_of(op->getOperandTypes(),
                        llvm::IsaPred<RankedTensorType>) &&
           llvm::any_of(op->getResults(), [](Value result) {
             auto type = dyn_cast<ttg::MemDescType>(result.getType());
             return type && !type.getMutableMemory() &&
                    !isInSharedMemory(result);
           });
  }

  /// What tells a barrier when it is done runs on by itself.
  static void noteOther(Operation *op, bool isRead, State &access) {
    if (isa<ttg::BarrierUserOpInterface>(op))
      access.startsOther = true;
    else if (isRead)
      access.readsOther = true;
    else
      access.writesOther = true;
  }

  void noteEntry(const State &accesses) {
    // Conservative: whatever the function touches may come before its first
    // barrier.
    entry.merge(accesses);
  }

  void visit(Operation *op, State &state) {
    if (isBlockBarrier(op)) {
      state.clear();
      return;
    }
    if (op->hasTrait<ttg::WaitsForCopies>()) {
      // Each thread waits for its own copies; only a barrier tells the other
      // threads.
      Operation *next = op->getNextNode();
      while (isa_and_nonnull<ttg::LocalDeallocOp>(next))
        next = next->getNextNode();
      if (!next || (!isBlockBarrier(next) && !endsPartition(next))) {
        OpBuilder builder(op->getContext());
        builder.setInsertionPointAfter(op);
        insertBarrier(builder, op);
      }
      state.clear();
      return;
    }
    if (auto specialize = dyn_cast<ttg::WarpSpecializeOp>(op)) {
      // The partitions start and end together; each is analysed by itself, and
      // talks to the others through mbarriers. One thread writes down what they
      // capture before all meet.
      State captures;
      if (int own = allocation.getBufferOf(op); own >= 0)
        captures.writes.insert(getAccess(allocation.getBuffers()[own], op));
      if (conflicts.any(state, captures, op)) {
        OpBuilder builder(op);
        insertBarrier(builder, op);
      }
      state.clear();
      runRegion(specialize.getDefaultRegion(), State());
      for (Region &partition : specialize.getPartitionRegions())
        runRegion(partition, State());
      return;
    }
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
      visitRegions(branch, state);
      return;
    }

    if (auto wait = dyn_cast<MatrixProductWaitOpInterface>(op)) {
      state.waitForProducts(wait.getMaxPendings());
      return;
    }

    State access;
    auto add = [&](std::set<Access> &set, const Allocation::Buffer &buffer) {
      set.insert(getAccess(buffer, op));
    };
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      visitCall(call, state);
      return;
    }
    bool isAlloc = isa<ttg::LocalAllocOp>(op);
    int own = allocation.getBufferOf(op);
    if (isAlloc) {
      if (op->getNumOperands() && own >= 0)
        add(access.writes, allocation.getBuffers()[own]);
      own = -1;
    } else if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
      SmallVector<MemoryEffects::EffectInstance> instances;
      effects.getEffects(instances);
      for (MemoryEffects::EffectInstance &effect : instances) {
        Value value = effect.getValue();
        if (!value || !isa<ttg::MemDescType>(value.getType()) ||
            isa<MemoryEffects::Free, MemoryEffects::Allocate>(
                effect.getEffect()))
          continue;
        if (!isInSharedMemory(value)) {
          noteOther(op, isa<MemoryEffects::Read>(effect.getEffect()), access);
          continue;
        }
        addViews(isa<MemoryEffects::Read>(effect.getEffect()) ? access.reads
                                                              : access.writes,
                 value, op);
      }
      access.writesOther |= makesFilledBuffer(op);
    }
    if (own >= 0) {
      // Scratch memory is written, then, after a barrier inside the lowering,
      // read. That barrier orders everything before it.
      add(access.writes, allocation.getBuffers()[own]);
      if (conflicts.any(state, access, op)) {
        OpBuilder builder(op);
        insertBarrier(builder, op);
      }
      noteEntry(access);
      state.clear();
      add(state.reads, allocation.getBuffers()[own]);
      return;
    }
    if (!access.hasAccesses() && !access.startsOther)
      return;
    if (conflicts.any(state, access, op)) {
      LDBG() << "barrier before " << *op;
      OpBuilder builder(op);
      insertBarrier(builder, op);
      state.clear();
    }
    noteEntry(access);
    auto product = dyn_cast<MatrixProductOpInterface>(op);
    if (product && product.isWaitedInOrder()) {
      if (product.finishesForAllWarps())
        access.reads.clear();
      if (product.isAsync()) {
        state.startProduct(access.reads);
        return;
      }
      state.waitForProducts(0);
    }
    state.merge(access);
  }

  void visitCall(CallOpInterface call, State &state) {
    auto it = summaries.find(call.resolveCallable());
    if (it == summaries.end())
      return;
    // A callee without a buffer of its own has no frame.
    int own = allocation.getBufferOf(call);
    int64_t frame = own < 0 ? 0 : allocation.getBuffers()[own].offset;
    auto translate = [&](const State &accesses) {
      State result;
      result.readsOther = accesses.readsOther;
      result.writesOther = accesses.writesOther;
      result.startsOther = accesses.startsOther;
      for (const auto &[from, to] : {std::pair{&accesses.reads, &result.reads},
                                     {&accesses.writes, &result.writes}})
        for (const Access &access : *from)
          if (access.root == kOwnFrame)
            to->insert(Access{kOwnFrame, access.begin + frame,
                              access.end + frame, orderOf.lookup(call), call});
          else
            addViews(*to, call.getArgOperands()[access.root], call);
      return result;
    };
    State atEntry = translate(it->second.atEntry);
    if (conflicts.any(state, atEntry, call)) {
      OpBuilder builder(call);
      insertBarrier(builder, call);
      state.clear();
    }
    noteEntry(atEntry);
    state.merge(translate(it->second.atExit));
  }

  FunctionOpInterface function;
  const Allocation &allocation;
  const llvm::DenseMap<Operation *, Summary> &summaries;
  unsigned &numBarriers;
  Conflicts conflicts;
  llvm::DenseMap<Operation *, int64_t> orderOf;
  State entry;
};
} // namespace

unsigned triton::insertMemoryBarriers(const ModuleAllocation &allocation) {
  unsigned numBarriers = 0;
  llvm::DenseMap<Operation *, Summary> summaries;
  for (auto &[op, frame] : allocation.getFunctions())
    summaries[op] = FunctionMembar(cast<FunctionOpInterface>(op), *frame,
                                   summaries, numBarriers)
                        .run();
  return numBarriers;
}

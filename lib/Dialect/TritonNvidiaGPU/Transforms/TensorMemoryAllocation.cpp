//===-- TensorMemoryAllocation.cpp - Places of buffers in tensor memory ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor memory is 512 columns of 128 lanes. A buffer takes some columns, of
// all lanes or of the lower or upper halves of the 32-lane windows. Buffers get
// the lowest columns that are free while they are live, in program order.
// Partitions of warps run beside each other: buffers of two of them share no
// columns. Those of one partition do.
//
//===----------------------------------------------------------------------===//

#include "ClusterSignals.h"

#include "tile/Analysis/Alias.h"
#include "tile/Analysis/AsyncWork.h"
#include "tile/Analysis/UnderWay.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Analysis/Liveness.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "triton-tensor-memory-allocation"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONTENSORMEMORYALLOCATION
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// Buffers start at columns that suit every instruction.
constexpr unsigned kColumnAlignment = 4;
/// Where the upper half of a 32-lane window begins.
constexpr unsigned kUpperHalf = 16;

/// Places in program order, both ends included.
struct Interval {
  int64_t begin, end;
  bool overlaps(const Interval &other) const {
    return begin <= other.end && other.begin <= end;
  }
};

/// The partition of warps that `op` is in; null if it is in none.
Region *getPartition(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (isa<gpu::WarpSpecializeOp, gpu::WarpSpecializePartitionsOp>(
            region->getParentOp()))
      return region;
  return nullptr;
}

/// Whether two partitions run at the same time.
bool runTogether(Region *a, Region *b) {
  auto getParent = [](Region *partition) -> Operation * {
    if (isa<gpu::WarpSpecializeOp>(partition->getParentOp()))
      return partition->getParentOp();
    return partition->getParentOfType<gpu::WarpSpecializeOp>();
  };
  return a && b && a != b && getParent(a) == getParent(b);
}

struct Buffer {
  TMEMAllocOp alloc;
  TensorMemoryFootprint footprint;
  Interval live;
  Region *partition;
  /// The number of the buffer in program order.
  size_t order;
  unsigned column = 0;
  unsigned row = 0;

  Value getValue() const { return TMEMAllocOp(alloc).getResult(); }
  bool takesAllLanes() const { return footprint.lanes == kTensorMemoryLanes; }
  bool sharesLanes(const Buffer &other) const {
    return takesAllLanes() || other.takesAllLanes() || row == other.row;
  }
  bool isLiveWith(const Buffer &other) const {
    return live.overlaps(other.live) || runTogether(partition, other.partition);
  }
  unsigned endColumn() const { return column + footprint.columns; }
};

/// When the buffers of one function are in use.
class LiveBuffers {
public:
  explicit LiveBuffers(FunctionOpInterface function)
      : function(function), aliases(function), values(function) {
    // The number of an operation, and the last number inside of it.
    number(function);
    function->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (isa<gpu::MemDescType>(operand.getType()))
          for (Value root : aliases.getRoots(operand))
            users[root].push_back(op);
      if (auto wait = dyn_cast<WaitBarrierOp>(op))
        waits.push_back(wait);
      if (arrivesAfterTensorCores(op))
        arrivals.push_back(op);
      hasPartitions |= isa<gpu::WarpSpecializeOp>(op);
      for (Value result : op->getResults())
        addView(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(),
                         [&](Value argument) { addView(argument); });
    });
  }

  const SharedMemoryAliasAnalysis &getAliases() const { return aliases; }

  Interval get(TMEMAllocOp alloc) const {
    SmallVector<Operation *> ops{alloc};
    for (Operation *user : users.lookup(alloc.getResult())) {
      ops.push_back(user);
      // Programs with commits wait for their dots themselves, whether these
      // are said to run on or not.
      auto mma = dyn_cast<MMAv5OpInterface>(user);
      bool runsOn =
          mma ? mma.isAsync() || !arrivals.empty() : isa<TMEMCopyOp>(user);
      if (runsOn && failed(addCompletion(user, ops)))
        return followBlocks(alloc);
    }
    // All uses as seen from the block that contains them all.
    Block *block = getCommonBlock(ops);
    if (!block || (isOfOnePartition(alloc) &&
                   !getPartition(alloc)->isAncestor(block->getParent())))
      return followBlocks(alloc);
    Interval live{INT64_MAX, 0};
    for (Operation *op : ops) {
      Operation *ancestor = block->findAncestorOpInBlock(*op);
      live.begin = std::min(live.begin, numbers.lookup(ancestor).begin);
      live.end = std::max(live.end, numbers.lookup(ancestor).end);
    }
    return live;
  }

private:
  Interval everywhere() const { return numbers.lookup(function); }

  void addView(Value value) {
    if (isa<gpu::MemDescType>(value.getType()))
      for (Value root : aliases.getRoots(value))
        views[root].push_back(value);
  }

  /// Where loops and branches are blocks. The buffer is in use where a view of
  /// it is alive, and where a multiplication or copy that has it may still run.
  /// Of a buffer that several partitions have this says only whether it is in
  /// use in those of one operation alone.
  Interval followBlocks(TMEMAllocOp alloc) const {
    if (hasPartitions && !isOfOnePartition(alloc))
      return followPartitions(alloc);
    Interval live{INT64_MAX, 0};
    auto extendTo = [&](Operation *op) {
      Interval at = numbers.lookup(op);
      live.begin = std::min(live.begin, at.begin);
      live.end = std::max(live.end, at.end);
    };
    for (Value view : views.lookup(alloc.getResult()))
      llvm::for_each(values.resolveLiveness(view), extendTo);
    for (Operation *user : users.lookup(alloc.getResult())) {
      extendTo(user);
      if (!getAsyncWork(user))
        continue;
      bool isWaitedFor = false;
      followUnderWay(user, aliases, {.visit = [&](Operation *op) {
                       extendTo(op);
                       isWaitedFor |= isa<WaitBarrierOp>(op);
                     }});
      if (!isWaitedFor)
        return hasPartitions ? followPartitions(alloc) : everywhere();
    }
    return live;
  }

  /// Whether one group of warps has a buffer to itself, which does one thing
  /// after the other.
  bool isOfOnePartition(TMEMAllocOp alloc) const {
    Region *partition = getPartition(alloc);
    return partition &&
           llvm::all_of(users.lookup(alloc.getResult()), [&](Operation *user) {
             return partition->isAncestor(user->getParentRegion());
           });
  }

  /// All of the operation whose groups of warps have a buffer to themselves. It
  /// is done when they are.
  Interval followPartitions(TMEMAllocOp alloc) const {
    auto groups = alloc->getParentOfType<gpu::WarpSpecializeOp>();
    if (!groups)
      return everywhere();
    bool isInside = true;
    for (Operation *user : users.lookup(alloc.getResult())) {
      isInside &= groups->isProperAncestor(user);
      if (!isInside || !getAsyncWork(user))
        continue;
      bool isWaitedFor = false;
      followUnderWay(user, aliases, {.visit = [&](Operation *op) {
                       isInside &= groups->isProperAncestor(op);
                       isWaitedFor |= isa<WaitBarrierOp>(op);
                     }});
      isInside &= isWaitedFor;
    }
    return isInside ? numbers.lookup(groups) : everywhere();
  }

  int64_t number(Operation *op) {
    int64_t begin = next++;
    for (Region &region : op->getRegions())
      for (Operation &nested : region.getOps())
        number(&nested);
    numbers[op] = Interval{begin, next - 1};
    return begin;
  }

  /// The innermost block around all operations, in which program order holds;
  /// or null where there is control flow between blocks.
  Block *getCommonBlock(ArrayRef<Operation *> ops) const {
    Block *block = ops.front()->getBlock();
    while (block && !llvm::all_of(ops, [&](Operation *op) {
             return block->findAncestorOpInBlock(*op);
           })) {
      Operation *parent = block->getParentOp();
      block = parent == function ? nullptr : parent->getBlock();
    }
    return block;
  }

  /// Adds the waits after which an asynchronous multiplication or copy is known
  /// to be done. That is the last one for its barrier that comes later in its
  /// block. Those before may be for other phases, or for other barriers of a
  /// ring. A pipelined loop waits for what the iteration before has started, so
  /// that those after each loop around it count as well. Fails if there is
  /// none.
  LogicalResult addCompletion(Operation *start,
                              SmallVectorImpl<Operation *> &ops) const {
    bool found = false;
    for (Operation *op = start; op != function; op = op->getParentOp()) {
      if (Operation *wait = findWait(start, op)) {
        // One block of the cluster may wait for others.
        if (isOfSeveralBlocks(cast<WaitBarrierOp>(wait).getAlloc()))
          return failure();
        ops.push_back(wait);
        found = true;
      }
      if (found && !isa<LoopLikeOpInterface>(op->getParentOp()))
        break;
    }
    return success(found);
  }

  /// The barriers that `op` or a commit in it arrives at.
  static SmallVector<Value> getBarriers(Operation *op) {
    if (auto commit = dyn_cast<TCGen5CommitOp>(op))
      return {commit.getBarrier()};
    if (auto mma = dyn_cast<MMAv5OpInterface>(op))
      return llvm::to_vector(mma.getCompletionBarriers());
    auto copy = dyn_cast<TMEMCopyOp>(op);
    return copy && copy.getBarrier() ? SmallVector<Value>{copy.getBarrier()}
                                     : SmallVector<Value>();
  }

  /// The last wait later in the block of `op` for a barrier that `start`, or
  /// what comes later there, arrives at.
  Operation *findWait(Operation *start, Operation *op) const {
    auto isLater = [&](Operation *other) {
      Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*other);
      return ancestor && op->isBeforeInBlock(ancestor);
    };
    SharedMemoryAliasAnalysis::Roots barriers;
    auto addBarrier = [&](Value barrier) {
      const auto &roots = aliases.getRoots(barrier);
      barriers.insert(roots.begin(), roots.end());
    };
    for (Value barrier : getBarriers(start))
      addBarrier(barrier);
    if (barriers.empty())
      for (Operation *arrival : arrivals)
        if (isLater(arrival))
          llvm::for_each(getBarriers(arrival), addBarrier);
    for (WaitBarrierOp wait : llvm::reverse(waits))
      if (isLater(wait) &&
          llvm::any_of(aliases.getRoots(wait.getAlloc()),
                       [&](Value root) { return barriers.contains(root); }))
        return wait;
    return nullptr;
  }

  FunctionOpInterface function;
  SharedMemoryAliasAnalysis aliases;
  mlir::Liveness values;
  DenseMap<Operation *, Interval> numbers;
  DenseMap<Value, SmallVector<Operation *>> users;
  /// The buffer itself, and what shows it or a part of it.
  DenseMap<Value, SmallVector<Value>> views;
  bool hasPartitions = false;
  SmallVector<WaitBarrierOp> waits;
  /// What arrives at barriers behind the work of tensor cores.
  SmallVector<Operation *> arrivals;
  int64_t next = 0;
};

/// Places the buffers of one function, one by one.
class Allocator {
public:
  Allocator(FunctionOpInterface function, const LiveBuffers &liveness) {
    // A left operand of 64 lanes lies in the same lanes as the accumulator.
    function->walk([&](MMAv5OpInterface mma) {
      auto type = cast<gpu::MemDescType>(mma.getLhs().getType());
      if (!isInTensorMemory(type))
        return;
      for (Value lhs : liveness.getAliases().getRoots(mma.getLhs()))
        for (Value acc : liveness.getAliases().getRoots(mma.getAccumulator()))
          sameRow.unionSets(lhs, acc);
    });
  }

  LogicalResult place(Buffer buffer) {
    std::optional<unsigned> best;
    for (unsigned row : getRows(buffer)) {
      buffer.row = row;
      unsigned column = findColumn(buffer);
      if (!best || column < buffer.column) {
        best = row;
        buffer.column = column;
      }
    }
    buffer.row = *best;
    if (buffer.endColumn() > kTensorMemoryColumns) {
      InFlightDiagnostic diag =
          buffer.alloc.emitOpError()
          << "takes " << buffer.footprint.columns
          << " columns of tensor memory, and there are "
          << "no more free than "
          << kTensorMemoryColumns -
                 std::min(buffer.column, kTensorMemoryColumns)
          << " in a row";
      for (const Buffer &other : placed)
        if (other.isLiveWith(buffer))
          diag.attachNote(other.getValue().getLoc())
              << "this buffer, in use at the same time, takes "
              << other.footprint.columns;
      return failure();
    }
    LDBG() << buffer.alloc << " at column " << buffer.column << ", row "
           << buffer.row << ", live " << buffer.live.begin << " to "
           << buffer.live.end;
    if (!buffer.takesAllLanes() && isTied(buffer))
      rowOf[sameRow.getLeaderValue(buffer.getValue())] = buffer.row;
    placed.push_back(buffer);
    return success();
  }

  ArrayRef<Buffer> getPlaced() const { return placed; }

private:
  bool isTied(const Buffer &buffer) const {
    return sameRow.findLeader(buffer.getValue()) != sameRow.member_end();
  }

  SmallVector<unsigned> getRows(const Buffer &buffer) const {
    if (buffer.takesAllLanes())
      return {0};
    if (isTied(buffer)) {
      auto it = rowOf.find(sameRow.getLeaderValue(buffer.getValue()));
      if (it != rowOf.end())
        return {it->second};
    }
    return {0, kUpperHalf};
  }

  /// The lowest columns that no buffer uses at the same time.
  unsigned findColumn(Buffer buffer) const {
    buffer.column = 0;
    bool moved = true;
    while (moved) {
      moved = false;
      for (const Buffer &other : placed) {
        if (!other.isLiveWith(buffer) || !other.sharesLanes(buffer) ||
            other.endColumn() <= buffer.column ||
            buffer.endColumn() <= other.column)
          continue;
        buffer.column = llvm::alignTo(other.endColumn(), kColumnAlignment);
        moved = true;
      }
    }
    return buffer.column;
  }

  llvm::EquivalenceClasses<Value> sameRow;
  DenseMap<Value, unsigned> rowOf;
  SmallVector<Buffer> placed;
};

class TensorMemoryAllocationPass
    : public nvidia_gpu::impl::TritonTensorMemoryAllocationBase<
          TensorMemoryAllocationPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    unsigned size = 0;
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      FailureOr<unsigned> columns = allocate(function);
      if (failed(columns))
        return signalPassFailure();
      size = std::max(size, *columns);
    }
    numColumns += size;
    // What an allocation takes.
    constexpr unsigned kLeastColumns = 32;
    if (size)
      size = std::max<unsigned>(kLeastColumns, llvm::PowerOf2Ceil(size));
    Builder builder(&getContext());
    getOperation()->setAttr(gpu::kTensorMemorySizeAttrName,
                            builder.getI32IntegerAttr(size));
  }

private:
  /// Places the buffers of a function; returns the number of columns.
  FailureOr<unsigned> allocate(FunctionOpInterface function) {
    SmallVector<TMEMAllocOp> allocs;
    function->walk([&](TMEMAllocOp alloc) { allocs.push_back(alloc); });
    if (allocs.empty())
      return 0;
    // A function that is called would have to know what its callers use.
    if (function.getVisibility() == SymbolTable::Visibility::Private)
      return allocs.front().emitOpError(
          "expected in a kernel, not in a function that is called: have the "
          "function inlined, or pass the buffer");

    LiveBuffers liveness(function);
    SmallVector<Buffer> buffers;
    for (TMEMAllocOp alloc : allocs) {
      FailureOr<TensorMemoryFootprint> footprint = getTensorMemoryFootprint(
          alloc.getResult().getType(), [&] { return alloc.emitOpError(); });
      if (failed(footprint))
        return failure();
      buffers.push_back(Buffer{alloc, *footprint, liveness.get(alloc),
                               getPartition(alloc), buffers.size()});
    }
    // Walking is program order; a buffer that a loop hands on begins before.
    llvm::sort(buffers, [](const Buffer &a, const Buffer &b) {
      return std::tie(a.live.begin, a.order) < std::tie(b.live.begin, b.order);
    });

    Allocator allocator(function, liveness);
    for (const Buffer &buffer : buffers)
      if (failed(allocator.place(buffer)))
        return failure();

    unsigned columns = 0;
    Builder builder(&getContext());
    for (const Buffer &buffer : allocator.getPlaced()) {
      TMEMAllocOp alloc = buffer.alloc;
      alloc->setAttr(kTensorMemoryColumnAttrName,
                     builder.getI32IntegerAttr(buffer.column));
      alloc->setAttr(kTensorMemoryRowAttrName,
                     builder.getI32IntegerAttr(buffer.row));
      columns = std::max(columns, buffer.endColumn());
      ++numBuffers;
    }
    return columns;
  }
};

} // namespace

//===-- FenceInsertion.cpp - Fences before the async proxy ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/Alias.h"
#include "tile/Analysis/AsyncWork.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-gpu-fence-insertion"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUFENCEINSERTION
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

using Roots = SharedMemoryAliasAnalysis::Roots;

/// The buffers that `op` reads or writes through the async proxy.
SmallVector<Value> getAsyncProxyAccesses(Operation *op) {
  SmallVector<Value> accesses;
  auto add = [&](Value value) {
    auto type = dyn_cast<gpu::MemDescType>(value.getType());
    if (type && isInSharedMemory(type))
      accesses.push_back(value);
  };
  if (auto product = dyn_cast<MatrixProductOpInterface>(op)) {
    llvm::for_each(product.getFactors(), add);
  } else if (auto copy = dyn_cast<TMEMCopyOp>(op)) {
    add(copy.getSrc());
  } else if (getAsyncWork(op) == AsyncWork::Store) {
    llvm::for_each(getBuffersOfAsyncWork(op), add);
  } else if (auto load = dyn_cast<AsyncTMACopyGlobalToLocalOp>(op)) {
    add(load.getResult());
  } else if (auto gather = dyn_cast<AsyncTMAGatherOp>(op)) {
    add(gather.getResult());
  }
  return accesses;
}

/// Whether other blocks of the cluster read these buffers too.
bool readsFromCluster(Operation *op) {
  auto mma = dyn_cast<MMAv5OpInterface>(op);
  return mma && mma.usesTwoCTAs();
}

/// The region that a partition (or the default part) of a warp_specialize is,
/// or null outside of one.
Region *getPartition(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (isa_and_nonnull<gpu::WarpSpecializeOp, gpu::WarpSpecializePartitionsOp>(
            region->getParentOp()))
      return region;
  return nullptr;
}

/// The writes of threads to shared memory in one function.
class ThreadWrites {
public:
  ThreadWrites(FunctionOpInterface function, bool afterAsyncCopies)
      : aliases(function) {
    function->walk([&](Operation *op) {
      Value buffer;
      if (auto alloc = dyn_cast<gpu::LocalAllocOp>(op))
        buffer = alloc.getSrc() ? alloc.getResult() : Value();
      else if (auto store = dyn_cast<gpu::LocalStoreOp>(op))
        buffer = store.getDst();
      else if (auto copy = dyn_cast<gpu::AsyncCopyGlobalToLocalOp>(op))
        buffer = afterAsyncCopies ? copy.getResult() : Value();
      if (!buffer)
        return;
      for (Value root : aliases.getRoots(buffer)) {
        writers[root].push_back(op);
        if (isa<gpu::AsyncCopyGlobalToLocalOp>(op))
          copied.insert(root);
      }
      writtenBy[op] = aliases.getRoots(buffer);
    });
  }

  Roots getRoots(ArrayRef<Value> buffers) const {
    Roots roots;
    for (Value buffer : buffers)
      for (Value root : aliases.getRoots(buffer))
        roots.insert(root);
    return roots;
  }

  /// Whether something that cannot be seen may have written one of the buffers.
  bool hasUnknownWriters(ArrayRef<Value> buffers) const {
    return llvm::any_of(buffers, [&](Value buffer) {
      const Roots &roots = aliases.getRoots(buffer);
      return roots.empty() || llvm::any_of(roots, [](Value root) {
               return !root.getDefiningOp<gpu::LocalAllocOp>();
             });
    });
  }

  /// The writes to any of the roots, in no particular order.
  SmallVector<Operation *> getWriters(const Roots &roots) const {
    SmallVector<Operation *> result;
    for (Value root : roots)
      llvm::append_range(result, writers.lookup(root));
    return result;
  }

  /// Whether `op`, or an operation in it, writes one of the roots. What a copy
  /// writes is there, for a fence to see, when it was waited for.
  bool writesIn(Operation *op, const Roots &roots) const {
    bool anyCopied =
        llvm::any_of(roots, [&](Value root) { return copied.contains(root); });
    return op
        ->walk([&](Operation *nested) {
          if (anyCopied && isa<gpu::AsyncWaitOp>(nested))
            return WalkResult::interrupt();
          auto it = writtenBy.find(nested);
          bool writes = it != writtenBy.end() &&
                        llvm::any_of(it->second, [&](Value root) {
                          return roots.contains(root);
                        });
          return writes ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

private:
  SharedMemoryAliasAnalysis aliases;
  DenseMap<Value, SmallVector<Operation *>> writers;
  DenseMap<Operation *, Roots> writtenBy;
  /// Roots that asynchronous copies write.
  DenseSet<Value> copied;
};

class FenceInsertionPass
    : public nvidia_gpu::impl::TritonNvidiaGPUFenceInsertionBase<
          FenceInsertionPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      SmallVector<Operation *> users;
      function->walk([&](Operation *op) {
        if (!getAsyncProxyAccesses(op).empty())
          users.push_back(op);
      });
      if (users.empty())
        continue;
      ThreadWrites writes(function, afterAsyncCopies);
      for (Operation *user : users)
        fence(user, writes);
    }
  }

private:
  void fence(Operation *user, const ThreadWrites &writes) {
    SmallVector<Value> buffers = getAsyncProxyAccesses(user);
    Roots roots = writes.getRoots(buffers);
    SmallVector<Operation *> writers = writes.getWriters(roots);
    bool isUnknown = writes.hasUnknownWriters(buffers);
    if (writers.empty() && !isUnknown)
      return;
    bool cluster = readsFromCluster(user);

    // The fence belongs to the threads that wrote.
    Region *partition = getPartition(user);
    bool fenceHere = isUnknown;
    for (Operation *writer : writers) {
      if (getPartition(writer) == partition)
        fenceHere = true;
      // Who waits for an asynchronous copy fences when it is there.
      else if (isa<gpu::AsyncCopyGlobalToLocalOp>(writer))
        continue;
      else if (!isFencedAfter(writer, cluster))
        create(OpBuilder(writer->getBlock(), std::next(writer->getIterator())),
               writer->getLoc(), cluster);
    }
    if (!fenceHere)
      return;

    Operation *before =
        isUnknown ? user : hoist(user, roots, writes, partition);
    // The other block fences what it wrote before the cluster barrier.
    if (cluster && before == user &&
        isa_and_nonnull<ClusterBarrierOp>(user->getPrevNode()))
      before = user->getPrevNode();
    if (isFencedBefore(before, roots, cluster, writes))
      return;
    LDBG() << "fence before " << *before;
    create(OpBuilder(before), user->getLoc(), cluster);
  }

  /// The outermost loop around the user in which nothing writes the roots, or
  /// the user itself.
  static Operation *hoist(Operation *user, const Roots &roots,
                          const ThreadWrites &writes, Region *partition) {
    Operation *before = user;
    for (Operation *parent = user->getParentOp();
         parent && !isa<FunctionOpInterface>(parent);
         parent = parent->getParentOp()) {
      if (partition && !partition->isAncestor(parent->getParentRegion()))
        break;
      if (!isa<LoopLikeOpInterface>(parent))
        continue;
      if (writes.writesIn(parent, roots))
        break;
      before = parent;
    }
    return before;
  }

  static bool isFence(Operation *op, bool cluster) {
    auto fence = dyn_cast_or_null<FenceAsyncSharedOp>(op);
    return fence && (!cluster || fence.getBCluster());
  }

  static bool isFencedAfter(Operation *writer, bool cluster) {
    return isFence(writer->getNextNode(), cluster);
  }

  /// Whether a fence in the same block comes after all writes of this block,
  /// and all waits for copies; those that were started since write later.
  static bool isFencedBefore(Operation *op, const Roots &roots, bool cluster,
                             const ThreadWrites &writes) {
    for (Operation *previous = op->getPrevNode(); previous;
         previous = previous->getPrevNode()) {
      if (isFence(previous, cluster))
        return true;
      if (!isa<gpu::AsyncCopyGlobalToLocalOp>(previous) &&
          writes.writesIn(previous, roots))
        return false;
    }
    return false;
  }

  void create(OpBuilder builder, Location loc, bool cluster) {
    FenceAsyncSharedOp::create(builder, loc, cluster);
    ++numFences;
  }
};

} // namespace

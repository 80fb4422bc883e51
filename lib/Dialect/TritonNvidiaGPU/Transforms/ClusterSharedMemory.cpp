//===-- ClusterSharedMemory.cpp - Buffers that other blocks access --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block does not know when other blocks access its buffers. The program says
// the order with barriers of the cluster, but not at the two ends. A block must
// have begun. It must not end, or use the memory for something else.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/Alias.h"
#include "tile/Dialect/TritonGPU/IR/IndexedOps.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUCLUSTERSHAREDMEMORY
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// The buffer that `op` accesses in other blocks; null if it stays in its own.
Value getRemoteBuffer(Operation *op) {
  auto ofTensor = [](Value tensor, Value buffer) {
    return gpu::staysInBlock(cast<RankedTensorType>(tensor.getType()),
                             cast<gpu::MemDescType>(buffer.getType()))
               ? Value()
               : buffer;
  };
  auto byIndex = [](Value buffer) {
    return gpu::isInEachBlock(cast<gpu::MemDescType>(buffer.getType()))
               ? Value()
               : buffer;
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](gpu::LocalLoadOp load) -> Value {
        // Other memory has no such layouts.
        return isInSharedMemory(load.getSrc().getType())
                   ? ofTensor(load, load.getSrc())
                   : Value();
      })
      .Case([&](gpu::LocalStoreOp store) {
        return ofTensor(store.getSrc(), store.getDst());
      })
      .Case([&](gpu::LocalAllocOp alloc) {
        return alloc.getSrc() ? ofTensor(alloc.getSrc(), alloc) : Value();
      })
      .Case([&](AsyncSharedStoreOp store) {
        return ofTensor(store.getValue(), store.getDst());
      })
      .Case([&](gpu::LocalGatherOp gather) { return byIndex(gather.getSrc()); })
      .Case<gpu::LocalScatterOp, gpu::LocalAtomicScatterRMWOp>(
          [&](auto scatter) { return byIndex(scatter.getDst()); })
      .Default([](Operation *) { return Value(); });
}

bool isBarrierOfCluster(Operation &op) {
  return isa<ClusterBarrierOp, ClusterWaitOp>(op);
}

/// Whether other blocks are accessed in `op`, or in something in it. What
/// arrives at a barrier is not meant: the other block waits there.
bool accessesOtherBlocks(Operation &op) {
  return op
      .walk([](Operation *inner) {
        return !isa<AsyncSharedStoreOp>(inner) && getRemoteBuffer(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

class Kernel {
public:
  explicit Kernel(FuncOp function) : function(function) {}

  LogicalResult run() {
    SmallVector<Operation *> accesses;
    function.walk([&](Operation *op) {
      if (getRemoteBuffer(op))
        accesses.push_back(op);
    });
    if (failed(keepFromBegin()))
      return failure();
    if (accesses.empty())
      return success();
    if (!function.isPublic())
      return accesses.front()->emitError(
          "buffers of other blocks of the cluster are accessed in a function "
          "that is not inlined; expected this in a kernel");
    if (failed(keepBuffers(accesses)))
      return failure();
    waitForBegin();
    waitForEnd();
    return success();
  }

  unsigned numBarriers = 0;

private:
  /// Another block may start a copy to this one before this one comes to it. So
  /// nothing else may use that memory earlier. Each block waits for what comes
  /// to it, and may use the memory for something else afterwards.
  LogicalResult keepFromBegin() {
    SharedMemoryAliasAnalysis aliases(function);
    llvm::SmallSetVector<Value, 4> roots;
    function.walk([&](AsyncTMACopyGlobalToLocalOp copy) {
      if (copy.getMulticast() && getSharedBlockBits(copy.getResult().getType()))
        roots.insert_range(aliases.getRoots(copy.getResult()));
    });
    Block &entry = function.getBody().front();
    for (Value root : llvm::reverse(roots)) {
      auto alloc = root.getDefiningOp<gpu::LocalAllocOp>();
      if (!alloc)
        continue;
      if (failed(checkIsInKernel(alloc)))
        return failure();
      if (alloc.getSrc() || alloc->getBlock() != &entry)
        keep(alloc);
      else
        alloc->moveBefore(&entry, entry.begin());
    }
    return success();
  }

  LogicalResult checkIsInKernel(gpu::LocalAllocOp alloc) {
    if (alloc->getParentWithTrait<mlir::OpTrait::IsIsolatedFromAbove>() ==
        function.getOperation())
      return success();
    return alloc.emitError("other blocks of the cluster access this buffer; "
                           "expected it to be made in the kernel, outside of "
                           "partitions");
  }

  /// Gives the buffers memory of their own from the beginning of the kernel to
  /// its end.
  LogicalResult keepBuffers(ArrayRef<Operation *> accesses) {
    SharedMemoryAliasAnalysis aliases(function);
    llvm::SmallSetVector<Value, 4> roots;
    for (Operation *op : accesses)
      roots.insert_range(aliases.getRoots(getRemoteBuffer(op)));
    for (Value root : roots) {
      auto alloc = root.getDefiningOp<gpu::LocalAllocOp>();
      if (!alloc)
        return emitError(root.getLoc(),
                         "other blocks of the cluster access this buffer; "
                         "expected it to be made in the kernel, outside of "
                         "partitions");
      if (failed(checkIsInKernel(alloc)))
        return failure();
      keep(alloc);
    }
    return success();
  }

  void keep(gpu::LocalAllocOp alloc) {
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<gpu::LocalDeallocOp>(user))
        user->erase();
    OpBuilder builder(alloc->getContext());
    if (Value value = alloc.getSrc()) {
      builder.setInsertionPointAfter(alloc);
      gpu::LocalStoreOp::create(builder, alloc.getLoc(), value, alloc);
      alloc.getSrcMutable().clear();
    }
    alloc->moveBefore(&function.getBody().front(),
                      function.getBody().front().begin());
    forEachReturn([&](ReturnOp end) {
      builder.setInsertionPoint(end);
      gpu::LocalDeallocOp::create(builder, end.getLoc(), alloc);
    });
  }

  /// Before the first access, unless the program has a barrier there. All ways
  /// through the function begin in the entry block: if that has no access, the
  /// barrier comes before its branch.
  void waitForBegin() {
    for (Operation &op : function.getBody().front()) {
      if (isBarrierOfCluster(op))
        return;
      if (accessesOtherBlocks(op) || op.hasTrait<mlir::OpTrait::IsTerminator>())
        return insertBarrier(&op);
    }
  }

  /// Behind the last access, unless the program has a barrier there. Where a
  /// function returns early, the accesses lie in another block: others may
  /// still access the memory of this thread block, so it waits, too.
  void waitForEnd() {
    forEachReturn([&](ReturnOp end) {
      Operation *last = end;
      for (Operation &op : llvm::reverse(*end->getBlock())) {
        if (isBarrierOfCluster(op))
          return;
        if (accessesOtherBlocks(op))
          break;
        if (isa<gpu::LocalDeallocOp>(op))
          last = &op;
      }
      insertBarrier(last);
    });
  }

  void insertBarrier(Operation *before) {
    OpBuilder builder(before);
    ClusterBarrierOp::create(builder, before->getLoc());
    ++numBarriers;
  }

  void forEachReturn(function_ref<void(ReturnOp)> visit) {
    for (Block &block : function.getBody())
      if (auto end = dyn_cast<ReturnOp>(block.getTerminator()))
        visit(end);
  }

  FuncOp function;
};

struct ClusterSharedMemory
    : nvidia_gpu::impl::TritonNvidiaGPUClusterSharedMemoryBase<
          ClusterSharedMemory> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FuncOp>()) {
      if (function.isDeclaration() || gpu::lookupNumCTAs(function) == 1)
        continue;
      Kernel kernel(function);
      if (failed(kernel.run()))
        return signalPassFailure();
      numBarriers += kernel.numBarriers;
    }
  }
};
} // namespace

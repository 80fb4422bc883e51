//===-- ClusterBarrierAtEnd.cpp - Blocks that others signal stay ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block may arrive at a barrier of another block that waits for it no more:
// the last time that a ring of buffers is free again, nobody fills it. The
// other block must be there still, and have nothing else in that memory.
//
//===----------------------------------------------------------------------===//

#include "ClusterSignals.h"

#include "tile/Analysis/Alias.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/IR/Dominance.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUCLUSTERBARRIERATEND
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {
class Kernel {
public:
  explicit Kernel(FuncOp function) : function(function) {
    for (Block &block : function.getBody())
      if (auto end = dyn_cast<ReturnOp>(block.getTerminator()))
        ends.push_back(end);
  }

  /// Returns how many barriers were inserted.
  unsigned run() {
    SmallVector<Value> barriers;
    function.walk([&](Operation *op) {
      llvm::append_range(barriers, getSignalsOnly(op));
    });
    if (barriers.empty())
      return 0;
    unsigned count = 0;
    if (!giveTensorMemoryBackTogether())
      for (ReturnOp end : ends)
        count += meetBefore(end);
    keep(barriers);
    return count;
  }

private:
  /// Pairs of blocks meet before they give tensor memory back.
  bool giveTensorMemoryBackTogether() {
    return usesBlockPairs(function->getParentOfType<ModuleOp>()) &&
           contains(function, llvm::IsaPred<TMEMAllocOp>);
  }

  static bool meetBefore(ReturnOp end) {
    for (Operation &op : llvm::reverse(*end->getBlock())) {
      if (isBarrierOfCluster(&op))
        return false;
      if (contains(&op, [](Operation *inner) {
            return !getSignalsOnly(inner).empty();
          }))
        break;
    }
    OpBuilder builder(end);
    ClusterBarrierOp::create(builder, end.getLoc());
    return true;
  }

  /// Has nothing else in the memory of the barriers from their end on.
  void keep(ArrayRef<Value> barriers) {
    SharedMemoryAliasAnalysis aliases(function);
    llvm::SmallSetVector<Value, 4> roots;
    for (Value barrier : barriers)
      roots.insert_range(aliases.getRoots(barrier));
    DominanceInfo dominance(function);
    for (Value root : roots) {
      auto alloc = root.getDefiningOp<gpu::LocalAllocOp>();
      if (!alloc || alloc->getParentOp() != function.getOperation())
        continue;
      for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
        if (isa<gpu::LocalDeallocOp>(user))
          user->erase();
      for (ReturnOp end : ends)
        if (dominance.dominates(alloc.getOperation(), end)) {
          OpBuilder builder(end);
          gpu::LocalDeallocOp::create(builder, alloc.getLoc(), alloc);
        }
    }
  }

  FuncOp function;
  SmallVector<ReturnOp, 2> ends;
};

struct ClusterBarrierAtEnd
    : nvidia_gpu::impl::TritonNvidiaGPUClusterBarrierAtEndBase<
          ClusterBarrierAtEnd> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FuncOp>())
      if (function.isPublic() && !function.isDeclaration() &&
          gpu::lookupNumCTAs(function) > 1)
        numBarriers += Kernel(function).run();
  }
};
} // namespace

//===-- InsertReplicaBarriers.cpp - Barriers after replicated loads -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"

#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetOperations.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "insert-replica-barriers"

namespace mlir::triton {
#define GEN_PASS_DEF_INSERTREPLICABARRIERS
#include "tile/Conversion/TritonGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

/// True if several threads load the same elements, each for itself. The lanes
/// of a warp need not come to an instruction together.
static bool isReplicated(LoadOp load) {
  if (isFreshRead(load)) // One thread reads, and the others wait for it.
    return false;
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type)
    return true;
  LinearLayout layout = ttg::toLinearLayout(type);
  return layout.getFreeVariableMask(kWarp) != 0 ||
         layout.getFreeVariableMask(kLane) != 0;
}

namespace {
/// Where replicated loads since the last barrier, on some path, read from. Null
/// stands for somewhere.
using Addresses = llvm::SmallPtrSet<Value, 4>;

struct InsertReplicaBarriers
    : triton::impl::InsertReplicaBarriersBase<InsertReplicaBarriers> {
  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      // What callers have read they order before the call.
      Addresses pending;
      visit(function.getFunctionBody(), pending);
    });
  }

private:
  void visit(Region &region, Addresses &pending) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block))
        visit(&op, pending);
  }

  void visit(Operation *op, Addresses &pending) {
    // Groups of warps start and end together.
    if (auto specialize = dyn_cast<ttg::WarpSpecializeOp>(op)) {
      pending.clear();
      visit(specialize.getDefaultRegion(), pending);
      for (Region &partition : specialize.getPartitionRegions()) {
        pending.clear();
        visit(partition, pending);
      }
      return pending.clear();
    }
    if (isa<ttg::BarrierOp>(op))
      return pending.clear();
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (isReplicated(load))
        pending.insert(load.getPtr());
      return;
    }
    if (isa<RegionBranchOpInterface>(op)) {
      // Each region may run or not; a loop runs again with what it left, and
      // then finds the barriers that it needed the first time.
      Addresses after = pending;
      bool isLoop = isa<LoopLikeOpInterface>(op);
      for (int turn = 0; turn < (isLoop ? 2 : 1); ++turn) {
        Addresses before = isLoop ? after : pending;
        for (Region &region : op->getRegions()) {
          Addresses inside = before;
          visit(region, inside);
          llvm::set_union(after, inside);
        }
      }
      pending = std::move(after);
      return;
    }
    if (mayOverwrite(op, pending)) {
      LDBG() << "barrier before " << *op;
      OpBuilder builder(op);
      ttg::BarrierOp::create(builder, op->getLoc(), ttg::AddrSpace::GlobalRead);
      ++numBarriers;
      pending.clear();
    }
    // What a function reads last, its callers do not know.
    if (isa<CallOpInterface>(op))
      pending.insert(Value());
  }

  /// True if `op` may write to where a pending load reads from. Different
  /// arguments of a kernel are taken not to overlap, unless the compile is one
  /// for those that do.
  static bool mayOverwrite(Operation *op, const Addresses &pending) {
    if (pending.empty())
      return false;
    if (isa<CallOpInterface>(op))
      return true;
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface)
      return false;
    MemoryModel memory(op, MemoryModel::Arguments::AssumedDisjoint);
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    return llvm::any_of(effects, [&](const MemoryEffects::EffectInstance &e) {
      Value written = e.getValue();
      return isa<MemoryEffects::Write>(e.getEffect()) && written &&
             isPointer(written.getType()) &&
             llvm::any_of(pending, [&](Value read) {
               return !read || memory.mayAlias(read, written);
             });
    });
  }

  static bool isPointer(Type type) {
    return isa<PointerType>(getElementTypeOrSelf(type));
  }
};
} // namespace

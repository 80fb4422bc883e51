//===-- TMEMBarrierInsertion.cpp - Barriers for tensor memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores are done when the next operation begins, but for their own
// warp alone. Another warp may touch the same columns then. The one thread that
// starts a dot or a copy does so for all lanes. Of more than four warps, several
// share a window.
//
// Mbarriers tell the end of dots and copies, and the program waits there. So
// only what loads and stores leave behind is followed.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/Alias.h"
#include "tile/Analysis/Membar.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUTMEMBARRIERINSERTION
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// So many warps have a window each.
constexpr int kWindows = 4;

/// An access to some columns.
struct Access {
  Operation *op;
  Value memdesc;
  unsigned begin, end;
  bool writes;

  bool operator==(const Access &) const = default;
  bool conflictsWith(const Access &other) const {
    return begin < other.end && other.begin < end && (writes || other.writes);
  }
};

/// What loads and stores did since the last barrier.
struct State {
  SmallVector<Access> accesses;

  bool add(const Access &access) {
    if (llvm::is_contained(accesses, access))
      return false;
    accesses.push_back(access);
    return true;
  }
  bool merge(const State &other) {
    bool changed = false;
    for (const Access &access : other.accesses)
      changed |= add(access);
    return changed;
  }
};

/// Whether the warps of the block do the access, each in its window.
bool isByWarps(Operation *op) {
  return isa<TMEMLoadOp, TMEMStoreOp, TMEMAllocOp>(op);
}

RankedTensorType getTensor(Operation *op) {
  if (auto load = dyn_cast<TMEMLoadOp>(op))
    return load.getResult().getType();
  if (auto store = dyn_cast<TMEMStoreOp>(op))
    return cast<RankedTensorType>(store.getSrc().getType());
  return cast<RankedTensorType>(cast<TMEMAllocOp>(op).getSrc().getType());
}

/// Whether two views divide one buffer alike. The parts that indices choose are
/// equal or apart.
bool areAlike(Value a, Value b) {
  while (a.getType() == b.getType()) {
    auto indexA = a.getDefiningOp<gpu::MemDescIndexOp>();
    auto indexB = b.getDefiningOp<gpu::MemDescIndexOp>();
    auto sliceA = a.getDefiningOp<TMEMSubsliceOp>();
    auto sliceB = b.getDefiningOp<TMEMSubsliceOp>();
    if (indexA && indexB) {
      a = indexA.getSrc();
      b = indexB.getSrc();
    } else if (sliceA && sliceB && sliceA.getN() == sliceB.getN()) {
      a = sliceA.getSrc();
      b = sliceB.getSrc();
    } else {
      return a == b && a.getDefiningOp<TMEMAllocOp>();
    }
  }
  return false;
}

/// Whether each warp comes to the same elements in both accesses.
bool areBySameWarps(const Access &a, const Access &b) {
  if (!isByWarps(a.op) || !isByWarps(b.op))
    return false;
  if (gpu::lookupNumWarps(b.op) <= kWindows)
    return true;
  if (!areAlike(a.memdesc, b.memdesc))
    return false;
  auto getWarps = [](const Access &access) {
    LinearLayout layout = toLinearLayout(getTensor(access.op));
    return layout.sublayout({kWarp}, layout.getOutDimNames());
  };
  LinearLayout warps = getWarps(a);
  if (warps != getWarps(b))
    return false;
  // Of warps that hold copies all load, but one stores.
  for (unsigned bit = llvm::Log2_32(kWindows);
       bit < warps.getInDimSizeLog2(kWarp); ++bit)
    if (warps.getFlatBasis(kWarp, bit) == 0)
      return false;
  return true;
}

class FunctionBarriers {
public:
  explicit FunctionBarriers(FunctionOpInterface function)
      : function(function), aliases(function) {}

  unsigned run() {
    runRegion(function.getFunctionBody(), State());
    return numBarriers;
  }

private:
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

  void visit(Operation *op, State &state) {
    if (isBlockBarrier(op)) {
      state.accesses.clear();
      return;
    }
    if (auto specialize = dyn_cast<gpu::WarpSpecializeOp>(op)) {
      // All warps meet where the partitions begin, and where they end.
      runRegion(specialize.getDefaultRegion(), State());
      for (Region &partition : specialize.getPartitionRegions())
        runRegion(partition, State());
      state.accesses.clear();
      return;
    }
    // Regions may run in any order, and again.
    bool changed = op->getNumRegions() != 0;
    while (changed) {
      changed = false;
      for (Region &region : op->getRegions())
        changed |= state.merge(runRegion(region, State(state)));
    }

    SmallVector<Access> accesses = getAccesses(op);
    auto conflicts = [&](const Access &now) {
      return llvm::any_of(state.accesses, [&](const Access &before) {
        return before.conflictsWith(now) && !areBySameWarps(before, now);
      });
    };
    if (llvm::any_of(accesses, conflicts)) {
      OpBuilder builder(op);
      gpu::BarrierOp::create(builder, op->getLoc(), gpu::AddrSpace::Local);
      ++numBarriers;
      state.accesses.clear();
    }
    if (isByWarps(op) || isa<CallOpInterface>(op))
      for (const Access &access : accesses)
        state.add(access);
  }

  SmallVector<Access> getAccesses(Operation *op) const {
    SmallVector<Access> accesses;
    auto add = [&](Value value, bool writes) {
      auto type = value ? dyn_cast<gpu::MemDescType>(value.getType()) : nullptr;
      if (!type || !isInTensorMemory(type))
        return;
      for (Value root : aliases.getRoots(value))
        accesses.push_back(makeAccess(op, value, root, writes));
    };
    if (auto alloc = dyn_cast<TMEMAllocOp>(op)) {
      if (alloc.getSrc())
        add(alloc.getResult(), /*writes=*/true);
      return accesses;
    }
    if (isa<CallOpInterface>(op)) {
      for (Value operand : op->getOperands())
        add(operand, /*writes=*/true);
      return accesses;
    }
    SmallVector<MemoryEffects::EffectInstance> effects;
    if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
      interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects)
      add(effect.getValue(), isa<MemoryEffects::Write>(effect.getEffect()));
    return accesses;
  }

  /// Of the columns of the whole buffer. Those of an argument may be any.
  static Access makeAccess(Operation *op, Value memdesc, Value root,
                           bool writes) {
    auto alloc = root.getDefiningOp<TMEMAllocOp>();
    auto column =
        alloc ? alloc->getAttrOfType<IntegerAttr>(kTensorMemoryColumnAttrName)
              : nullptr;
    if (!column)
      return {op, memdesc, 0, kTensorMemoryColumns, writes};
    FailureOr<TensorMemoryFootprint> footprint =
        getTensorMemoryFootprint(alloc.getResult().getType());
    unsigned begin = column.getInt();
    return {op, memdesc, begin, begin + footprint->columns, writes};
  }

  FunctionOpInterface function;
  SharedMemoryAliasAnalysis aliases;
  unsigned numBarriers = 0;
};

struct TMEMBarrierInsertion
    : nvidia_gpu::impl::TritonNvidiaGPUTMEMBarrierInsertionBase<
          TMEMBarrierInsertion> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal())
        numBarriers += FunctionBarriers(function).run();
  }
};

} // namespace

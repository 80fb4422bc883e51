//===-- AllocateWarpGroups.cpp - Places of the warps of partitions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/WarpGroups.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tritongpu-allocate-warp-groups"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUALLOCATEWARPGROUPS
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

constexpr int kWarpsPerGroup = 4;
constexpr int kMostThreads = 1024;
/// Of the 16 barriers of a block, the first is that of all its threads.
constexpr unsigned kMostGroups = 15;

LogicalResult checkPlace(WarpSpecializeOp op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function || function.isPrivate())
    return op.emitError("warps cannot be specialised in a device function, "
                        "because its callers do not know of them");
  if (op->getParentOfType<WarpSpecializeOp>())
    return op.emitError("warps cannot be specialised again in the default "
                        "region of another operation");
  if (op.getPartitionRegions().size() + 1 > kMostGroups)
    return op.emitError("a block has barriers for ")
           << kMostGroups << " groups of warps, found "
           << op.getPartitionRegions().size() + 1;
  WalkResult calls = op.getPartitionOp()->walk([](CallOpInterface call) {
    call.emitError("a partition cannot call a function, whose barriers are "
                   "those of the default warps");
    return WalkResult::interrupt();
  });
  return failure(calls.wasInterrupted());
}

/// Each capture takes shared memory: what is captured twice is captured once,
/// and what no partition reads is not.
void shareCaptures(WarpSpecializeOp op) {
  MutableArrayRef<Region> partitions = op.getPartitionRegions();
  llvm::SmallDenseMap<Value, unsigned> first;
  for (auto [i, capture] : llvm::enumerate(op.getExplicitCaptures())) {
    auto [it, isNew] = first.try_emplace(capture, i);
    for (Region &partition : partitions)
      if (!isNew)
        partition.getArgument(i).replaceAllUsesWith(
            partition.getArgument(it->second));
  }
  llvm::BitVector unused(op.getNumOperands());
  for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i)
    unused[i] = llvm::all_of(partitions, [&](Region &partition) {
      return partition.getArgument(i).use_empty();
    });
  for (Region &partition : partitions)
    partition.front().eraseArguments(unused);
  op->eraseOperands(unused);
}

/// Places the partitions of one operation; returns the end of the last one.
int allocateWarps(WarpSpecializeOp op, int numWarps) {
  ArrayRef<int32_t> warps = op.getPartitionNumWarps();
  SmallVector<int32_t> starts(warps.size());
  // Whole warp groups first: what follows them needs no alignment.
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, warps.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-warps[a], a) < std::pair(-warps[b], b);
  });
  int next = numWarps;
  if (!order.empty() &&
      (warps[order.front()] >= kWarpsPerGroup || op.getRequestedRegisters()))
    next = llvm::alignTo(next, kWarpsPerGroup);
  for (unsigned i : order) {
    starts[i] = next;
    next += warps[i];
  }
  op.setWarpGroupStartIds(starts);
  return op.getRequestedRegisters() ? llvm::alignTo(next, kWarpsPerGroup)
                                    : next;
}

/// What each warp group needs: of all partitions that run on it, in any of the
/// operations, the most demanding one. A partition of several warp groups has
/// one code, so all of its groups get the same. Only whole groups can get more
/// than the `each` that they begin with.
SmallVector<int> getRegistersOfGroups(ArrayRef<WarpSpecializeOp> ops,
                                      int numGroups, int each) {
  SmallVector<int> ofGroup(numGroups, kLeastRegisters);
  auto raise = [&](int start, int count, int registers) {
    auto groups = MutableArrayRef(ofGroup).slice(
        start / kWarpsPerGroup,
        llvm::divideCeil(start % kWarpsPerGroup + count, kWarpsPerGroup));
    int most = std::max<int>(registers, *llvm::max_element(groups));
    bool changes = llvm::any_of(groups, [&](int g) { return g != most; });
    llvm::fill(groups, most);
    return changes;
  };
  // What one operation needs may reach further groups through another one.
  for (bool changes = true; changes;) {
    changes = false;
    for (WarpSpecializeOp op : ops)
      for (auto [start, count, registers] :
           llvm::zip(*op.getWarpGroupStartIds(), op.getPartitionNumWarps(),
                     *op.getRequestedRegisters()))
        changes |= raise(
            start, count,
            count % kWarpsPerGroup
                ? std::min<int>(llvm::alignTo(registers, kRegisterUnit), each)
                : llvm::alignTo(registers, kRegisterUnit));
  }
  return ofGroup;
}

} // namespace

static int getMostRegisters(ModuleOp module) {
  int most = getTargetModel(module).getRegistersPerThread(
      lookupThreadsPerWarp(module));
  return most / kRegisterUnit * kRegisterUnit;
}

int mlir::triton::gpu::getFirstRegisters(ModuleOp module) {
  int total =
      module->getAttrOfType<IntegerAttr>(kTotalNumWarpsAttrName).getInt();
  int each = std::min<int>(getMostRegisters(module),
                           getTargetModel(module).getRegistersPerThread(
                               total * lookupThreadsPerWarp(module)));
  if (auto limit = module->getAttrOfType<IntegerAttr>(kMaxNRegAttrName))
    each = std::min<int>(each, limit.getInt());
  return each / kRegisterUnit * kRegisterUnit;
}

// They keep them for as long as the kernel runs.
void mlir::triton::gpu::allocateRegisters(ModuleOp module) {
  SmallVector<WarpSpecializeOp> ops;
  module.walk([&](WarpSpecializeOp op) { ops.push_back(op); });
  int numWarps = lookupNumWarps(module);
  int total =
      module->getAttrOfType<IntegerAttr>(kTotalNumWarpsAttrName).getInt();
  bool allAsk = llvm::all_of(ops, [](WarpSpecializeOp op) {
    return op.getRequestedRegisters().has_value();
  });
  if (!allAsk || numWarps % kWarpsPerGroup)
    return;
  for (WarpSpecializeOp op : ops)
    op.removeActualRegistersAttr();
  int each = getFirstRegisters(module);
  SmallVector<int> ofGroup =
      getRegistersOfGroups(ops, total / kWarpsPerGroup, each);
  int left = each * total;
  bool moves = false;
  for (int group : ArrayRef(ofGroup).drop_front(numWarps / kWarpsPerGroup)) {
    left -= group * kWarpsPerGroup;
    moves |= group > each;
  }
  // The default group has what the others leave.
  int forDefault = std::min(getMostRegisters(module),
                            left / numWarps / kRegisterUnit * kRegisterUnit);
  moves |= forDefault > each;
  if (!moves || forDefault < kLeastRegisters)
    return;
  for (WarpSpecializeOp op : ops) {
    SmallVector<int32_t> actual{forDefault};
    ArrayRef<int32_t> starts = *op.getWarpGroupStartIds();
    for (int32_t start : starts)
      actual.push_back(ofGroup[start / kWarpsPerGroup]);
    op.setActualRegisters(actual);
  }
}

namespace {

struct AllocateWarpGroups
    : public gpu::impl::TritonGPUAllocateWarpGroupsBase<AllocateWarpGroups> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<WarpSpecializeOp> ops;
    module.walk([&](WarpSpecializeOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    int numWarps = lookupNumWarps(module), total = numWarps;
    for (WarpSpecializeOp op : ops) {
      if (failed(checkPlace(op)))
        return signalPassFailure();
      shareCaptures(op);
      total = std::max(total, allocateWarps(op, numWarps));
      numPartitions += op.getPartitionRegions().size();
    }
    int threads = total * lookupThreadsPerWarp(module);
    if (threads > kMostThreads) {
      ops.front().emitError("the default group and the partitions have ")
          << threads << " threads together, a block has at most "
          << kMostThreads;
      return signalPassFailure();
    }
    Builder builder(&getContext());
    module->setAttr(kTotalNumWarpsAttrName, builder.getI32IntegerAttr(total));
    allocateRegisters(module);
  }
};

} // namespace

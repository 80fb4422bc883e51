//===-- LowerWarpGroup.cpp - nvws.warp_group to ttg.warp_specialize -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SharedTensors.h"

#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton::nvws {
#define GEN_PASS_DEF_NVWSLOWERWARPGROUP
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvws

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

namespace {

/// Makes the constants that `region` takes from outside anew at its start.
void bringConstants(Region &region) {
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(region, outside);
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  for (Value value : outside) {
    Operation *def = value.getDefiningOp();
    if (!def || !matchPattern(def, m_Constant()))
      continue;
    Operation *clone = builder.clone(*def);
    builder.setInsertionPointAfter(clone);
    auto result = cast<OpResult>(value);
    replaceAllUsesInRegionWith(
        value, clone->getResult(result.getResultNumber()), region);
  }
}

/// A buffer in shared memory with the elements of `tensor`.
Value putIntoSharedMemory(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return gpu::LocalAllocOp::create(
      builder, loc, getSharedType(type, /*isMutable=*/false), tensor);
}

class LowerWarpGroupPass
    : public nvws::impl::NVWSLowerWarpGroupBase<LowerWarpGroupPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<WarpGroupOp> groups;
    getOperation().walk([&](WarpGroupOp group) { groups.push_back(group); });
    for (WarpGroupOp group : groups) {
      if (failed(lower(group)))
        return signalPassFailure();
      ++numGroups;
    }
  }

private:
  static LogicalResult lower(WarpGroupOp group) {
    bool hasDefault = !group.getPartitions().empty() &&
                      group.getNumWarps().front() == gpu::lookupNumWarps(group);
    if (!hasDefault && group.getNumResults())
      return group.emitOpError("expected results from a first partition with "
                               "as many warps as run what is around, found ")
             << group.getNumWarps().front() << " warps, not "
             << gpu::lookupNumWarps(group);
    OpBuilder builder(group);
    Location loc = group.getLoc();
    ArrayRef<int32_t> numWarps = group.getNumWarps().drop_front(hasDefault);
    auto specialize = gpu::WarpSpecializeOp::create(
        builder, loc, group.getResultTypes(), numWarps, numWarps.size());
    takeDefault(group, specialize, hasDefault);

    // What the partitions take from outside, in the order of their uses.
    auto partitions = group.getPartitions().drop_front(hasDefault);
    for (Region &region : partitions)
      bringConstants(region);
    llvm::SetVector<Value> outside;
    for (Region &region : partitions)
      getUsedValuesDefinedAbove(region, outside);
    builder.setInsertionPoint(specialize);
    SmallVector<Value> captures =
        llvm::map_to_vector(outside, [&](Value value) -> Value {
          return isa<RankedTensorType>(value.getType())
                     ? putIntoSharedMemory(builder, loc, value)
                     : value;
        });
    specialize->setOperands(captures);
    for (auto [from, to] :
         llvm::zip(partitions, specialize.getPartitionRegions()))
      takePartition(from, to, outside.getArrayRef(), captures);
    group.replaceAllUsesWith(specialize.getResults());
    group.erase();
    return success();
  }

  static void takeDefault(WarpGroupOp group, gpu::WarpSpecializeOp specialize,
                          bool hasDefault) {
    Region &region = specialize.getDefaultRegion();
    OpBuilder builder(group.getContext());
    if (!hasDefault) {
      builder.createBlock(&region);
      gpu::WarpYieldOp::create(builder, group.getLoc());
      return;
    }
    region.takeBody(group.getPartitions().front());
    Operation *end = region.front().getTerminator();
    builder.setInsertionPoint(end);
    SmallVector<Value> values(end->getOperands());
    gpu::WarpYieldOp::create(builder, end->getLoc(), values);
    end->erase();
  }

  static void takePartition(Region &from, Region &to, ArrayRef<Value> outside,
                            ArrayRef<Value> captures) {
    to.takeBody(from);
    OpBuilder builder = OpBuilder::atBlockBegin(&to.front());
    // Constants stay in front.
    for (Operation &op : to.front())
      if (matchPattern(&op, m_Constant()))
        builder.setInsertionPointAfter(&op);
      else
        break;
    for (auto [value, capture] : llvm::zip(outside, captures)) {
      Value inside = to.addArgument(capture.getType(), value.getLoc());
      if (inside.getType() != value.getType()) {
        bool isUsed = llvm::any_of(value.getUses(), [&](OpOperand &use) {
          return to.isAncestor(use.getOwner()->getParentRegion());
        });
        if (!isUsed)
          continue;
        inside = gpu::LocalLoadOp::create(builder, value.getLoc(),
                                          value.getType(), inside);
      }
      replaceAllUsesInRegionWith(value, inside, to);
    }
    Operation *end = to.front().getTerminator();
    builder.setInsertionPoint(end);
    gpu::WarpReturnOp::create(builder, end->getLoc());
    end->erase();
  }
};

} // namespace

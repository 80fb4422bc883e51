//===-- Barrier.cpp - Who takes part in a barrier -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Barrier.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using Kind = BarrierParticipants::Kind;

/// The partition of a ttg.warp_specialize around `op`, or null.
static Region *getPartition(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (isa<gpu::WarpSpecializePartitionsOp>(region->getParentOp()))
      return region;
  return nullptr;
}

/// The number of the group of warps that executes `op`: 0 for the default one,
/// i + 1 for partition i. Nullopt where all warps run together.
static std::optional<unsigned> getGroup(Operation *op) {
  if (Region *partition = getPartition(op))
    return partition->getRegionNumber() + 1;
  if (op->getParentOfType<gpu::WarpSpecializeOp>())
    return 0;
  // The warps of partitions wait elsewhere, if there are any.
  auto module = op->getParentOfType<ModuleOp>();
  auto total =
      module ? module->getAttrOfType<IntegerAttr>(gpu::kTotalNumWarpsAttrName)
             : nullptr;
  if (total && total.getInt() != gpu::lookupNumWarps(op))
    return 0;
  return std::nullopt;
}

BarrierParticipants triton::getThreadsOfBlock(Operation *op) {
  unsigned numWarps = gpu::lookupNumWarps(op);
  // A single warp needs no more than its own barrier.
  if (numWarps == 1)
    return {Kind::Warp, 0, 1};
  if (std::optional<unsigned> group = getGroup(op))
    return {Kind::WarpGroup, *group, numWarps};
  return {Kind::Block, 0, numWarps};
}

BarrierParticipants triton::getThreadsOfProgram(Operation *op) {
  if (gpu::lookupNumCTAs(op) > 1)
    return {Kind::Cluster, 0, unsigned(gpu::lookupNumWarps(op))};
  return getThreadsOfBlock(op);
}

unsigned triton::getFirstWarp(Operation *op) {
  Region *partition = getPartition(op);
  if (!partition)
    return 0;
  auto specialize =
      cast<gpu::WarpSpecializeOp>(partition->getParentOp()->getParentOp());
  return (*specialize.getWarpGroupStartIds())[partition->getRegionNumber()];
}

//===-- Partitions.cpp - More partitions for an operation -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/Partitions.h"

#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

static constexpr int kWarpsPerGroup = 4;

WarpSpecializeOp mlir::triton::gpu::addPartition(WarpSpecializeOp specialize,
                                                 int32_t numWarps,
                                                 int32_t registers) {
  OpBuilder builder(specialize);
  SmallVector<int32_t> warps(specialize.getPartitionNumWarps());
  warps.push_back(numWarps);
  auto next = WarpSpecializeOp::create(builder, specialize.getLoc(),
                                       specialize.getResultTypes(), warps,
                                       /*numPartitionRegions=*/warps.size());
  next->setOperands(specialize->getOperands());
  if (auto before = specialize.getRequestedRegisters()) {
    SmallVector<int32_t> requested(*before);
    requested.push_back(registers);
    next.setRequestedRegisters(requested);
  }
  next.getDefaultRegion().takeBody(specialize.getDefaultRegion());
  for (auto [from, to] :
       llvm::zip(specialize.getPartitionRegions(), next.getPartitionRegions()))
    to.takeBody(from);
  specialize->replaceAllUsesWith(next);
  specialize->erase();
  return next;
}

unsigned mlir::triton::gpu::addCapture(WarpSpecializeOp specialize,
                                       Value value) {
  unsigned number = specialize->getNumOperands();
  specialize->insertOperands(number, value);
  for (Region &region : specialize.getPartitionRegions())
    region.addArgument(value.getType(), value.getLoc());
  return number;
}

void mlir::triton::gpu::divideRegisters(WarpSpecializeOp specialize,
                                        ArrayRef<unsigned> groups) {
  const TargetModel &model = getTargetModel(specialize);
  int threads = lookupThreadsPerWarp(specialize);
  SmallVector<int32_t> requested(*specialize.getRequestedRegisters());
  // Warps of partitions that are no whole group share one.
  int mine = (groups.size() + 1) * lookupNumWarps(specialize);
  int others = 0, taken = 0, few = 0, forFew = 0;
  for (auto [i, warps] : llvm::enumerate(specialize.getPartitionNumWarps())) {
    int registers = llvm::alignTo(requested[i], kRegisterUnit);
    if (llvm::is_contained(groups, i))
      continue;
    if (warps % kWarpsPerGroup) {
      few += warps;
      forFew = std::max(forFew, registers);
    } else {
      others += warps;
      taken += warps * registers;
    }
  }
  few = llvm::alignTo(few, kWarpsPerGroup);
  int total = mine + others + few;
  auto round = [](int64_t registers) {
    return registers / kRegisterUnit * kRegisterUnit;
  };
  int64_t most = round(model.getRegistersPerThread(threads));
  int64_t each = std::min<int64_t>(
      most, round(model.getRegistersPerThread(total * threads)));
  int64_t forMine = round((each * total - taken - few * forFew) / mine);
  for (unsigned group : groups)
    requested[group] = std::min(most, forMine);
  specialize.setRequestedRegisters(requested);
}

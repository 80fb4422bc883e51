//===-- CoalescedAccess.cpp - Layouts of memory accesses ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/CoalescedAccess.h"

#include "Pipeline/LoopMemory.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::triton;

Value gpu::getAccessedPointers(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp>(
          [](auto op) { return op.getPtr(); })
      .Case([](AsyncCopyGlobalToLocalOp op) { return op.getSrc(); })
      .Default(Value());
}

SmallVector<unsigned> gpu::orderByContiguity(ArrayRef<int64_t> contiguity) {
  SmallVector<unsigned> order(contiguity.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(contiguity[a], a) > std::pair(contiguity[b], b);
  });
  return order;
}

gpu::CoalescedAccess
gpu::describeAccess(Operation *op, const ModuleAxisInfoAnalysis &axisInfo) {
  Value pointers = getAccessedPointers(op);
  auto type = cast<RankedTensorType>(pointers.getType());
  CoalescedAccess access{op, {}, 1, !isa<LoadOp, AsyncCopyGlobalToLocalOp>(op)};
  const AxisInfo *info = axisInfo.getAxisInfo(pointers);
  if (!info) {
    // Unreachable code.
    access.order = orderByContiguity(SmallVector<int64_t>(type.getRank(), 1));
    return access;
  }
  access.order = orderByContiguity(info->getContiguity());
  unsigned fastest = access.order[0];
  int64_t bytes = info->getUnit();
  int64_t aligned = info->getDivisibility(fastest) / bytes;
  int64_t widest = getTargetModel(op).getMaxGlobalAccessBits() / (8 * bytes);
  access.vector = std::max<int64_t>(
      std::min({aligned, info->getContiguity(fastest), widest}), 1);
  if (access.vector == 1 && widest > 1 && type.getShape()[fastest] > 1)
    access.obstacle = info->getContiguity(fastest) == 1
                          ? "neighbouring elements are not known to be "
                            "neighbours in memory"
                          : "the address is not known to be aligned";
  return access;
}

/// Whether threads may copy what is loaded. They copy what leads to a dot. Of a
/// loop with dots whose stages were asked for, they copy all loads.
static bool mayBeCopied(LoadOp load, scf::ForOp loop) {
  auto hasProduct = [](Operation *op) {
    return op
        ->walk([](MatrixProductOpInterface) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  if (gpu::LoopPlan(loop).getNumStages())
    return hasProduct(loop);
  return gpu::leadsToProduct(loop, load);
}

int64_t gpu::getLeastCopied(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  auto loop = op->getParentOfType<scf::ForOp>();
  ArrayRef<unsigned> sizes = getTargetModel(op).getAsyncCopySizes();
  if (!load || !loop || sizes.empty() || !mayBeCopied(load, loop))
    return 1;
  int64_t bytes = AxisInfo::getUnit(load.getPtr().getType());
  return std::max<int64_t>(sizes.front() / bytes, 1);
}

gpu::BlockedEncodingAttr gpu::getCoalescedLayout(const CoalescedAccess &access,
                                                 ArrayRef<int64_t> shape,
                                                 int64_t perThread,
                                                 CTALayoutAttr ctas) {
  int64_t numThreads =
      int64_t(lookupNumWarps(access.op)) * lookupThreadsPerWarp(access.op);
  int64_t numElements =
      llvm::product_of(getShapePerCTA(ctas.getCTASplitNum(), shape));
  // A thread without elements is worse than a narrow access, also for what may
  // be copied beside the threads. Where some have none anyway, the others may
  // as well have what is copied at once.
  int64_t least = numElements < numThreads ? getLeastCopied(access.op) : 1;
  if (access.vector < least)
    least = 1;
  perThread = std::min(perThread, std::max(numElements / numThreads, least));
  SmallVector<unsigned> size(shape.size(), 1);
  size[access.order[0]] = perThread;
  return BlockedEncodingAttr::get(access.op->getContext(), shape, size,
                                  access.order, lookupNumWarps(access.op),
                                  lookupThreadsPerWarp(access.op), ctas);
}

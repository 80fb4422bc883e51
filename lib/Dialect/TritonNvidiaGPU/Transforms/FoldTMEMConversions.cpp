//===-- FoldTMEMConversions.cpp - Tensor memory in any layout -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-fold-tmem-conversions"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAFOLDTMEMCONVERSIONS
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// Whether threads exchange elements in a conversion.
bool movesBetweenThreads(gpu::ConvertLayoutOp convert) {
  return ConvertLayoutPlan::of(convert).route !=
         ConvertLayoutPlan::Route::Registers;
}

bool canMove(Type tensor, gpu::MemDescType memory) {
  return succeeded(
      getTensorMemoryAccess(cast<RankedTensorType>(tensor), memory));
}

class FoldTMEMConversionsPass
    : public nvidia_gpu::impl::TritonNvidiaFoldTMEMConversionsBase<
          FoldTMEMConversionsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([&](TMEMAllocOp alloc) {
      if (alloc.getSrc())
        storeBefore(alloc.getSrcMutable()[0], alloc.getResult().getType());
    });
    getOperation().walk([&](TMEMStoreOp store) {
      storeBefore(store.getSrcMutable(), store.getDst().getType());
    });
    // What follows a load goes away.
    SmallVector<TMEMLoadOp> loads;
    getOperation().walk([&](TMEMLoadOp load) { loads.push_back(load); });
    llvm::for_each(loads, [&](TMEMLoadOp load) { loadAfter(load); });
  }

private:
  /// Stores what a conversion takes, and not what it gives.
  void storeBefore(OpOperand &source, gpu::MemDescType memory) {
    auto convert = source.get().getDefiningOp<gpu::ConvertLayoutOp>();
    if (!convert || !movesBetweenThreads(convert) ||
        !canMove(convert.getSrc().getType(), memory))
      return;
    LDBG() << "stores before " << convert;
    source.set(convert.getSrc());
    ++numStores;
    if (convert->use_empty())
      convert.erase();
  }

  /// Loads what a conversion gives, where nothing else is loaded.
  void loadAfter(TMEMLoadOp load) {
    Value loaded = load.getResult();
    if (load.getRedOp() || !loaded.hasOneUse())
      return;
    auto convert = dyn_cast<gpu::ConvertLayoutOp>(*loaded.user_begin());
    if (!convert || !movesBetweenThreads(convert) ||
        !canMove(convert.getType(), load.getSrc().getType()))
      return;
    LDBG() << "loads behind " << convert;
    loaded.setType(convert.getType());
    convert.getResult().replaceAllUsesWith(loaded);
    convert.erase();
    ++numLoads;
  }
};

} // namespace

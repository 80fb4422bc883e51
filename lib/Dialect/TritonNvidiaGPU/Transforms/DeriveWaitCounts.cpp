//===-- DeriveWaitCounts.cpp - Counts of waits from their tokens ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/TokenOrigins.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-gpu-derive-wait-counts"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPUDERIVEWAITCOUNTS
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {
class DeriveWaitCountsPass
    : public nvidia_gpu::impl::TritonNvidiaGPUDeriveWaitCountsBase<
          DeriveWaitCountsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      TokenOrigins origins(function);
      if (failed(origins.verifyWaits(function)))
        return signalPassFailure();
      function.walk([&](Operation *op) {
        auto derive = [&](uint32_t count, auto set) {
          std::optional<unsigned> most = origins.getMaxPendings(op);
          // A program may wait for more than it needs.
          if (!most || count <= *most)
            return;
          LDBG() << *op << " may leave " << *most << " under way";
          set(*most);
          ++numWaits;
        };
        if (auto wait = dyn_cast<gpu::AsyncWaitOp>(op))
          derive(wait.getNum(), [&](unsigned most) { wait.setNum(most); });
        else if (auto wait = dyn_cast<AsyncTMAStoreWaitOp>(op))
          derive(wait.getPendings(),
                 [&](unsigned most) { wait.setPendings(most); });
      });
    }
  }
};
} // namespace

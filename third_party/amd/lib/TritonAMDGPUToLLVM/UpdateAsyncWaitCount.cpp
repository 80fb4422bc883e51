//===-- UpdateAsyncWaitCount.cpp - Waits that count instructions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUToLLVM/DirectLoads.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"

#include "tile/Dialect/TritonGPU/Transforms/AsyncWaits.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-update-async-wait-count"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUUPDATEASYNCWAITCOUNT
#include "amd/TritonAMDGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

/// The sum of `count` over what is certainly in the last groups that were
/// committed before `wait`, or behind them: what the block of the wait has.
static int sumOfLastGroups(ttg::AsyncWaitOp wait,
                           function_ref<int(Operation *)> count) {
  int sum = 0, groups = 0;
  for (Operation *op = wait->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<ttg::AsyncCommitGroupOp>(op) &&
        ++groups > static_cast<int>(wait.getNum()))
      break;
    sum += count(op);
  }
  return sum;
}

namespace {
struct UpdateAsyncWaitCount
    : amd::impl::TritonAMDGPUUpdateAsyncWaitCountBase<UpdateAsyncWaitCount> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    amd::setAMDTarget(module, {archGenerationName, gfxArch});
    auto model = amd::TargetModel::get(module);
    if (failed(model))
      return signalPassFailure();
    // Copies that go through registers are done at once.
    if (!(*model)->getFacts().directLoadBytes)
      return;
    amd::TargetInfo target(**model);
    ModuleAxisInfoAnalysis axisInfo(module);
    llvm::DenseMap<Operation *, int> loads;
    SmallVector<ttg::AsyncWaitOp> waits;
    module.walk([&](Operation *op) {
      if (auto wait = dyn_cast<ttg::AsyncWaitOp>(op))
        waits.push_back(wait);
      if (auto plan = amd::planDirectLoads(op, axisInfo, target)) {
        loads[op] = plan->count;
        op->setAttr(amd::kDirectVectorAttrName,
                    IntegerAttr::get(IntegerType::get(&getContext(), 32),
                                     plan->vector));
      }
    });
    auto count = [&](Operation *op) { return loads.lookup(op); };
    for (ttg::AsyncWaitOp wait : waits) {
      ValueRange tokens = wait.getAsyncToken();
      int left = tokens.empty() ? sumOfLastGroups(wait, count)
                                : ttg::getLeastSince(tokens, wait, count);
      LDBG() << wait << " leaves " << left << " loads under way";
      OpBuilder builder(wait);
      auto counted = amdgpu::AsyncWaitOp::create(
          builder, wait.getLoc(), wait.getRetToken().getType(), tokens, left);
      wait.replaceAllUsesWith(counted.getRetToken());
      wait.erase();
      ++numWaits;
    }
  }
};
} // namespace

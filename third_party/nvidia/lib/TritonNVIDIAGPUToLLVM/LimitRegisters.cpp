//===-- LimitRegisters.cpp - Registers that cost no block -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "nvidia/Occupancy.h"
#include "nvidia/TargetModel.h"
#include "nvidia/TargetTable.h"
#include "tile/Analysis/RegisterPressure.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/Transforms/WarpGroups.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "limit-registers-nv"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_LIMITREGISTERSNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

/// Without a limit ptxas makes as good a choice among up to so many registers:
/// products of 128x64x32 on sm_80 take 128 by themselves, and three blocks
/// instead of four are resident where 168 are stated.
static constexpr int64_t kLeastLimit = 128;

/// Tensors whose elements follow from their places.
static DenseSet<Value> findIndices(FunctionOpInterface function) {
  DenseSet<Value> indices;
  function.walk([&](Operation *op) {
    if (isa<MakeRangeOp>(op) ||
        ((isMadeByElements(op) || isa<ttg::ConvertLayoutOp>(op)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<RankedTensorType>(operand.getType()) ||
                  isConstantOrSplat(operand) || indices.contains(operand);
         })))
      indices.insert_range(op->getResults());
  });
  return indices;
}

namespace {
struct LimitRegistersNV : nvidia::impl::LimitRegistersNVBase<LimitRegistersNV> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<const NVIDIATarget *> target = getNVIDIATarget(module);
    if (failed(target))
      return signalPassFailure();
    // Something else gave a limit.
    if (module->hasAttr(ttg::kMaxNRegAttrName))
      return;
    auto shared = module->getAttrOfType<IntegerAttr>(ttg::kSharedAttrName);
    if (!shared)
      return;
    auto totalWarps =
        module->getAttrOfType<IntegerAttr>(ttg::kTotalNumWarpsAttrName);
    int64_t warps =
        totalWarps ? int(totalWarps.getInt()) : ttg::lookupNumWarps(module);
    int64_t threads = warps * ttg::lookupThreadsPerWarp(module);
    int64_t blocks =
        nvidia::getBlockLimits(**target,
                               {.warps = warps, .sharedBytes = shared.getInt()})
            .sharedMemory;
    if (blocks == 0)
      return;
    const auto *model = nvidia::TargetModel::get((*target)->computeCapability);
    // Partitions have limits of their own.
    if (totalWarps) {
      if (blocks > 1)
        limitSpecialized(model->getRegistersPerThread(2 * threads));
      return;
    }
    int64_t most = model->getRegistersPerThread(threads);
    if (mayNeedMoreThan(most))
      return setLimit(most);
    if (most < (*target)->maxRegistersPerThread)
      return;
    int64_t limit = model->getRegistersPerThread(threads * blocks);
    // All blocks that there is room for can have all the registers. Dots of
    // warp groups make use of them; others got more without shorter loops.
    bool allOfThem = limit >= (*target)->maxRegistersPerThread;
    if ((*target)->hasWGMMA)
      return allOfThem ? setLimit(limit) : void();
    if (allOfThem || limit <= kLeastLimit)
      return;
    // Kernels of more than one dot may need more than can be told.
    int64_t products = 0, functions = 0;
    FunctionOpInterface kernel;
    module.walk([&](Operation *op) {
      products += isa<MatrixProductOpInterface>(op);
      if (auto function = dyn_cast<FunctionOpInterface>(op)) {
        kernel = function;
        ++functions;
      }
    });
    if (products != 1 || functions != 1)
      return;
    int64_t needed = countLiveRegisters(kernel, countDataRegisters) +
                     ttg::getRegisterNeed(ttg::RegisterNeed::LoopScalars);
    LDBG() << needed << " registers needed, " << limit << " for each of "
           << blocks << " blocks";
    if (needed <= kLeastLimit || needed > limit)
      return;
    setLimit(limit);
  }

private:
  /// Where a kernel may need more registers than a thread of its block can
  /// have, that many are stated: ptxas may give up on it otherwise and settle
  /// for 32. Where they suffice, ptxas weighs them against resident blocks,
  /// which a limit would stop.
  bool mayNeedMoreThan(int64_t limit) {
    int64_t needed = 0;
    getOperation().walk([&](FunctionOpInterface function) {
      DenseSet<Value> indices = findIndices(function);
      auto count = [&](Value value) {
        auto type = dyn_cast<RankedTensorType>(value.getType());
        return type && type.getElementType().isIntOrFloat() &&
                       !type.getElementType().isInteger(1) &&
                       !isConstantOrSplat(value) && !indices.contains(value)
                   ? triton::countRegisters(type)
                   : 0;
      };
      WaitingRegisters waiting(function, count);
      needed += ttg::getRegisterNeed(ttg::RegisterNeed::LoopScalars) +
                countLiveRegisters(function, waiting);
    });
    LDBG() << needed << " registers needed of " << limit;
    return needed > limit;
  }

  /// Where shared memory has room for a second block, has registers leave it
  /// room as well, if enough of them stay with the default group.
  void limitSpecialized(int64_t limit) {
    ModuleOp module = getOperation();
    SmallVector<ttg::WarpSpecializeOp> ops;
    int64_t forResults = 0;
    module.walk([&](Operation *op) {
      if (auto specialize = dyn_cast<ttg::WarpSpecializeOp>(op))
        ops.push_back(specialize);
      if (auto product = dyn_cast<MatrixProductOpInterface>(op);
          product && product.getProduct())
        forResults += countDataRegisters(product.getProduct());
    });
    if (forResults == 0)
      return;
    int64_t needed =
        forResults + ttg::getRegisterNeed(ttg::RegisterNeed::BesideResults);
    Builder builder(&getContext());
    module->setAttr(ttg::kMaxNRegAttrName, builder.getI32IntegerAttr(limit));
    ttg::allocateRegisters(module);
    bool suffices = llvm::all_of(ops, [&](ttg::WarpSpecializeOp op) {
      auto registers = op.getActualRegisters();
      return registers && registers->front() >= needed;
    });
    LDBG() << needed << " registers needed by the default group, "
           << (suffices ? "two blocks" : "one block");
    if (suffices) {
      ++numLimited;
      return;
    }
    module->removeAttr(ttg::kMaxNRegAttrName);
    ttg::allocateRegisters(module);
  }

  void setLimit(int64_t limit) {
    getOperation()->setAttr(ttg::kMaxNRegAttrName,
                            Builder(&getContext()).getI32IntegerAttr(limit));
    ++numLimited;
  }
};
} // namespace

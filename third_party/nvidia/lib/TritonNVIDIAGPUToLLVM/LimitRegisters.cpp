//===-- LimitRegisters.cpp - Registers that cost no block -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "nvidia/TargetModel.h"
#include "nvidia/TargetTable.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Analysis/Liveness.h"
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

/// What each block takes of shared memory besides its own; one block may have
/// all of a processor's but this.
static constexpr int64_t kReservedShared = 1024;
/// Without a limit ptxas makes as good a choice among up to so many registers.
static constexpr int64_t kLeastLimit = 128;
/// What addresses and counters of a loop take, beside its tensors.
static constexpr int64_t kScalars = 8;

/// How many registers a thread needs for a tensor of data. Indices, masks and
/// pointers are few numbers and constants, and so is what is splat.
static int64_t countRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *def = value.getDefiningOp();
  if (!type || (def && (def->hasTrait<mlir::OpTrait::ConstantLike>() ||
                        isa<SplatOp>(def))))
    return 0;
  Type element = type.getElementType();
  bool isLoaded = isa_and_nonnull<LoadOp, ttg::LocalLoadOp>(def);
  if (!element.isIntOrFloat() || element.isInteger(1) ||
      (element.isInteger() && element.getIntOrFloatBitWidth() >= 32 &&
       !isLoaded && !isa<ttg::NvidiaMmaEncodingAttr>(type.getEncoding())))
    return 0;
  int64_t bits = int64_t(ttg::toLinearLayout(type).getInDimSize(kRegister)) *
                 element.getIntOrFloatBitWidth();
  return llvm::divideCeil(bits, 32);
}

/// The most registers that tensors of data take at one time.
static int64_t countLiveRegisters(FunctionOpInterface function) {
  Liveness liveness(function);
  int64_t most = 0;
  for (Block &block : function.getFunctionBody()) {
    const LivenessBlockInfo *info = liveness.getLiveness(&block);
    for (Operation &op : block) {
      int64_t live = 0;
      // What an operation makes takes the place of what it uses up.
      for (Value value : info->currentlyLiveValues(&op))
        if (value.getDefiningOp() != &op)
          live += countRegisters(value);
      most = std::max(most, live);
    }
  }
  return most;
}

namespace {
struct LimitRegistersNV : nvidia::impl::LimitRegistersNVBase<LimitRegistersNV> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<const NVIDIATarget *> target = getNVIDIATarget(module);
    if (failed(target))
      return signalPassFailure();
    // Something else gave a limit, or parts of the kernel have their own.
    if (module->hasAttr(ttg::kMaxNRegAttrName) ||
        module->hasAttr(ttg::kTotalNumWarpsAttrName))
      return;
    auto shared = module->getAttrOfType<IntegerAttr>(ttg::kSharedAttrName);
    if (!shared)
      return;
    int64_t threads =
        ttg::lookupNumWarps(module) * ttg::lookupThreadsPerWarp(module);
    int64_t blocks = ((*target)->maxSharedMemory + kReservedShared) /
                     (shared.getInt() + kReservedShared);
    if (blocks == 0)
      return;
    const auto *model = nvidia::TargetModel::get((*target)->computeCapability);
    int64_t limit = model->getRegistersPerThread(threads * blocks);
    // All blocks that there is room for can have all the registers. Products of
    // warp groups make use of them; others got more without shorter loops.
    bool allOfThem = limit >= (*target)->maxRegistersPerThread;
    if ((*target)->hasWGMMA)
      return allOfThem ? setLimit(limit) : void();
    if (allOfThem || limit <= kLeastLimit)
      return;
    // Kernels of more than one product may need more than can be told.
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
    int64_t needed = countLiveRegisters(kernel) + kScalars;
    LDBG() << needed << " registers needed, " << limit << " for each of "
           << blocks << " blocks";
    if (needed <= kLeastLimit || needed > limit)
      return;
    setLimit(limit);
  }

private:
  void setLimit(int64_t limit) {
    getOperation()->setAttr(ttg::kMaxNRegAttrName,
                            Builder(&getContext()).getI32IntegerAttr(limit));
    ++numLimited;
  }
};
} // namespace

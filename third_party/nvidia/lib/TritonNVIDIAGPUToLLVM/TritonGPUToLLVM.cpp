//===-- TritonGPUToLLVM.cpp - Lowering to the LLVM dialect ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/AsyncSharedStore.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PackedArith.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetOptions.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TensorMemory.h"

#include "tile/Analysis/UnfinishedProducts.h"
#include "tile/Conversion/DebugToLLVM/Patterns.h"
#include "tile/Conversion/TritonGPUToLLVM/LowerModule.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/PixelDescriptors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_CONVERTTRITONGPUTOLLVM
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

namespace {
struct ConvertTritonGPUToLLVM
    : nvidia::impl::ConvertTritonGPUToLLVMBase<ConvertTritonGPUToLLVM> {
  using Base::Base;

  void runOnOperation() override {
    auto model = nvidia::resolveTarget(getOperation(), computeCapability);
    if (failed(model))
      return signalPassFailure();
    if (failed(checkPartitionsHavePlaces()) ||
        failed(verifyUnfinishedProducts(getOperation(), Selects::Read)))
      return signalPassFailure();
    // Text of others may still have them; ours has lost them with the layouts.
    nvidia_gpu::forgetPixelDescriptors(getOperation());
    nvidia::TargetInfo target(**model);
    if (failed(prepareSharedMemory(getOperation())) ||
        failed(reserveAddressOfTensorMemory()))
      return signalPassFailure();
    auto tensorMemory =
        nvidia::TensorMemoryUse::of(getOperation(), (*model)->getFacts());
    if (failed(tensorMemory))
      return signalPassFailure();
    auto populate = [&](const LoweringContext &own,
                        ConversionTarget &legality) {
      legality.addLegalDialect<NVVM::NVVMDialect>();
      // Stay, with their regions in LLVM, for convert-warp-specialize-to-llvm.
      legality.addDynamicallyLegalOp<ttg::WarpSpecializeOp, ttg::WarpYieldOp>(
          [&converter = own.converter](Operation *op) {
            return converter.isLegal(op);
          });
      legality.addLegalOp<ttg::WarpSpecializePartitionsOp, ttg::WarpReturnOp>();
      populateWarpSpecializePatterns(own);
      nvidia::populateMathPatterns(own, target);
      nvidia::populateFloatConversionPatterns(own, target);
      nvidia::populateExp2Patterns(own);
      nvidia::populateFp4ToFpPatterns(own);
      nvidia::populateAsyncCopyPatterns(own, target);
      nvidia::populateDotPatterns(own, target);
      nvidia::populateDotScaledPatterns(own, target);
      nvidia::populateWarpGroupDotPatterns(own, target);
      nvidia::populateAsyncSharedStorePatterns(own, target);
      nvidia::populatePackedArithPatterns(own);
      nvidia::populateBarrierPatterns(own, target, doBlocksMeet());
      nvidia::populateTMAPatterns(own, target);
      nvidia::populateTensorMemoryPatterns(own, target, *tensorMemory);
      nvidia::populateTensorMemoryAccessPatterns(own, target);
      nvidia::populateTensorMemoryCopyPatterns(own, target, *tensorMemory);
      nvidia::populateTensorCoreGen5Patterns(own, target, *tensorMemory);
      nvidia::populateClusterLaunchControlPatterns(own);
      debug::populateDebugPatterns(
          own, {"{ .reg .b32 mark; mov.b32 mark, 0; }", "//", "r", "l"});
    };
    if (failed(lowerModule(getOperation(), target, populate)))
      return signalPassFailure();
    nvidia::emitTensorMemoryFrames(getOperation(), target, *tensorMemory);
  }

private:
  /// Whether blocks arrive at barriers that other blocks have.
  bool doBlocksMeet() {
    return getOperation()
        .walk([](nvidia_gpu::ArriveBarrierOp op) {
          return op.getFromCTA() || op.getMulticastCTA()
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Text may say where buffers are in tensor memory, but not where its address
  /// is kept.
  LogicalResult reserveAddressOfTensorMemory() {
    ModuleOp module = getOperation();
    if (module->hasAttr(nvidia_gpu::kTensorMemoryAddressAttrName))
      return success();
    int64_t size =
        module->getAttrOfType<IntegerAttr>(ttg::kSharedAttrName).getInt();
    return nvidia::reserveTensorMemoryAddress(module, size);
  }

  LogicalResult checkPartitionsHavePlaces() {
    return failure(getOperation()
                       .walk([](ttg::WarpSpecializeOp op) {
                         if (op.getWarpGroupStartIds())
                           return WalkResult::advance();
                         op.emitError(
                             "the warps of its partitions have no places: run "
                             "-tritongpu-allocate-warp-groups first");
                         return WalkResult::interrupt();
                       })
                       .wasInterrupted());
  }
};
} // namespace

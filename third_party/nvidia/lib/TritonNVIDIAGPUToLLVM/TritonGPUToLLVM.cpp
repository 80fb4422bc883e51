//===-- TritonGPUToLLVM.cpp - Lowering to the LLVM dialect ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetOptions.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/Membar.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_CONVERTTRITONGPUTOLLVM
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

#define DEBUG_TYPE "convert-triton-gpu-to-llvm"

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

namespace {
struct ConvertTritonGPUToLLVM
    : nvidia::impl::ConvertTritonGPUToLLVMBase<ConvertTritonGPUToLLVM> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto model = nvidia::resolveTarget(module, computeCapability);
    if (failed(model))
      return signalPassFailure();
    nvidia::TargetInfo target(**model, ptxVersion
                                           ? int(ptxVersion)
                                           : (*model)->getFacts().ptxVersion);

    auto shared = module->getAttrOfType<IntegerAttr>(ttg::kSharedAttrName);
    if (!shared) {
      module.emitError("shared memory is not allocated: run "
                       "-allocate-shared-memory-nv first");
      return signalPassFailure();
    }
    if (failed(ttg::checkTensorsHaveLayouts(module)))
      return signalPassFailure();
    if (!ttg::maybeLookupNumWarps(module)) {
      module.emitError("expected a 'ttg.num-warps' attribute on the module");
      return signalPassFailure();
    }
    if (!module->hasAttr(kBarriersInsertedAttrName)) {
      module.emitError("barriers between accesses to shared memory are not "
                       "inserted: run -insert-memory-barriers first");
      return signalPassFailure();
    }
    bool hasPlaces =
        !module
             .walk([](ttg::WarpSpecializeOp op) {
               if (op.getWarpGroupStartIds())
                 return WalkResult::advance();
               op.emitError("the warps of its partitions have no places: run "
                            "-tritongpu-allocate-warp-groups first");
               return WalkResult::interrupt();
             })
             .wasInterrupted();
    if (!hasPlaces)
      return signalPassFailure();
    // A call passes the address of its share, even of none.
    bool hasCalls =
        module.walk([](triton::CallOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (shared.getInt() > 0 || hasCalls)
      declareSharedMemory(module, target.getSharedAddressSpace());
    module.walk(
        [](FunctionOpInterface function) { markRepeatedLoads(function); });
    ModuleAxisInfoAnalysis axisInfo(module);
    if (failed(lower(module, target, axisInfo)))
      return signalPassFailure();
    expandPackedTensors(module);
    module.walk([](LLVM::LLVMFuncOp function) {
      function->removeAttr("tile.shared_memory_argument");
    });
  }

  LogicalResult lower(ModuleOp module, const nvidia::TargetInfo &target,
                      const ModuleAxisInfoAnalysis &axisInfo) {
    MLIRContext *ctx = &getContext();
    LowerToLLVMOptions options(ctx);
    TritonGPUToLLVMTypeConverter converter(ctx, options,
                                           target.getSharedAddressSpace());
    RewritePatternSet patterns(ctx);
    LoweringContext common{converter, target, patterns, axisInfo, 10};
    populateElementwisePatterns(common);
    populateFloatConversionPatterns(common);
    populateInlineAsmPatterns(common);
    populateViewPatterns(common);
    populateFunctionPatterns(common);
    populateProgramPatterns(common);
    populateLoadStorePatterns(common);
    populateAtomicPatterns(common);
    populateMapElementwisePatterns(common);
    populateReducePatterns(common);
    populateScanPatterns(common);
    populateConvertLayoutPatterns(common);
    populateLocalMemoryPatterns(common);
    populateMemDescPatterns(common);
    populateGatherPatterns(common);
    populateHistogramPatterns(common);
    populateDebugPatterns(common);
    populateDotFMAPatterns(common);
    populateWarpSpecializePatterns(common);
    LoweringContext own{converter, target, patterns, axisInfo, 20};
    nvidia::populateMathPatterns(own, target);
    nvidia::populateFloatConversionPatterns(own, target);
    nvidia::populateFp4ToFpPatterns(own);
    nvidia::populateAsyncCopyPatterns(own, target);
    nvidia::populateDotPatterns(own, target);
    nvidia::populateWarpGroupDotPatterns(own, target);
    nvidia::populateBarrierPatterns(own);
    nvidia::populateTMAPatterns(own);
    // What is left are scalars.
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);

    ConversionTarget legality(*ctx);
    legality.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
    legality.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
    legality.addIllegalDialect<triton::TritonDialect, ttg::TritonGPUDialect,
                               nvidia_gpu::TritonNvidiaGPUDialect,
                               arith::ArithDialect, math::MathDialect,
                               cf::ControlFlowDialect, ub::UBDialect,
                               ::mlir::gpu::GPUDialect>();
    // Stay, with their regions in LLVM, for convert-warp-specialize-to-llvm.
    legality.addDynamicallyLegalOp<ttg::WarpSpecializeOp, ttg::WarpYieldOp>(
        [&](Operation *op) { return converter.isLegal(op); });
    legality.addLegalOp<ttg::WarpSpecializePartitionsOp, ttg::WarpReturnOp>();
    // What nobody here knows of is an error, too.
    legality.markUnknownOpDynamicallyLegal([](Operation *) { return false; });

    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    ScopedDiagnosticHandler explain(ctx, [&](Diagnostic &diagnostic) {
      target.getDeclineReasons().attachTo(diagnostic);
      return failure(); // on to the next handler
    });
    return applyPartialConversion(module, legality, std::move(patterns),
                                  config);
  }
};
} // namespace

//===-- LLIR.cpp - tile-nvidia-llir ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Pipelines/Pipelines.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildLLIRPipeline(OpPassManager &pm, const LLIROptions &options) {
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(nvidia_gpu::createTritonTensorMemoryAllocation());
  pm.addPass(gpu::createTritonGPUGlobalScratchMemoryAllocation());
  AllocateSharedMemoryNVOptions allocate;
  allocate.computeCapability = options.computeCapability;
  allocate.ptxVersion = options.ptxVersion;
  pm.addPass(createAllocateSharedMemoryNV(allocate));
  ConvertTritonGPUToLLVMOptions convert;
  convert.computeCapability = options.computeCapability;
  convert.ptxVersion = options.ptxVersion;
  pm.addPass(createConvertTritonGPUToLLVM(convert));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSymbolDCEPass());
  if (!options.lineInfo)
    return;
  // Anything more than directives makes ptxas switch optimisation off.
  LLVM::DIScopeForLLVMFuncOpPassOptions debugInfo;
  debugInfo.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(debugInfo));
}

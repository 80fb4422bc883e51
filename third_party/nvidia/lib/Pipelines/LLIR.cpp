//===-- LLIR.cpp - tile-nvidia-llir ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Pipelines/Pipelines.h"
#include "nvidia/TargetTable.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildAllocationPipeline(const PassAdder &add,
                                     const LLIROptions &options) {
  add(createRollFMADots());
  add(gpu::createTritonGPULegalizeCollectives());
  // While loops still tell where pointers come from.
  add(createLoadDecisionsOnce());
  add(createInsertReplicaBarriers());
  add(createTritonBoundLoopCounters());
  add(createSCFToControlFlowPass());
  // Where nobody says the machine, the module does, when passes run.
  const NVIDIATarget *target = lookupNVIDIATarget(options.computeCapability);
  if (!target || target->hasTensorMemory) {
    add(nvidia_gpu::createTritonNvidiaCheckMatmulTwoCTA());
    add(nvidia_gpu::createTritonTensorMemoryAllocation());
  }
  add(gpu::createTritonGPUGlobalScratchMemoryAllocation());
  add(gpu::createTritonGPUAllocateWarpGroups());
  add(nvidia_gpu::createTritonNvidiaGPUDeriveWaitCounts());
  AllocateSharedMemoryNVOptions allocate;
  allocate.computeCapability = options.computeCapability;
  add(createAllocateSharedMemoryNV(allocate));
}

void nvidia::buildLLIRPipeline(const PassAdder &add,
                               const LLIROptions &options) {
  add.at(ExtensionPoint::LLIRStart);
  buildAllocationPipeline(add, options);
  add(createLimitRegistersNV());
  add(createInsertMemoryBarriers());
  add.at(ExtensionPoint::BeforeLowering);
  ConvertTritonGPUToLLVMOptions convert;
  convert.computeCapability = options.computeCapability;
  add(createConvertTritonGPUToLLVM(convert));
  add(createConvertWarpSpecializeToLLVM());
  add(createPrefetchTensorMapsNV());
  add(createCanonicalizerPass());
  add(createCSEPass());
  add(createSymbolDCEPass());
  add.at(ExtensionPoint::LLIREnd);
  if (!options.lineInfo)
    return;
  // Anything more than directives makes ptxas switch optimisation off.
  LLVM::DIScopeForLLVMFuncOpPassOptions debugInfo;
  debugInfo.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  add(LLVM::createDIScopeForLLVMFuncOpPass(debugInfo));
}

//===-- LLIR.cpp - tile-amd-llir ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/Pipelines/Pipelines.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void amd::buildLLIRPipeline(const PassAdder &add, const LLIROptions &options) {
  add.at(ExtensionPoint::LLIRStart);
  add(createTritonAMDGPUExpandOps());
  // While loops still hand on tokens.
  add(createTritonAMDGPUUpdateAsyncWaitCount());
  add(createRollFMADots());
  add(gpu::createTritonGPULegalizeCollectives());
  // While loops still tell where pointers come from.
  add(createLoadDecisionsOnce());
  add(createInsertReplicaBarriers());
  add(createTritonBoundLoopCounters());
  add(createSCFToControlFlowPass());
  add(gpu::createTritonGPUGlobalScratchMemoryAllocation());
  add(createAllocateSharedMemory());
  add(createInsertMemoryBarriers());
  add.at(ExtensionPoint::BeforeLowering);
  add(createLowerInstructionSchedHints());
  add(createConvertTritonAMDGPUToLLVM());
  add(createCanonicalizerPass());
  add(createCSEPass());
  add(createSymbolDCEPass());
  add.at(ExtensionPoint::LLIREnd);
  if (!options.lineInfo)
    return;
  LLVM::DIScopeForLLVMFuncOpPassOptions debugInfo;
  debugInfo.emissionKind = LLVM::DIEmissionKind::LineTablesOnly;
  add(LLVM::createDIScopeForLLVMFuncOpPass(debugInfo));
}

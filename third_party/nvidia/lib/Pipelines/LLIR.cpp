//===-- LLIR.cpp - tile-nvidia-llir ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedPasses.h"
#include "nvidia/Pipelines/Pipelines.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildLLIRPipeline(OpPassManager &pm, const LLIROptions &options) {
  addIfBuilt(pm, "tritongpu-allocate-warp-groups");
  pm.addPass(createSCFToControlFlowPass());
  addIfBuilt(pm, "triton-tensor-memory-allocation");
  addIfBuilt(pm, "tritongpu-global-scratch-memory-allocation");
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
  if (options.lineInfo)
    // Anything more than directives makes ptxas switch optimisation off.
    addPasses(pm, "ensure-debug-info-scope-on-llvm-func{emission-kind="
                  "DebugDirectivesOnly}");
}

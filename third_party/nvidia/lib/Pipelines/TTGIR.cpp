//===-- TTGIR.cpp - tile-nvidia-ttgir -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Pipelines/Pipelines.h"

#include "tile/Conversion/TritonToTritonGPU/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildTTGIRPipeline(OpPassManager &pm,
                                const TTGIROptions &options) {
  // Until descriptors are lowered to TMA, they are pointers like others.
  pm.addPass(createTritonRewriteTensorDescriptorToPointer());
  ConvertTritonToTritonGPUOptions convert;
  convert.target = options.target;
  convert.numWarps = options.numWarps;
  convert.threadsPerWarp = 32;
  convert.numCTAs = options.numCTAs;
  pm.addPass(createConvertTritonToTritonGPU(convert));

  // Layouts: of memory accesses first, then of matrix products.
  pm.addPass(gpu::createTritonGPUCoalesce());
  pm.addPass(gpu::createTritonGPUF32DotTC());
  pm.addPass(gpu::createTritonGPURemoveLayoutConversions());
  pm.addPass(gpu::createTritonGPUOptimizeThreadLocality());
  pm.addPass(gpu::createTritonGPUAccelerateMatmul());
  pm.addPass(gpu::createTritonGPURemoveLayoutConversions());
  pm.addPass(gpu::createTritonGPUOptimizeDotOperands());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createTritonLoopAwareCSE());

  // Loops.
  pm.addPass(createTritonLICM());
  pm.addPass(gpu::createTritonGPUCombineTensorSelectAndIf());
  gpu::TritonGPUAssignLatenciesOptions latencies;
  latencies.numStages = options.numStages;
  pm.addPass(gpu::createTritonGPUAssignLatencies(latencies));
  pm.addPass(gpu::createTritonGPUScheduleLoops());
  pm.addPass(gpu::createTritonGPUPipeline());

  // Clean up.
  pm.addPass(gpu::createTritonGPUCoalesceAsyncCopy());
  pm.addPass(gpu::createTritonGPURemoveLayoutConversions());
  pm.addPass(gpu::createTritonGPUReduceDataDuplication());
  pm.addPass(gpu::createTritonGPUReorderInstructions());
  pm.addPass(createTritonLoopAwareCSE());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
}

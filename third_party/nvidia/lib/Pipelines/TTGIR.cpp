//===-- TTGIR.cpp - tile-nvidia-ttgir -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Pipelines/Pipelines.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "nvidia/TargetTable.h"
#include "tile/Conversion/TritonToTritonGPU/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

/// Whether descriptors may become TMA copies.
static bool hasTMA(const nvidia::TTGIROptions &options) {
  if (!options.tma)
    return false;
  std::optional<int> number = parseNVIDIATargetString(options.target);
  const NVIDIATarget *target = number ? lookupNVIDIATarget(*number) : nullptr;
  return target && target->hasTMA;
}

/// Whether warps can hand buffers to each other, and registers, too.
static bool canSpecializeWarps(const nvidia::TTGIROptions &options) {
  std::optional<int> number = parseNVIDIATargetString(options.target);
  const NVIDIATarget *target = number ? lookupNVIDIATarget(*number) : nullptr;
  return target && target->hasWGMMA;
}

void nvidia::buildTTGIRPipeline(OpPassManager &pm,
                                const TTGIROptions &options) {
  PassAdder add(pm, options);
  // Descriptors that TMA does not serve are pointers like others.
  bool useTMA = hasTMA(options);
  if (useTMA) {
    nvidia_gpu::TritonNvidiaOptimizeDescriptorEncodingOptions descriptors;
    descriptors.leaveToPointers = true;
    descriptors.numCTAs = options.numCTAs;
    add(nvidia_gpu::createTritonNvidiaOptimizeDescriptorEncoding(descriptors));
  }
  add(createTritonRewriteTensorDescriptorToPointer());
  ConvertTritonToTritonGPUOptions convert;
  convert.target = options.target;
  convert.numWarps = options.numWarps;
  convert.numCTAs = options.numCTAs;
  add(createConvertTritonToTritonGPU(convert));
  add(createCheckTargetNV());

  // Layouts: of memory accesses first, then of matrix products.
  add(gpu::createTritonGPUCoalesce());
  add(gpu::createTritonGPUF32DotTC());
  add(gpu::createTritonGPURemoveLayoutConversions());
  add(gpu::createTritonGPUAccelerateMatmul());
  add(createReadBytesAcrossNV());
  add(gpu::createTritonGPURemoveLayoutConversions());
  add(gpu::createTritonGPUOptimizeThreadLocality());
  add(gpu::createTritonGPUOptimizeDotOperands());
  add(createCanonicalizerPass());
  add(createTritonLoopAwareCSE());

  // Loops.
  gpu::TritonGPUAutomaticWarpSpecializationOptions specialization;
  specialization.numStages = options.numStages;
  specialization.supported = canSpecializeWarps(options);
  add(gpu::createTritonGPUAutomaticWarpSpecialization(specialization));
  add(gpu::createTritonGPUFuseNestedLoops());
  add(createTritonLICM());
  add(gpu::createTritonGPUCombineTensorSelectAndIf());
  gpu::TritonGPUAssignLatenciesOptions latencies;
  latencies.numStages = options.numStages;
  add(gpu::createTritonGPUAssignLatencies(latencies));
  add(gpu::createTritonGPUScheduleLoops());
  add(gpu::createTritonGPUPipeline());
  if (options.prefetch)
    add(gpu::createTritonGPUPrefetch());
  if (useTMA)
    add(nvidia_gpu::createTritonNvidiaTMALowering());

  // Clean up.
  add(gpu::createTritonGPUCoalesceAsyncCopy());
  add(nvidia_gpu::createTritonNvidiaOptimizeAtomics());
  add(gpu::createTritonGPURemoveLayoutConversions());
  add(gpu::createTritonGPUReduceDataDuplication());
  add(gpu::createTritonGPUReorderInstructions());
  add(createTritonLoopAwareCSE());
  add(createSymbolDCEPass());
  add(createCSEPass());
  add(createCanonicalizerPass());
  // The canonical form of a branch that only chooses is a select; on registers
  // by the dozen, the branch is better.
  add(gpu::createTritonGPUCombineTensorSelectAndIf());
  add(gpu::createTritonGPUOptimizeAccumulatorInit());
  if (useTMA)
    add(nvidia_gpu::createTritonNvidiaOverlapStores());
  nvidia_gpu::TritonNvidiaGPUFenceInsertionOptions fences;
  fences.afterAsyncCopies = true;
  add(nvidia_gpu::createTritonNvidiaGPUFenceInsertion(fences));
}

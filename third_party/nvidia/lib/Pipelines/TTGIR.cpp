//===-- TTGIR.cpp - tile-nvidia-ttgir -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MiddleEnd.h"
#include "nvidia/Pipelines/Pipelines.h"
#include "nvidia/ScaledMma.h"
#include "nvidia/TargetTable.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Conversion/TritonToTritonGPU/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildTTGIRPipeline(const PassAdder &add,
                                const TTGIROptions &options) {
  std::optional<int> number = parseNVIDIATargetString(options.target);
  const NVIDIATarget *target = number ? lookupNVIDIATarget(*number) : nullptr;
  bool useTMA = options.tma && target && target->hasTMA;
  bool hasTensorMemory = target && target->hasTensorMemory;
  // Before descriptors get layouts: those of pointers do, too.
  if (useTMA && options.raisePointers != "none" && options.numCTAs == 1) {
    TritonRaisePointersToDescriptorsOptions raising;
    raising.onlyChains = options.raisePointers == "chains";
    raising.numWarps = options.numWarps;
    raising.numStages = options.numStages;
    raising.launchMaps = options.launchMaps;
    if (target->hasWGMMA && options.specializeWarps)
      raising.registers = target->registersPerSM;
    add(createTritonRaisePointersToDescriptors(raising));
    add(createCanonicalizerPass());
    add(createCSEPass());
  }
  // Before descriptors get layouts, too: their blocks become smaller.
  if (hasTensorMemory && options.tensorMemory && options.tma &&
      options.specializeWarps && options.rowGroups != 1) {
    ChooseRowGroupsNVOptions choice;
    choice.numWarps = options.numWarps;
    choice.numCTAs = options.numCTAs;
    choice.wherePossible = options.rowGroups == 2;
    add(createChooseRowGroupsNV(choice));
    add(createTritonSplitRows());
  }
  bool scalesInTensorMemory =
      hasTensorMemory && options.tensorMemory && options.numCTAs == 1;
  if (scalesInTensorMemory || (target && target->hasBlockScaledMma)) {
    PackAlongKNVOptions packing;
    if (!scalesInTensorMemory) {
      packing.leastRows = ScaledMma::m;
      packing.leastColumns = ScaledMma::n;
      packing.leastPackedK = packing.leastK;
    }
    add(createPackAlongKNV(packing));
  }
  // Descriptors that TMA does not serve are pointers like others.
  if (useTMA) {
    nvidia_gpu::TritonNvidiaOptimizeDescriptorEncodingOptions descriptors;
    descriptors.leaveToPointers = true;
    descriptors.numCTAs = options.numCTAs;
    descriptors.launchMaps = options.launchMaps;
    descriptors.forTensorMemory = hasTensorMemory && options.tensorMemory;
    add(nvidia_gpu::createTritonNvidiaOptimizeDescriptorEncoding(descriptors));
  }
  add(createTritonRewriteTensorDescriptorToPointer());
  ConvertTritonToTritonGPUOptions convert;
  convert.target = options.target;
  convert.numWarps = options.numWarps;
  convert.numCTAs = options.numCTAs;
  add(createConvertTritonToTritonGPU(convert));
  add(createCheckTargetNV());

  if (hasTensorMemory && options.tensorMemory && options.numCTAs > 1)
    add(createPlanBlockPairsNV());
  NVIDIAMiddleEnd middle(
      add, {.numStages = options.numStages,
            .prefetch = options.prefetch,
            .useTMA = useTMA,
            .useTensorMemory = hasTensorMemory && options.tensorMemory,
            .sumsInRegisters = hasTensorMemory && !options.tensorMemory,
            .specializeWarps = options.specializeWarps,
            .partitionCorrections = options.correctionGroup,
            .clc = options.clc,
            .canSpecializeWarps =
                target && (target->hasWGMMA ||
                           (hasTensorMemory && options.tensorMemory))});
  middle.buildLayouts();
  middle.buildLoops();
  middle.buildCopies();
  if (hasTensorMemory && options.tensorMemory && options.exp2Polynomial)
    add(createExp2ByPolynomialNV());
  // A loop over programs ends where none is left. Of other kernels, all is
  // repeated, with all barriers.
  if (options.clc) {
    add(nvidia_gpu::createTritonNvidiaGPUToCLC());
    add(nvidia_gpu::createTritonNvidiaGPULowerCLC());
  }
  if (useTMA || (hasTensorMemory && options.tensorMemory))
    add(nvidia_gpu::createTritonNvidiaGPUHoistMbarrierLifecycle());
}

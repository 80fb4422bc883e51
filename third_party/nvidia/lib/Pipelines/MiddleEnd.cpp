//===-- MiddleEnd.cpp - What NVIDIA GPUs add to the middle ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MiddleEnd.h"

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia;

void NVIDIAMiddleEnd::addMatrixInstructions() {
  if (options.sumsInRegisters)
    add(createAccelerateMatmulInRegistersNV());
  else
    MiddleEnd::addMatrixInstructions();
  add(createReadBytesAcrossNV());
}

void NVIDIAMiddleEnd::addSumsOfLoops() {
  add(createVersionPaddedLoopsNV());
  if (!options.useTensorMemory)
    return;
  add(nvidia_gpu::createTritonGPUHoistTMEMAlloc());
  add(nvidia_gpu::createTritonGPUPromoteLHSToTMEM());
}

void NVIDIAMiddleEnd::addWarpSpecialization() {
  bool chooses =
      options.useTensorMemory && options.useTMA && options.specializeWarps;
  bool mayLoop = options.clc && options.useTensorMemory;
  if (mayLoop) {
    nvidia_gpu::TritonNvidiaMakeProgramLoopOptions programs;
    programs.onlyMarked = !chooses;
    add(nvidia_gpu::createTritonNvidiaMakeProgramLoop(programs));
  }
  if (chooses) {
    nvidia_gpu::TritonNvidiaChooseWarpSpecializationOptions choice;
    choice.numStages = options.numStages;
    add(nvidia_gpu::createTritonNvidiaChooseWarpSpecialization(choice));
  }
  gpu::TritonGPUAutomaticWarpSpecializationOptions specialization;
  specialization.numStages = options.numStages;
  specialization.supported = options.canSpecializeWarps;
  add(gpu::createTritonGPUAutomaticWarpSpecialization(specialization));
  if (options.useTensorMemory && options.partitionCorrections)
    add(nvidia_gpu::createTritonNvidiaPartitionCorrections());
  if (mayLoop)
    add(nvidia_gpu::createTritonNvidiaInlineProgramLoop());
  if (options.useTensorMemory) {
    add(nvidia_gpu::createTritonNvidiaScaleSumsInParts());
    add(nvidia_gpu::createTritonNvidiaStartDotsAhead());
  }
}

void NVIDIAMiddleEnd::addLoopFollowUp() {
  if (options.prefetch)
    add(gpu::createTritonGPUPrefetch());
}

void NVIDIAMiddleEnd::addCopyLowering() {
  if (isExplicit) {
    // Descriptors of the host become parameters, others are made here.
    nvidia_gpu::TritonNvidiaOptimizeDescriptorEncodingOptions descriptors;
    descriptors.leaveToPointers = true;
    add(nvidia_gpu::createTritonNvidiaOptimizeDescriptorEncoding(descriptors));
  }
  if (isExplicit || options.useTMA)
    add(nvidia_gpu::createTritonNvidiaTMALowering());
  // Explicit programs say the layouts of their copies.
  if (!isExplicit)
    add(gpu::createTritonGPUCoalesceAsyncCopy());
  if (options.useTensorMemory) {
    add(nvidia_gpu::createTritonNvidiaOptimizeTMEMLayouts());
    add(createTritonNvidiaTMEMLoadReduce());
  }
}

void NVIDIAMiddleEnd::addEpilogue() {
  add(nvidia_gpu::createTritonNvidiaOptimizeAtomics());
}

void NVIDIAMiddleEnd::addLast() {
  if (!isExplicit) {
    add(gpu::createTritonGPUOptimizeAccumulatorInit());
    if (options.useTMA)
      add(nvidia_gpu::createTritonNvidiaOverlapStores());
  }
  // Explicit programs wait for what they start.
  if (options.useTensorMemory) {
    add(nvidia_gpu::createTritonNvidiaFoldTMEMConversions());
    add(nvidia_gpu::createTritonNvidiaInterleaveTMEM());
    add(nvidia_gpu::createTritonNvidiaMMALowering());
    add(nvidia_gpu::createTritonNvidiaCopyScales());
    add(createCSEPass());
  }
  // A fence that the program has already is not made again.
  nvidia_gpu::TritonNvidiaGPUFenceInsertionOptions fences;
  fences.afterAsyncCopies = true;
  add(nvidia_gpu::createTritonNvidiaGPUFenceInsertion(fences));
}

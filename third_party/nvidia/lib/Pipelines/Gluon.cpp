//===-- Gluon.cpp - tile-nvidia-gluon -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Pipelines/Pipelines.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Dialect/Gluon/Transforms/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildGluonPipeline(OpPassManager &pm,
                                const GluonOptions &options) {
  PassAdder add(pm, options);
  add(gluon::createGluonInline());
  add(createCheckTargetNV());

  // Layouts that were left open.
  add(gluon::createGluonInferCoalescedEncodings());
  add(gluon::createGluonResolveAutoEncodings());

  // Descriptors: those of the host become parameters, others are made here.
  nvidia_gpu::TritonNvidiaOptimizeDescriptorEncodingOptions descriptors;
  descriptors.leaveToPointers = true;
  add(nvidia_gpu::createTritonNvidiaOptimizeDescriptorEncoding(descriptors));
  add(nvidia_gpu::createTritonNvidiaTMALowering());

  // Clean up.
  add(gluon::createGluonCanonicalize());
  add(createSCCPPass());
  add(createTritonLoopAwareCSE());
  add(gluon::createGluonCanonicalize());
  add(gpu::createTritonGPUCombineTensorSelectAndIf());
  add(createSymbolDCEPass());

  // A fence that the program has already is not made again.
  nvidia_gpu::TritonNvidiaGPUFenceInsertionOptions fences;
  fences.afterAsyncCopies = true;
  add(nvidia_gpu::createTritonNvidiaGPUFenceInsertion(fences));
}

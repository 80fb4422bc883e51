//===-- Gluon.cpp - tile-nvidia-gluon -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MiddleEnd.h"
#include "nvidia/Pipelines/Pipelines.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Dialect/Gluon/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildGluonPipeline(const PassAdder &add,
                                const GluonOptions &options) {
  add(gluon::createGluonInline());
  add(createCheckTargetNV());
  buildOpenLayouts(add);
  add(nvidia_gpu::createTritonNvidiaGPUClusterBarrierAfterInit());
  add(nvidia_gpu::createTritonNvidiaGPUClusterSharedMemory());
  add(nvidia_gpu::createTritonNvidiaGPUClusterBarrierAtEnd());
  NVIDIAMiddleEnd(add, {.isExplicit = true}).buildCopies();
}

//===-- Loops.cpp - The part of the middle that changes loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/MiddleEnd/MiddleEnd.h"

#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void MiddleEnd::buildLoops() {
  assert(!isExplicit && "explicit programs have the loops they want");
  add.at(ExtensionPoint::LoopsStart);
  addSumsOfLoops();
  addWarpSpecialization();
  add(gpu::createTritonGPUFuseNestedLoops());
  add(createTritonLICM());
  add(gpu::createTritonGPUCombineTensorSelectAndIf());
  gpu::TritonGPUAssignLatenciesOptions latencies;
  latencies.numStages = numStages;
  add(gpu::createTritonGPUAssignLatencies(latencies));
  add(gpu::createTritonGPUScheduleLoops());
  addLoopPreparation();
  add(gpu::createTritonGPUPipeline());
  addLoopFollowUp();
}

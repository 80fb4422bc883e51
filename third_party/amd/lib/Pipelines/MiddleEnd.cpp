//===-- MiddleEnd.cpp - What AMD GPUs add to the middle -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MiddleEnd.h"

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;

void AMDMiddleEnd::addMatrixInstructions() {
  TritonAMDGPUAccelerateMatmulOptions products;
  products.matrixInstructionSize = options.matrixInstructionSize;
  products.kPack = options.kPack;
  add(createTritonAMDGPUAccelerateMatmul(products));
  add(createTritonAMDGPUInThreadTranspose());
}

void AMDMiddleEnd::addLoopPreparation() {
  TritonAMDGPUStreamPipelineOptions stream;
  stream.useAsyncCopy = options.useAsyncCopy;
  stream.numStages = numStages;
  add(createTritonAMDGPUStreamPipeline(stream));
}

void AMDMiddleEnd::addCopyLowering() {
  // Explicit programs say the layouts of their copies, and schedule themselves.
  if (isExplicit)
    return;
  if (target && target->hasTensorCopies)
    add(createTritonAMDGPULowerTensorCopies());
  TritonAMDGPUInsertInstructionSchedHintsOptions hints;
  hints.variant = options.scheduleHint;
  add(createTritonAMDGPUInsertInstructionSchedHints(hints));
}

void AMDMiddleEnd::addEpilogue() { add(createTritonAMDGPUOptimizeEpilogue()); }

void AMDMiddleEnd::addAddresses() {
  add(createTritonAMDGPUCanonicalizePointers());
  add(createCanonicalizerPass());
  add(createTritonLICM());
  add(createLoadDecisionsOnce());
  add(createTritonAMDGPUConvertBufferOps());
}

void AMDMiddleEnd::addLast() {
  // The order of operations, which nothing changes from here on.
  if (isExplicit || !target || !target->usesBlockPingpong)
    return;
  TritonAMDGPUBlockPingpongOptions turns;
  turns.numStages = numStages;
  turns.priorities = options.useBlockPingpong;
  add(createTritonAMDGPUBlockPingpong(turns));
}

//===-- TTGIR.cpp - tile-amd-ttgir ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/Pipelines/Pipelines.h"
#include "amd/TargetTable.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Conversion/TritonToTritonGPU/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void amd::buildTTGIRPipeline(OpPassManager &pm, const TTGIROptions &options) {
  PassAdder add(pm, options);
  StringRef name = options.target;
  name.consume_front("hip:");
  const AMDTarget *target = lookupAMDTarget(name);
  if (target && target->hasTensorCopies)
    add(createTritonAMDGPUChooseTensorCopies());
  add(createTritonRewriteTensorDescriptorToPointer());
  ConvertTritonToTritonGPUOptions convert;
  convert.target = options.target;
  convert.numWarps = options.numWarps;
  add(createConvertTritonToTritonGPU(convert));
  add(createCheckTargetAMD());
  add(createTritonAMDGPUFoldTrueCmpI());
  add(createCanonicalizerPass());

  // Layouts: of memory accesses first, then of matrix products.
  add(gpu::createTritonGPUCoalesce());
  add(gpu::createTritonGPUF32DotTC());
  add(gpu::createTritonGPURemoveLayoutConversions());
  TritonAMDGPUAccelerateMatmulOptions products;
  products.matrixInstructionSize = options.matrixInstructionSize;
  products.kPack = options.kPack;
  add(createTritonAMDGPUAccelerateMatmul(products));
  add(createTritonAMDGPUInThreadTranspose());
  add(gpu::createTritonGPURemoveLayoutConversions());
  add(gpu::createTritonGPUOptimizeThreadLocality());
  add(gpu::createTritonGPUOptimizeDotOperands());
  add(createCanonicalizerPass());
  add(createTritonLoopAwareCSE());

  // Loops.
  add(gpu::createTritonGPUFuseNestedLoops());
  add(createTritonLICM());
  add(gpu::createTritonGPUCombineTensorSelectAndIf());
  gpu::TritonGPUAssignLatenciesOptions latencies;
  latencies.numStages = options.numStages;
  add(gpu::createTritonGPUAssignLatencies(latencies));
  add(gpu::createTritonGPUScheduleLoops());
  TritonAMDGPUStreamPipelineOptions stream;
  stream.useAsyncCopy = options.useAsyncCopy;
  stream.numStages = options.numStages;
  add(createTritonAMDGPUStreamPipeline(stream));
  add(gpu::createTritonGPUPipeline());
  add(createTritonAMDGPUCoalesceAsyncCopy());
  if (target && target->hasTensorCopies) {
    TritonAMDGPUPipelineTensorCopiesOptions copies;
    copies.numStages = options.numStages;
    add(createTritonAMDGPUPipelineTensorCopies(copies));
    add(createTritonAMDGPULowerTensorCopies());
  }
  TritonAMDGPUInsertInstructionSchedHintsOptions hints;
  hints.variant = options.scheduleHint;
  add(createTritonAMDGPUInsertInstructionSchedHints(hints));

  // Clean up.
  add(createTritonAMDGPUOptimizeEpilogue());
  add(gpu::createTritonGPURemoveLayoutConversions());
  add(gpu::createTritonGPUReduceDataDuplication());
  add(gpu::createTritonGPUReorderInstructions());

  // Addresses.
  add(createTritonAMDGPUCanonicalizePointers());
  add(createCanonicalizerPass());
  add(createTritonLICM());
  add(createTritonAMDGPUConvertBufferOps());

  add(createTritonLoopAwareCSE());
  add(createSymbolDCEPass());
  add(createCSEPass());
  add(createCanonicalizerPass());
  // The canonical form of a branch that only chooses is a select; on registers
  // by the dozen, the branch is better.
  add(gpu::createTritonGPUCombineTensorSelectAndIf());

  // The order of operations, which nothing changes from here on.
  if (target && target->usesBlockPingpong) {
    TritonAMDGPUBlockPingpongOptions turns;
    turns.numStages = options.numStages;
    turns.priorities = options.useBlockPingpong;
    add(createTritonAMDGPUBlockPingpong(turns));
  }
}

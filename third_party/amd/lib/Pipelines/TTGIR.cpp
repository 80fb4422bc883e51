//===-- TTGIR.cpp - tile-amd-ttgir ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MiddleEnd.h"
#include "amd/Pipelines/Pipelines.h"
#include "amd/TargetTable.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Conversion/TritonToTritonGPU/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void amd::buildTTGIRPipeline(const PassAdder &add,
                             const TTGIROptions &options) {
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

  AMDMiddleEnd middle(add, options, target);
  middle.buildLayouts();
  middle.buildLoops();
  middle.buildCopies();
}

//===-- TTIR.cpp - tile-nvidia-ttir ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Pipelines/Pipelines.h"

#include "tile/Dialect/Triton/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildTTIRPipeline(OpPassManager &pm, const TTIROptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createTritonRewriteTensorPointer());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createTritonCombine());
  pm.addPass(createTritonReorderBroadcast());
  pm.addPass(createCSEPass());
  pm.addPass(createTritonLICM());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createTritonLoopUnroll());
}

//===-- TTIR.cpp - tile-nvidia-ttir ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PassAdder.h"

#include "nvidia/Pipelines/Pipelines.h"

#include "tile/Dialect/Triton/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildTTIRPipeline(OpPassManager &pm, const TTIROptions &options) {
  PassAdder add(pm, options);
  add(createInlinerPass());
  add(createTritonCheckOffsets());
  add(createTritonRewriteTensorPointer());
  add(createCanonicalizerPass());
  add(createTritonCombine());
  add(createTritonReorderBroadcast());
  add(createTritonUnsignedIndices());
  add(createCSEPass());
  add(createTritonLICM());
  add(createSymbolDCEPass());
  add(createTritonLoopUnroll());
}

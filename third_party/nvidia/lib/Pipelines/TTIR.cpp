//===-- TTIR.cpp - tile-nvidia-ttir ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedPasses.h"
#include "nvidia/Pipelines/Pipelines.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildTTIRPipeline(OpPassManager &pm, const TTIROptions &options) {
  pm.addPass(createInlinerPass());
  addIfBuilt(pm, "triton-rewrite-tensor-pointer");
  pm.addPass(createCanonicalizerPass());
  addIfBuilt(pm, "triton-combine");
  addIfBuilt(pm, "triton-reorder-broadcast");
  pm.addPass(createCSEPass());
  addIfBuilt(pm, "triton-licm");
  pm.addPass(createSymbolDCEPass());
  addIfBuilt(pm, "triton-loop-unroll");
}

//===-- TTGIR.cpp - tile-nvidia-ttgir -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedPasses.h"
#include "nvidia/Pipelines/Pipelines.h"

#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::buildTTGIRPipeline(OpPassManager &pm,
                                const TTGIROptions &options) {
  addIfBuilt(pm, "triton-rewrite-tensor-descriptor-to-pointer");
  addPasses(pm, llvm::formatv("convert-triton-to-tritongpu{{target={0} "
                              "num-warps={1} threads-per-warp=32 num-ctas={2}}",
                              options.target.getValue(),
                              options.numWarps.getValue(),
                              options.numCTAs.getValue())
                    .str());
  addIfBuilt(pm, "tritongpu-coalesce");
  addIfBuilt(pm, "tritongpu-F32DotTC");
  addIfBuilt(pm, "tritongpu-remove-layout-conversions");
  addIfBuilt(pm, "tritongpu-optimize-thread-locality");
  addIfBuilt(pm, "tritongpu-accelerate-matmul");
  addIfBuilt(pm, "tritongpu-remove-layout-conversions");
  addIfBuilt(pm, "tritongpu-optimize-dot-operands");
  pm.addPass(createCanonicalizerPass());
  addIfBuilt(pm, "triton-loop-aware-cse");
  addIfBuilt(pm, "tritongpu-fuse-nested-loops");
  pm.addPass(createCanonicalizerPass());
  addIfBuilt(pm, "triton-licm");
  addIfBuilt(pm, "tritongpu-optimize-accumulator-init");
  addIfBuilt(pm, "tritongpu-combine-tensor-select-and-if");
  if (PassInfo::lookup("tritongpu-assign-latencies"))
    addPasses(pm, llvm::formatv("tritongpu-assign-latencies{{num-stages={0}}",
                                options.numStages.getValue())
                      .str());
  addIfBuilt(pm, "tritongpu-schedule-loops");
  addIfBuilt(pm, "tritongpu-pipeline");
  addIfBuilt(pm, "tritongpu-prefetch");
  addIfBuilt(pm, "tritongpu-coalesce-async-copy");
  addIfBuilt(pm, "tritongpu-remove-layout-conversions");
  addIfBuilt(pm, "tritongpu-reduce-data-duplication");
  addIfBuilt(pm, "tritongpu-reorder-instructions");
  addIfBuilt(pm, "triton-loop-aware-cse");
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
}

//===-- Pipelines.cpp - The stages by name --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Pipelines/Pipelines.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::registerPipelines() {
  registerStage<TTIROptions>("tile-nvidia-ttir", "Inlined, canonical tt",
                             buildTTIRPipeline);
  registerStage<TTGIROptions>("tile-nvidia-ttgir", "tt to optimised ttg",
                              buildTTGIRPipeline);
  registerStage<GluonOptions>(
      "tile-nvidia-gluon", "ttg of explicit programs to ttg with all layouts",
      buildGluonPipeline);
  registerStage<LLIROptions>("tile-nvidia-allocation",
                             "ttg with a place for each buffer",
                             buildAllocationPipeline);
  registerStage<LLIROptions>("tile-nvidia-llir", "ttg to the LLVM dialect",
                             buildLLIRPipeline);
}

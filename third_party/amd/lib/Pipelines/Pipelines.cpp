//===-- Pipelines.cpp - The stages by name --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/Pipelines/Pipelines.h"

using namespace mlir;
using namespace mlir::triton;

void amd::registerPipelines() {
  registerOtherNames();
  registerStage<TTIROptions>("tile-amd-ttir", "Inlined, canonical tt",
                             buildTTIRPipeline);
  registerStage<TTGIROptions>("tile-amd-ttgir", "tt to optimised ttg",
                              buildTTGIRPipeline);
  registerStage<GluonOptions>(
      "tile-amd-gluon", "ttg of explicit programs to ttg with all layouts",
      buildGluonPipeline);
  registerStage<LLIROptions>("tile-amd-llir", "ttg to the LLVM dialect",
                             buildLLIRPipeline);
}

//===-- Pipelines.cpp - The stages by name --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/Pipelines/Pipelines.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::triton;

void amd::registerPipelines() {
  registerOtherNames();
  PassPipelineRegistration<TTIROptions>(
      "tile-amd-ttir", "Inlined, canonical tt", buildTTIRPipeline);
  PassPipelineRegistration<TTGIROptions>(
      "tile-amd-ttgir", "tt to optimised ttg", buildTTGIRPipeline);
  PassPipelineRegistration<LLIROptions>(
      "tile-amd-llir", "ttg to the LLVM dialect", buildLLIRPipeline);
}

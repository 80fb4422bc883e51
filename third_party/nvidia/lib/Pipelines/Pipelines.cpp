//===-- Pipelines.cpp - The stages by name --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Pipelines/Pipelines.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia::registerPipelines() {
  PassPipelineRegistration<TTIROptions>(
      "tile-nvidia-ttir", "Inlined, canonical tt", buildTTIRPipeline);
  PassPipelineRegistration<TTGIROptions>(
      "tile-nvidia-ttgir", "tt to optimised ttg", buildTTGIRPipeline);
  PassPipelineRegistration<GluonOptions>(
      "tile-nvidia-gluon", "ttg of explicit programs to ttg with all layouts",
      buildGluonPipeline);
  PassPipelineRegistration<LLIROptions>(
      "tile-nvidia-llir", "ttg to the LLVM dialect", buildLLIRPipeline);
}

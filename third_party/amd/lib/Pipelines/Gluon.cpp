//===-- Gluon.cpp - tile-amd-gluon ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MiddleEnd.h"
#include "amd/Pipelines/Pipelines.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"

#include "tile/Dialect/Gluon/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void amd::buildGluonPipeline(const PassAdder &add,
                             const GluonOptions &options) {
  add(gluon::createGluonInline());
  add(createCheckTargetAMD());
  buildOpenLayouts(add);
  TTGIROptions unused;
  AMDMiddleEnd(add, unused, /*target=*/nullptr, /*isExplicit=*/true)
      .buildCopies();
}

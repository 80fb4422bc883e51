//===-- Pipeline.h - The stage that all backends share ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITON_TRANSFORMS_PIPELINE_H
#define TILE_DIALECT_TRITON_TRANSFORMS_PIPELINE_H

#include "tile/Support/PipelineStage.h"

namespace mlir::triton {

struct TTIROptions : StageOptions<TTIROptions> {
  Option<bool> fillUndefinedLanes{
      *this, "fill-undefined-lanes",
      llvm::cl::desc("Fill what masked loads leave undefined"),
      llvm::cl::init(false)};
};

/// Inlined, canonical, target-independent tt: tile-<backend>-ttir.
void buildTTIRPipeline(const PassAdder &add, const TTIROptions &options);

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_TRANSFORMS_PIPELINE_H

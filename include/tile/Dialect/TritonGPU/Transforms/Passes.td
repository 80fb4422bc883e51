//===-- Passes.td - Passes on ttg --------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The umbrella over files by theme; a pass goes into one of those.

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_PASSES
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_PASSES

include "tile/Dialect/TritonGPU/Transforms/LayoutPasses.td"
include "tile/Dialect/TritonGPU/Transforms/MatmulPasses.td"
include "tile/Dialect/TritonGPU/Transforms/MovementPasses.td"
include "tile/Dialect/TritonGPU/Transforms/PipelinePasses.td"
include "tile/Dialect/TritonGPU/Transforms/WarpSpecializationPasses.td"

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_PASSES

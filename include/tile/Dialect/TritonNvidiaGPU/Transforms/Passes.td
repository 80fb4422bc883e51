//===-- Passes.td - Passes on ttnvgpu ----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The umbrella over files by theme; a pass goes into one of those.

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PASSES
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PASSES

include "tile/Dialect/TritonNvidiaGPU/Transforms/BarrierPasses.td"
include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyPasses.td"
include "tile/Dialect/TritonNvidiaGPU/Transforms/DotPasses.td"
include "tile/Dialect/TritonNvidiaGPU/Transforms/ProgramPasses.td"
include "tile/Dialect/TritonNvidiaGPU/Transforms/TensorMemoryPasses.td"

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PASSES

//===-- TritonGPUOps.td - All of the ttg dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_OPS_TD
#define TILE_TRITONGPU_OPS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPULayoutOps.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUSharedMemoryOps.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUMemDescOps.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUAsyncOps.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUPipelineOps.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUWarpOps.td"

#endif // TILE_TRITONGPU_OPS_TD

//===-- TritonGPUEncodings.td - All encodings --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_ENCODINGS_TD
#define TILE_TRITONGPU_ENCODINGS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUEnums.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUDistributedEncodings.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUMmaEncodings.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUSharedEncodings.td"

#endif // TILE_TRITONGPU_ENCODINGS_TD

//===-- TritonGPUAttrs.td - All attributes -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_ATTRS_TD
#define TILE_TRITONGPU_ATTRS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUCTALayout.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUEncodings.td"

#endif // TILE_TRITONGPU_ATTRS_TD

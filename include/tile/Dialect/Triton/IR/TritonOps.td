//===-- TritonOps.td - All of the tt dialect ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONOPS
#define TILE_DIALECT_TRITON_IR_TRITONOPS

include "tile/Dialect/Triton/IR/TritonDialect.td"
include "tile/Dialect/Triton/IR/TritonEnums.td"
include "tile/Dialect/Triton/IR/TritonTypes.td"
include "tile/Dialect/Triton/IR/TritonInterfaces.td"
include "tile/Dialect/Triton/IR/TritonFunctionOps.td"
include "tile/Dialect/Triton/IR/TritonShapeOps.td"
include "tile/Dialect/Triton/IR/TritonMemoryOps.td"
include "tile/Dialect/Triton/IR/TritonBlockPointerOps.td"
include "tile/Dialect/Triton/IR/TritonAtomicOps.td"
include "tile/Dialect/Triton/IR/TritonComputeOps.td"
include "tile/Dialect/Triton/IR/TritonCollectiveOps.td"
include "tile/Dialect/Triton/IR/TritonConversionOps.td"
include "tile/Dialect/Triton/IR/TritonDescriptorOps.td"
include "tile/Dialect/Triton/IR/TritonInlineOps.td"
include "tile/Dialect/Triton/IR/TritonDebugOps.td"

#endif // TILE_DIALECT_TRITON_IR_TRITONOPS

//===-- TritonNvidiaGPUOps.td - Umbrella over the themes ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_OPS_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_OPS_TD

include "tile/Dialect/TritonNvidiaGPU/IR/BarrierOps.td"
include "tile/Dialect/TritonNvidiaGPU/IR/ClusterLaunchOps.td"
include "tile/Dialect/TritonNvidiaGPU/IR/MMAOps.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TMAOps.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryOps.td"

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_OPS_TD

//===-- TritonNvidiaGPUDialect.td - The ttnvgpu dialect ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_DIALECT_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_DIALECT_TD

include "mlir/IR/OpBase.td"

def TritonNvidiaGPU_Dialect : Dialect {
  let name = "ttnvgpu";
  let cppNamespace = "::mlir::triton::nvidia_gpu";

  let summary = "What only NVIDIA GPUs have: wgmma, mbarriers, TMA, tensor memory";
  let description = [{
    Operations that stand for one hardware feature of NVIDIA GPUs each, on the
    tensors and memory descriptors of `ttg`:

    * warp-group matrix multiplication (`wgmma`, compute capability 9.0) and the
      fifth-generation tensor core (`tcgen05.mma`, 10.0 and later);
    * transaction barriers in shared memory (`mbarrier`, 9.0 and later);
    * the tensor memory accelerator, TMA: bulk copies between global and shared
      memory that are described by a tensor map (9.0 and later);
    * tensor memory, the 128-lane by 512-column memory beside the tensor core
      (10.0 and later);
    * arrival and waiting across the blocks of a cluster (9.0 and later).

    Passes put these operations into a `ttg` module once `ttg.target` says that
    the machine has them; nothing target-neutral depends on them.

    The dialect prints as `ttnvgpu`. The spelling `ttng` is accepted when reading
    operations in their custom form, attributes and types.
  }];

  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::triton::TritonDialect",
    "::mlir::triton::gpu::TritonGPUDialect"
  ];

  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_DIALECT_TD

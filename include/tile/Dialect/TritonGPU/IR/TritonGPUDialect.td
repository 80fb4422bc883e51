//===-- TritonGPUDialect.td - The ttg dialect --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_DIALECT_TD
#define TILE_TRITONGPU_DIALECT_TD

include "mlir/IR/OpBase.td"

def TritonGPU_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::mlir::triton::gpu";
  let summary = "Tensors with layouts, shared memory and warps";
  let description = [{
    The `ttg` dialect says how the values of the `tt` dialect are spread over a
    GPU. Tensors carry an encoding that maps each element to the registers of
    threads. `!ttg.memdesc` values are views of shared memory (or another
    on-chip memory) with an encoding that maps each element to an offset.
    Operations copy between the two worlds, convert between encodings, and
    describe asynchronous copies, barriers and groups of specialised warps.

    The module records the machine shape as attributes:

    | attribute | meaning |
    |---|---|
    | `ttg.num-warps` | warps in a block (CTA), a power of two |
    | `ttg.num-ctas` | blocks in a cluster, a power of two |
    | `ttg.threads-per-warp` | threads in a warp |
    | `ttg.target` | what to compile for, e.g. `"cuda:90"` |
    | `ttg.shared` | bytes of shared memory a block uses |
    | `ttg.total-num-warps` | warps including those of warp-specialised partitions |
    | `ttg.maxnreg` | upper limit of registers per thread |
    | `ttg.tensor_memory_size` | columns of tensor memory a block uses |
    | `ttg.global_scratch_memory_size` | bytes of global scratch memory per block |
    | `ttg.global_scratch_memory_alignment` | alignment of that memory in bytes |

    All but the target are `i32`. Every encoding is a name for a linear layout:
    see `toLinearLayout`.
  }];

  let dependentDialects = [
    "::mlir::triton::TritonDialect",
    "::mlir::arith::ArithDialect"
  ];

  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;

  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
    void registerInterfaces();
  }];
}

#endif // TILE_TRITONGPU_DIALECT_TD

//===-- WarpSpecializationPasses.td - Partitions of warps --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_WARPSPECIALIZATIONPASSES
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_WARPSPECIALIZATIONPASSES

include "mlir/Pass/PassBase.td"

def TritonGPUAllocateWarpGroups
    : Pass<"tritongpu-allocate-warp-groups", "::mlir::ModuleOp"> {
  let summary = "Give the partitions of warps their places in the block";
  let description = [{
    Every `ttg.warp_specialize` gets `warpGroupStartIds`: the first warp of each
    partition, behind those of the default group. Partitions of whole warp groups
    (four warps) start at a multiple of four. `ttg.total-num-warps` on the module
    says how many warps the block has in all.

    Where partitions state how many registers they need
    (`requestedRegisters`), the operation gets `actualRegisters`, those of a
    thread of each group: the partitions what they asked for, rounded up, and the
    default group what is left. Registers are moved once, so that this is done
    only where one such operation runs at most once.

    A kernel that no block can run, with more than 1024 threads or 15 groups, a
    partition that calls a function, or `ttg.warp_specialize` in a device function
    or on a cluster is an error.

    Before:
    ```mlir
    ttg.warp_specialize(%a) attributes {requestedRegisters = array<i32: 24>}
    default { ... }
    partition0(%b: i32) num_warps(4) { ... } : (i32) -> ()
    ```
    After, with eight default warps:
    ```mlir
    module attributes {"ttg.num-warps" = 8 : i32, "ttg.total-num-warps" = 12 : i32} ...
    ttg.warp_specialize(%a) attributes {actualRegisters = array<i32: 240, 24>,
        requestedRegisters = array<i32: 24>, warpGroupStartIds = array<i32: 8>}
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numPartitions", "num-partitions", "Partitions given warps">
  ];
}

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_WARPSPECIALIZATIONPASSES

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

    Partitions may state how many registers they need (`requestedRegisters`). Then
    the operation gets `actualRegisters`: the registers of a thread of each group.
    The partitions get what they asked for, rounded up. The default group gets what
    is left. The groups keep their registers while the kernel runs. If there are
    several operations, a warp group gets what the most demanding one needs.

    Errors are: a kernel that no block can run, because it has more than 1024
    threads or 15 groups; a partition that calls a function; `ttg.warp_specialize`
    in a device function.

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

def TritonGPUAutomaticWarpSpecialization
    : Pass<"tritongpu-automatic-warp-specialization", "::mlir::ModuleOp"> {
  let summary = "Give the loads of marked loops to warps of their own";
  let description = [{
    Runs `tritongpu-assign-latencies`, `tritongpu-partition-scheduling` and
    `tritongpu-partition-loops` on the loops with `tt.warp_specialize`
    (`tl.range(..., warp_specialize=True)`), before nests become single loops: a
    partition runs ahead of the other through a whole nest.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect"];
  let options = [
    Option<"supported", "supported", "bool", /*default=*/"true",
           "Whether warps of the target can wait for each other">,
    Option<"numStages", "num-stages", "int32_t", /*default=*/"3",
           "Buffers for each load of loops that have no tt.num_stages attribute">
  ];
}

def TritonGPUPartitionScheduling
    : Pass<"tritongpu-partition-scheduling", "::mlir::ModuleOp"> {
  let summary = "Decide which operations of a marked loop other warps run";
  let description = [{
    This pass looks at loops with `tt.warp_specialize`, and at the innermost loops
    of such a nest. The loads that have a `tt.latency` get `ttg.partition = 0`
    instead. All other operations stay with the default group. The `tt.num_stages`
    of the innermost loop becomes the number of buffers for each load. In a nest
    these buffers live as long as those through which the rest of the nest stores.
    There are fewer of them if there is no room for all.

    The partition computes the addresses and the bounds of the loops for itself.
    The blocks of a cluster share tensors; there the partition only loads through
    descriptors. A loop cannot be divided if addresses or bounds depend on a dot or
    on what the loop writes, or if the memory model forbids to load ahead. Then the
    loop loses its mark, a remark says why, and the loop is compiled like others. A
    nest that cannot be divided hands its mark to the loops in it.

    Before:
    ```mlir
    scf.for %i = ... {
      %a = tt.load %p {tt.latency = 2 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked>
    } {tt.warp_specialize}
    ```
    After:
    ```mlir
      %a = tt.load %p {ttg.partition = 0 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked>
    } {tt.num_stages = 3 : i32, tt.warp_specialize}
    ```
  }];
  let options = [
    Option<"supported", "supported", "bool", /*default=*/"true",
           "Whether warps of the target can wait for each other">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops to be divided">
  ];
}

def TritonGPUPartitionLoops
    : Pass<"tritongpu-partition-loops", "::mlir::ModuleOp"> {
  let summary = "Divide scheduled loops between a producer and a consumer";
  let description = [{
    A loop with `tt.warp_specialize` becomes a `ttg.warp_specialize`. Its partition
    has the loads with `ttg.partition`, as copies to rings of buffers, and the
    operations that they depend on. The default group has the rest, and the results.
    Loads for one dot share a ring. Two mbarriers hand a buffer from one side to the
    other and back. A bulk copy arrives by itself, `cp.async` through
    `ttnvgpu.async_copy_mbarrier_arrive`.

    The partition has one warp for bulk copies, four for copies by threads, with
    the layouts that this takes. Dots of warp groups run on into the next
    iteration, and hand back the buffers of the last one. Where the marked loop has
    others inside, both sides run the nest, and carry the place in the rings from
    one run of an inner loop to the next.

    Dots that run beside the threads hand buffers back when they are done. In a
    nest whose inner loops only start such dots, a second partition of one warp
    starts them. It has several sums in turn. The default group takes them from
    there, and does what comes behind the dots.

    Blocks of a cluster that copy for each other (multicast) free buffers for each
    other: the consumers of each arrive at the barriers of all
    (`ttnvgpu.all_blocks`). The blocks meet before the operation, so that the
    barriers are there, and behind it, so that none has left while another copies
    to it.

    After (positions in the ring left out):
    ```mlir
    %r = ttg.warp_specialize(%desc, %n, %ring, %full, %empty)
        attributes {requestedRegisters = array<i32: 40>}
    default {
      %s = scf.for %i = ... {
        ttnvgpu.wait_barrier %full[%stage], %phase
        %d = ttnvgpu.warp_group_dot %ring[%stage], ...
        ttnvgpu.arrive_barrier %empty[%stage], 4
      }
      ttg.warp_yield %s : tensor<128x128xf32, #mma>
    }
    partition0(...) num_warps(1) {
      scf.for %i = ... {
        ttnvgpu.wait_barrier %empty[%stage], %phase ^ 1
        ttnvgpu.barrier_expect %full[%stage], 16384, %true
        ttnvgpu.async_tma_copy_global_to_local %desc[%x, %i] %ring[%stage], %full[%stage], %true
      }
      ttg.warp_return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops divided">,
    Statistic<"numProducts", "num-products", "Products that run on while threads go on">
  ];
}

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_WARPSPECIALIZATIONPASSES

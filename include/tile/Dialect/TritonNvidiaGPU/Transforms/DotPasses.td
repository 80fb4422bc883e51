//===-- DotPasses.td - Dots, and what they read ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_DOTPASSES
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_DOTPASSES

include "mlir/Pass/PassBase.td"

def TritonNvidiaMMALowering
    : Pass<"triton-nvidia-mma-lowering", "::mlir::ModuleOp"> {
  let summary = "Let multiplications into tensor memory run on until they are needed";
  let description = [{
    A `ttnvgpu.tc_gen5_mma` without `is_async` is done when it returns. The tensor
    core has no such instruction: it arrives at an mbarrier when it is done. This
    pass gives each of them a barrier. It waits there where the sum is loaded or
    stored, or where the operands are overwritten.

    In a loop this may be in the next iteration. If it is behind the multiplication
    of that one, two of them are under way, at barriers that alternate. Behind the
    loop the last one is waited for. A branch that some iterations take waits by
    itself. Outside of loops, and under a condition, the wait is in the same block.

    Before:
    ```mlir
    scf.for ... {
      %a = ttg.memdesc_index %ring[%i] : ...
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : ...
      ttg.async_copy_global_to_local %p, %next : ...
    }
    ```
    After:
    ```mlir
    ttnvgpu.init_barrier %bar, 1 : ...
    scf.for ... iter_args(%turn = %c0, %phase = %c0) {
      %a = ttg.memdesc_index %ring[%i] : ...
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true, %bar_i[%true] {is_async} : ...
      ttnvgpu.wait_barrier %bar_before, %phase_before : ...
      ttg.async_copy_global_to_local %p, %next : ...
    }
    ttnvgpu.wait_barrier %bar_last, %phase_last : ...
    ttnvgpu.inval_barrier %bar : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numRunningOn", "num-running-on",
              "Multiplications that the next iteration waits for">,
    Statistic<"numWaitedFor", "num-waited-for",
              "Multiplications that are waited for before that">
  ];
}

def TritonNvidiaCopyScales
    : Pass<"triton-nvidia-copy-scales", "::mlir::ModuleOp"> {
  let summary = "Copy scales from shared memory to tensor memory";
  let description = [{
    The scales of a `ttnvgpu.tc_gen5_mma_scaled` may be in shared memory: as rows, or
    tile by tile. The tensor core reads them in tensor memory. This pass copies them
    there before the multiplication. Where they are in a buffer of a ring, tensor
    memory has an array of as many, and the copy goes to the one with the same
    number.

    Before:
    ```mlir
    %slot = ttg.memdesc_index %ring[%i] : ...
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %slot, %bScale, ...
    ```
    After:
    ```mlir
    %places = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<3x128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>
    ...
    %slot = ttg.memdesc_index %ring[%i] : ...
    %place = ttg.memdesc_index %places[%i] : ...
    ttnvgpu.tmem_copy %slot, %place : ...
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %place, %bScale, ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numCopies", "num-copies", "Copies of scales to tensor memory">
  ];
}

def TritonNvidiaCheckMatmulTwoCTA
    : Pass<"triton-nvidia-check-matmul-two-cta", "::mlir::ModuleOp"> {
  let summary = "Say whether pairs of blocks multiply";
  let description = [{
    All instructions of a kernel that use tensor memory are for one block, or all are
    for pairs of blocks. Sets `ttng.two-ctas` on the module accordingly. Two
    multiplications that do not agree are an error.

    ```mlir
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {two_ctas} : ...
    ```
    gives
    ```mlir
    module attributes {"ttng.two-ctas" = true, ...}
    ```
  }];
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_DOTPASSES

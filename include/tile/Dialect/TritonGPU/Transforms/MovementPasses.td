//===-- MovementPasses.td - Where values live and when -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_MOVEMENTPASSES
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_MOVEMENTPASSES

include "mlir/Pass/PassBase.td"

def TritonGPUReduceDataDuplication
    : Pass<"tritongpu-reduce-data-duplication", "::mlir::ModuleOp"> {
  let summary = "Bring operands of dots into place through swizzled memory";
  let description = [{
    In the layout of an operand of a dot, every warp along the other dimension
    holds the same elements. A plain conversion into this layout would write and
    read all copies. Instead the tensor is stored once, and loaded from there. The
    layout in shared memory is one that matrix loads read without bank conflicts.

    Conversions that leave each element in its thread stay. If another conversion
    of the tensor already brought each element to the thread that needs it, this
    pass continues from its result. Dots that read one tensor in one layout read
    one buffer.

    Before:
    ```mlir
    %1 = ttg.convert_layout %0 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    ```
    After:
    ```mlir
    %1 = ttg.local_alloc %0 : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %2 = ttg.local_load %1 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numStaged", "num-staged",
              "Conversions replaced by a buffer in shared memory">
  ];
}

def TritonGPUReorderInstructions
    : Pass<"tritongpu-reorder-instructions", "::mlir::ModuleOp"> {
  let summary = "Shorten the lives of values in registers";
  let description = [{
    Inside each block, without touching the order of effects:

    - reads from shared memory and conversions whose result takes more registers
      than their operand move down to their first use;
    - conversions whose result takes fewer registers, and copies of a tensor to a
      new buffer in shared memory, move up to where the tensor is made;
    - what takes a loaded tensor through shared memory moves down behind other
      loads that its first user comes after, where few registers wait;
    - views of memory move up to the buffer.

    A loop may have too few registers to keep an operand of its dots, such as the
    queries of attention. If the operand stands in a buffer of its own, each
    iteration reads it again. It is stored to that buffer behind the asynchronous
    copies that are started before the loop.

    An operation may take the result of an asynchronous dot and another operand.
    In a loop whose registers are full, this operand is read behind the wait for
    the dot, not during the dot. An example is what the gradients of attention subtract from those of
    the weights. In a loop whose registers are nearly full, conversions to wider
    elements move behind the waits for dots, to their first use.

    Before:
    ```mlir
    %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    %b = tt.load %p : tensor<64x64x!tt.ptr<f32>, #blocked>
    %c = arith.extf %a : tensor<64x64xf16, #blocked> to tensor<64x64xf32, #blocked>
    ```
    After:
    ```mlir
    %b = tt.load %p : tensor<64x64x!tt.ptr<f32>, #blocked>
    %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    %c = arith.extf %a : tensor<64x64xf16, #blocked> to tensor<64x64xf32, #blocked>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numSunk", "num-sunk", "Operations moved down to their first use">,
    Statistic<"numHoisted", "num-hoisted", "Operations moved up to their operand">
  ];
}

def TritonGPUCombineTensorSelectAndIf
    : Pass<"tritongpu-combine-tensor-select-and-if", "::mlir::ModuleOp"> {
  let summary = "Choose tensors in the branch that is there anyway";
  let description = [{
    An `arith.select` of whole tensors by a scalar copies all their registers.
    Where an `scf.if` on the same condition stands before all uses of the select
    (or around them), its branches yield the two tensors instead, and nothing
    needs to be copied.

    Before:
    ```mlir
    %s = arith.select %c, %a, %b : tensor<64x64xf32, #mma>
    scf.if %c {
      tt.store %p, %x : tensor<64x64x!tt.ptr<f32>, #mma>
    }
    "use"(%s)
    ```
    After:
    ```mlir
    %s = scf.if %c -> (tensor<64x64xf32, #mma>) {
      tt.store %p, %x : tensor<64x64x!tt.ptr<f32>, #mma>
      scf.yield %a : tensor<64x64xf32, #mma>
    } else {
      scf.yield %b : tensor<64x64xf32, #mma>
    }
    "use"(%s)
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numCombined", "num-combined", "Selects that became results of an if">
  ];
}

def TritonGPUOptimizeThreadLocality
    : Pass<"tritongpu-optimize-thread-locality", "::mlir::ModuleOp"> {
  let summary = "Keep reductions of loops and gathers inside threads and warps";
  let description = [{
    Three rewrites that save exchanges between threads:

    - Two reductions whose results are combined as their elements are, such as
      `sum(x) + sum(y)`, exchange once. Each thread combines its parts of both
      before. Tensors that were taken apart are reduced in this way.

    - A loop that reduces a tensor and adds the result to a running value does
      the exchange between threads in every iteration. It keeps one partial
      result for each thread instead, and exchanges once, after the loop.
    - `tt.gather` gets a layout in which one warp holds all of the dimension that
      the indices refer to, so that shuffles do.

    Before:
    ```mlir
    %r = scf.for ... iter_args(%acc = %zero) -> (tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>) {
      %x = tt.load %p : tensor<64x128x!tt.ptr<f32>, #blocked>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({...})
      %n = arith.addf %acc, %s
      scf.yield %n
    }
    ```
    After, where a thread owns 4 neighbours and 2 such groups of a row:
    ```mlir
    %r = scf.for ... iter_args(%acc = %zeros) -> (tensor<64x16xf32, ...>) {
      %x = tt.load %p : tensor<64x128x!tt.ptr<f32>, #blocked>
      %v = tt.reshape %x : ... -> tensor<64x2x16x4xf32, ...>
      %s = "tt.reduce"(%v) <{axis = 3 : i32}> ({...})
      %t = "tt.reduce"(%s) <{axis = 1 : i32}> ({...})
      %n = arith.addf %acc, %t
      scf.yield %n
    }
    %s = "tt.reduce"(%r) <{axis = 1 : i32}> ({...})
    %n = arith.addf %zero, %s
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numMerged", "num-merged", "Reductions that exchange with another">,
    Statistic<"numReductions", "num-reductions",
              "Reductions whose exchange left a loop">,
    Statistic<"numGathers", "num-gathers", "Gathers given a layout">
  ];
}

def TritonGPUGlobalScratchMemoryAllocation
    : Pass<"tritongpu-global-scratch-memory-allocation", "::mlir::ModuleOp"> {
  let summary = "Give scratch buffers in global memory their places";
  let description = [{
    Every `ttg.global_scratch_alloc` gets an offset in the part of the scratch
    memory that belongs to its block, as `ttg.global_scratch_memory_offset`. A
    call gets the offset of the callee's part in that of the caller under the
    same name. Functions and the module get `ttg.global_scratch_memory_size` and
    `ttg.global_scratch_memory_alignment`; the launcher allocates that much for
    every block of the grid. A buffer of a partition of warps moves in front of
    the `ttg.warp_specialize`, which hands its pointer in.

    Before:
    ```mlir
    %p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 100 : i32} : !tt.ptr<i8>
    ```
    After:
    ```mlir
    %p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 100 : i32, ttg.global_scratch_memory_offset = 0 : i32} : !tt.ptr<i8>
    ```
  }];
  let statistics = [
    Statistic<"numBuffers", "num-buffers", "Buffers placed">
  ];
}

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_MOVEMENTPASSES

//===-- LayoutPasses.td - Choosing and cleaning up layouts -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_LAYOUTPASSES
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_LAYOUTPASSES

include "mlir/Pass/PassBase.td"

def TritonGPUCoalesce : Pass<"tritongpu-coalesce", "::mlir::ModuleOp"> {
  let summary = "Lay out memory accesses so that neighbours are accessed together";
  let description = [{
    For every load, store and atomic through a tensor of pointers, axis info
    tells along which dimension addresses are contiguous and how far, and how
    they are aligned. The access gets a blocked layout in which that dimension
    varies fastest. A thread owns as many neighbours as one instruction can move,
    128 bits, as long as every thread has work. Accesses of one shape and order
    that share address computations get one layout.

    `ttg.convert_layout` goes between an access and the rest of the function;
    `tritongpu-remove-layout-conversions` then spreads the new layouts.

    Before:
    ```mlir
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
    ```
    After, if the pointers are contiguous and 16-byte aligned:
    ```mlir
    #blocked1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
    %0 = ttg.convert_layout %p : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
    %1 = tt.load %0 : tensor<1024x!tt.ptr<f32>, #blocked1>
    %v = ttg.convert_layout %1 : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numAccesses", "num-accesses", "Accesses given a layout">,
    Statistic<"numVectorized", "num-vectorized",
              "Accesses of more than one element per thread at a time">
  ];
}

def TritonGPURemoveLayoutConversions
    : Pass<"tritongpu-remove-layout-conversions", "::mlir::ModuleOp"> {
  let summary = "Remove, merge and move conversions between layouts";
  let description = [{
    Works in three steps, each on a whole function.

    1. Layouts that matter spread to what is computed from them. These are the
       layouts of memory accesses that fill the machine, of dots, and of operations
       that ask for theirs. A value that several layouts reach takes the one that
       needs the least conversions. A scan gets a layout of its own where many
       threads would share each row.
    2. For each conversion that is left, the computation of its operand is
       repeated in the layout of its result if that is cheaper than moving the
       elements. This goes through loops and branches, too.
    3. Conversions that cannot go move to where there is less to convert: above
       extensions and broadcasts, below truncations, out of loops.

    Then loads that read the same elements into the same threads are one load.
    Their layouts may differ in name, as slices of two layouts do.

    Before:
    ```mlir
    %0 = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked1>
    %1 = ttg.convert_layout %0 : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
    %2 = math.exp %1 : tensor<1024xf32, #blocked>
    %3 = ttg.convert_layout %2 : tensor<1024xf32, #blocked> -> tensor<1024xf32, #blocked1>
    tt.store %q, %3 : tensor<1024x!tt.ptr<f32>, #blocked1>
    ```
    After:
    ```mlir
    %0 = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked1>
    %1 = math.exp %0 : tensor<1024xf32, #blocked1>
    tt.store %q, %1 : tensor<1024x!tt.ptr<f32>, #blocked1>
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect"];
  let options = [
    Option<"disableRematSplitting", "disable-remat-splitting", "bool", "false",
           "Left alone: costs decide what is computed again">
  ];
  let statistics = [
    Statistic<"numPropagated", "num-propagated",
              "Values whose layout was changed to that of their operands">,
    Statistic<"numRematerialized", "num-rematerialized",
              "Conversions replaced by repeating a computation">,
    Statistic<"numHoisted", "num-hoisted",
              "Conversions moved to where there is less to convert">,
    Statistic<"numMerged", "num-merged", "Loads that another load stands for">,
    Statistic<"numScans", "num-scans", "Scans given a layout of their own">
  ];
}

def TritonGPUCoalesceAsyncCopy
    : Pass<"tritongpu-coalesce-async-copy", "::mlir::ModuleOp"> {
  let summary = "Fit the layouts of asynchronous copies to what they can write";
  let description = [{
    One instruction of an asynchronous copy moves neighbours in global memory to
    neighbours in shared memory. Swizzled buffers have runs of no more than
    `vec` elements, and addresses and masks may allow for less. A thread that owns
    longer runs would copy them in pieces, far from the pieces of the threads beside
    it. This pass gives such a thread shorter runs. Its neighbours are then next to
    it.

    Before, for a buffer with `vec = 4`:
    ```mlir
    #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
    %t = ttg.async_copy_global_to_local %p, %m : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #shared, #smem, mutable>
    ```
    After:
    ```mlir
    #blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
    %q = ttg.convert_layout %p : tensor<64x32x!tt.ptr<f16>, #blocked> -> tensor<64x32x!tt.ptr<f16>, #blocked1>
    %t = ttg.async_copy_global_to_local %q, %m : tensor<64x32x!tt.ptr<f16>, #blocked1> -> <64x32xf16, #shared, #smem, mutable>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numNarrowed", "num-narrowed", "Copies given shorter runs">
  ];
}

def TritonGPULegalizeCollectives
    : Pass<"tritongpu-legalize-collectives", "::mlir::ModuleOp"> {
  let summary = "Convert the operands of scans and reductions whose layout cannot be lowered";
  let description = [{
    Not every layout can be lowered. Along its axis a scan takes a layout that goes
    through registers, lanes, warps and registers again, in this order. Neither a
    scan nor a reduction takes a layout in which a lane moves along the axis and
    across it at once. Views of tensors may lead to another layout. Then this pass
    converts the operands to a blocked layout, and the results back.

    Before, where lanes are the slow half of the axis:
    ```mlir
    %s = "tt.scan"(%x) <{axis = 0 : i32}> ... : (tensor<1024xi32, #linear>) -> tensor<1024xi32, #linear>
    ```
    After:
    ```mlir
    %0 = ttg.convert_layout %x : tensor<1024xi32, #linear> -> tensor<1024xi32, #blocked>
    %1 = "tt.scan"(%0) <{axis = 0 : i32}> ... : (tensor<1024xi32, #blocked>) -> tensor<1024xi32, #blocked>
    %s = ttg.convert_layout %1 : tensor<1024xi32, #blocked> -> tensor<1024xi32, #linear>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numConverted", "num-converted", "Operations given another layout">
  ];
}

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_LAYOUTPASSES

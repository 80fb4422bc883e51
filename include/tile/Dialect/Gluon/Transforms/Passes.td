//===-- Passes.td - Passes on open layouts -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_GLUON_TRANSFORMS_PASSES
#define TILE_DIALECT_GLUON_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def GluonResolveAutoEncodings
    : Pass<"gluon-resolve-auto-encodings", "::mlir::ModuleOp"> {
  let summary = "Decide the layouts that were left to those around";
  let description = [{
    A `gluon.set_auto_layout` says the layout of its operand. It follows from there
    to what the operand is computed from, to what is computed from it, and around
    loops and branches. Two uses that want different layouts of one value are an
    error, which names both; so is a value that nothing decides about.

    Calls are inlined before this pass.

    Before:
    ```mlir
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    %1 = gluon.set_auto_layout %0 : tensor<64xi32, #gluon.auto_encoding> -> tensor<64xi32, #blocked>
    ```
    After:
    ```mlir
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numResolved", "num-resolved", "Values given a layout">
  ];
}

def GluonInferCoalescedEncodings
    : Pass<"gluon-infer-coalesced-encodings", "::mlir::ModuleOp"> {
  let summary = "Decide the layouts that were left to memory accesses";
  let description = [{
    Accesses through pointers in `coalesced_encoding` get the blocked layout in which
    the threads of a warp access memory side by side, as `tritongpu-coalesce` would
    give them. It follows from there as in `gluon-resolve-auto-encodings`. Where
    several accesses have to agree, the widest one decides.

    Before:
    ```mlir
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    ```
    After:
    ```mlir
    #blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numAccesses", "num-accesses", "Accesses given a layout">
  ];
}

def GluonSimplifyControlFlow : Pass<"gluon-simplify-control-flow"> {
  let summary = "Fold branches and loops, and nothing else";
  let description = [{
    The canonicalisation patterns of `scf` and `cf` alone: branches whose condition is
    a constant, loops without iterations, values that loops carry and do not change.
    What the program says about layouts, buffers and barriers stays as it is.

    Before:
    ```mlir
    %r = scf.if %true -> i32 {
      scf.yield %a : i32
    } else {
      scf.yield %b : i32
    }
    ```
    After: `%a` in the place of `%r`.
  }];
}

def GluonCanonicalize : Pass<"gluon-canonicalize"> {
  let summary = "Canonicalise, and leave layouts as the program has them";
  let description = [{
    All canonicalisation patterns but those of `ttg.convert_layout` and
    `ttg.local_load`. Those would load from shared memory in another layout than the
    one that the program loads in, and compute ranges and splats again in place of a
    conversion.

    Before:
    ```mlir
    %0 = arith.addi %x, %c0 : i32
    %1 = ttg.local_load %m : !ttg.memdesc<64xf32, #shared, #smem> -> tensor<64xf32, #blocked>
    %2 = ttg.convert_layout %1 : tensor<64xf32, #blocked> -> tensor<64xf32, #blocked1>
    ```
    After: `%x` in the place of `%0`; the load and the conversion stay.
  }];
}

#endif // TILE_DIALECT_GLUON_TRANSFORMS_PASSES

// Passes on modules in a pipeline for any operation below the module run on the module.

// RUN: tile-opt %s -pass-pipeline='builtin.module(any(convert-triton-to-tritongpu{target=cuda:90},cse))' | filecheck %s
// CHECK: module attributes {{.*}}ttg.target = "cuda:90"
// CHECK: tensor<128xi32, #blocked>

// So they do from a reproducer.
// RUN: tile-opt %s -run-reproducer | filecheck %s -check-prefix=REPRODUCER
// REPRODUCER: module attributes {{.*}}ttg.target = "cuda:80"

// What is for functions, or several kinds of operations, stays so.
// RUN: tile-opt %s -dump-pass-pipeline -pass-pipeline='builtin.module(any(cse,canonicalize),tt.func(cse))' 2>&1 | filecheck %s -check-prefix=BELOW
// BELOW: builtin.module(
// BELOW-NEXT: any(
tt.func @f() -> tensor<128xi32> {
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  tt.return %0 : tensor<128xi32>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(any(convert-triton-to-tritongpu{enable-source-remat=false num-ctas=1 num-warps=4 target=cuda:80 threads-per-warp=32}))",
      disable_threading: true,
      verify_each: true
    }
  }
#-}

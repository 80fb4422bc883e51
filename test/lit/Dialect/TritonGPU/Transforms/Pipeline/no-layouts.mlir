// RUN: tile-opt %s -tritongpu-assign-latencies -tritongpu-prefetch | filecheck %s

// Tensors that have no layout yet take no registers, and are left alone.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @product
  // CHECK-NOT: tt.latency
  // CHECK: tt.dot
  tt.func @product(%a: tensor<64x64x!tt.ptr<f16>>, %b: tensor<64x64xf16>, %n: i32) -> tensor<64x64xf32> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = tt.load %a : tensor<64x64x!tt.ptr<f16>>
      %d = tt.dot %x, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tt.return %r : tensor<64x64xf32>
  }
}

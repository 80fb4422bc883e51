// RUN: tile-opt %s | tile-opt | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @kinds
  tt.func @kinds(%a: tensor<256xf32, #blocked>, %b: tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked> {
    // CHECK: ttnvgpu.packed_arith add %{{.*}}, %{{.*}} : (tensor<256xf32, #blocked>, tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked>
    %0 = ttng.packed_arith add %a, %b : (tensor<256xf32, #blocked>, tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked>
    // CHECK: ttnvgpu.packed_arith max
    %1 = ttnvgpu.packed_arith max %0, %b : (tensor<256xf32, #blocked>, tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked>
    // CHECK: ttnvgpu.packed_arith fma
    %2 = ttng.packed_arith fma %0, %1, %a : (tensor<256xf32, #blocked>, tensor<256xf32, #blocked>, tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked>
    tt.return %2 : tensor<256xf32, #blocked>
  }

  // CHECK-LABEL: tt.func @mixed
  tt.func @mixed(%a: tensor<256xf16, #blocked>, %b: tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked> {
    // CHECK: ttnvgpu.packed_arith sub %{{.*}}, %{{.*}} : (tensor<256xf16, #blocked>, tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked>
    %0 = ttnvgpu.packed_arith sub %a, %b : (tensor<256xf16, #blocked>, tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked>
    tt.return %0 : tensor<256xf32, #blocked>
  }
}

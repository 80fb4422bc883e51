// RUN: tile-opt %s -tritongpu-accelerate-matmul | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#half = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#scales = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // fp16 has more bits than bf16: it is the sum of two, each of which is
  // multiplied. What rounding left over meets no infinity.
  // CHECK-LABEL: @half
  tt.func @half(%a: tensor<128x64xf16, #half>, %b: tensor<64x128xf8E5M2, #blocked>, %bs: tensor<128x2xi8, #scales>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    // CHECK-DAG: [[BX:%.*]] = tt.fp_to_fp {{.*}} -> tensor<64x128xbf16
    // CHECK-DAG: [[A:%.*]] = arith.extf {{.*}} to tensor<128x64xf32
    // CHECK: [[B:%.*]] = arith.mulf [[BX]], {{.*}} : tensor<64x128xbf16
    // CHECK: [[HIGH:%.*]] = arith.truncf [[A]] {{.*}} to tensor<128x64xbf16
    // CHECK: arith.subf [[A]], {{.*}} : tensor<128x64xf32
    // CHECK: [[LOW:%.*]] = arith.truncf {{.*}} to tensor<128x64xbf16
    // CHECK: ttnvgpu.warp_group_dot {{.*}} : tensor<128x64xbf16, {{.*}} * !ttg.memdesc<64x128xbf16
    // CHECK: arith.select {{.*}}, [[B]] : tensor<64x128xi1
    // CHECK: ttnvgpu.warp_group_dot {{.*}} : tensor<128x64xbf16, {{.*}} * !ttg.memdesc<64x128xbf16
    // CHECK: scf.if
    // CHECK: scf.for
    // CHECK-COUNT-2: ttnvgpu.warp_group_dot
    // CHECK-NOT: ttnvgpu.warp_group_dot
    %d = tt.dot_scaled %a, %b scale %bs, %c lhs = fp16 rhs = e5m2 {fastMath = false} : tensor<128x64xf16, #half> * tensor<64x128xf8E5M2, #blocked>, tensor<128x2xi8, #scales> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}

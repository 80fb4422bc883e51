// RUN: tile-opt %s -tritongpu-F32DotTC -dump-pass-pipeline 2>&1 | filecheck %s
// RUN: tile-opt %s -tritongpu-F32DotTC=emu-tf32=false | filecheck %s --check-prefix=WHOLE
// RUN: tile-opt %s -pass-pipeline='builtin.module(tritongpu-F32DotTC{emu-tf32=false})' | filecheck %s --check-prefix=WHOLE
// RUN: not tile-opt %s -tritongpu-F32DotTC=emu=1 2>&1 | filecheck %s --check-prefix=WRONG

// Names that command lines have beside those of today.

// CHECK: tritongpu-f32-dot-tc{emu-tf32=true}
// CHECK-COUNT-3: tt.dot
// WHOLE: tt.dot {{.*}} inputPrecision = tf32x3
// WRONG: no such option emu

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @tf32x3(%a: tensor<16x16xf32, #a>, %b: tensor<16x16xf32, #b>, %c: tensor<16x16xf32, #blocked>) -> tensor<16x16xf32, #blocked> {
    %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<16x16xf32, #a> * tensor<16x16xf32, #b> -> tensor<16x16xf32, #blocked>
    tt.return %d : tensor<16x16xf32, #blocked>
  }
}

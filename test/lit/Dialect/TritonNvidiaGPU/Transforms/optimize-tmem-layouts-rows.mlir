// RUN: tile-opt %s -triton-nvidia-optimize-tmem-layouts | filecheck %s

#parts = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [0, 32]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory>
// CHECK: [[$WHOLE:#.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = {{\[\[}}32, 0], [64, 0], [16, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // No two warps have parts of one row.
  // CHECK-LABEL: @reduced
  tt.func @reduced(%d: !d, %f: tensor<128x64xf32, #parts>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #parts}>> {
    // CHECK: ttnvgpu.tmem_load %arg0 : {{.*}} -> tensor<128x64xf32, [[$WHOLE]]>
    %x = ttnvgpu.tmem_load %d : !d -> tensor<128x64xf32, #parts>
    %y = arith.mulf %x, %f : tensor<128x64xf32, #parts>
    %r = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<128x64xf32, #parts>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #parts}>>
    tt.return %r : tensor<128xf32, #ttg.slice<{dim = 1, parent = #parts}>>
  }

  // Columns are another matter.
  // CHECK-LABEL: @columns
  tt.func @columns(%d: !d) -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #parts}>> {
    // CHECK: ttnvgpu.tmem_load %arg0 : {{.*}} -> tensor<128x64xf32, #linear>
    %x = ttnvgpu.tmem_load %d : !d -> tensor<128x64xf32, #parts>
    %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<128x64xf32, #parts>) -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #parts}>>
    tt.return %r : tensor<64xf32, #ttg.slice<{dim = 0, parent = #parts}>>
  }
}

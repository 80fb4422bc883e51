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

  // Somebody else has the elements as they are.
  // CHECK-LABEL: @also_used
  tt.func @also_used(%d: !d) -> (tensor<128x64xf32, #parts>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #parts}>>) {
    // CHECK: ttnvgpu.tmem_load %arg0 : {{.*}} -> tensor<128x64xf32, #linear>
    %x = ttnvgpu.tmem_load %d : !d -> tensor<128x64xf32, #parts>
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<128x64xf32, #parts>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #parts}>>
    tt.return %x, %r : tensor<128x64xf32, #parts>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #parts}>>
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

  // There are more ways from the load to the reduction than anybody could count.
  // CHECK-LABEL: @many_ways
  tt.func @many_ways(%d: !d) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #parts}>> {
    // CHECK: ttnvgpu.tmem_load %arg0 : {{.*}} -> tensor<128x64xf32, [[$WHOLE]]>
    %y0 = ttnvgpu.tmem_load %d : !d -> tensor<128x64xf32, #parts>
    %y1 = arith.addf %y0, %y0 : tensor<128x64xf32, #parts>
    %y2 = arith.addf %y1, %y1 : tensor<128x64xf32, #parts>
    %y3 = arith.addf %y2, %y2 : tensor<128x64xf32, #parts>
    %y4 = arith.addf %y3, %y3 : tensor<128x64xf32, #parts>
    %y5 = arith.addf %y4, %y4 : tensor<128x64xf32, #parts>
    %y6 = arith.addf %y5, %y5 : tensor<128x64xf32, #parts>
    %y7 = arith.addf %y6, %y6 : tensor<128x64xf32, #parts>
    %y8 = arith.addf %y7, %y7 : tensor<128x64xf32, #parts>
    %y9 = arith.addf %y8, %y8 : tensor<128x64xf32, #parts>
    %y10 = arith.addf %y9, %y9 : tensor<128x64xf32, #parts>
    %y11 = arith.addf %y10, %y10 : tensor<128x64xf32, #parts>
    %y12 = arith.addf %y11, %y11 : tensor<128x64xf32, #parts>
    %y13 = arith.addf %y12, %y12 : tensor<128x64xf32, #parts>
    %y14 = arith.addf %y13, %y13 : tensor<128x64xf32, #parts>
    %y15 = arith.addf %y14, %y14 : tensor<128x64xf32, #parts>
    %y16 = arith.addf %y15, %y15 : tensor<128x64xf32, #parts>
    %y17 = arith.addf %y16, %y16 : tensor<128x64xf32, #parts>
    %y18 = arith.addf %y17, %y17 : tensor<128x64xf32, #parts>
    %y19 = arith.addf %y18, %y18 : tensor<128x64xf32, #parts>
    %y20 = arith.addf %y19, %y19 : tensor<128x64xf32, #parts>
    %y21 = arith.addf %y20, %y20 : tensor<128x64xf32, #parts>
    %y22 = arith.addf %y21, %y21 : tensor<128x64xf32, #parts>
    %y23 = arith.addf %y22, %y22 : tensor<128x64xf32, #parts>
    %y24 = arith.addf %y23, %y23 : tensor<128x64xf32, #parts>
    %y25 = arith.addf %y24, %y24 : tensor<128x64xf32, #parts>
    %y26 = arith.addf %y25, %y25 : tensor<128x64xf32, #parts>
    %y27 = arith.addf %y26, %y26 : tensor<128x64xf32, #parts>
    %y28 = arith.addf %y27, %y27 : tensor<128x64xf32, #parts>
    %y29 = arith.addf %y28, %y28 : tensor<128x64xf32, #parts>
    %y30 = arith.addf %y29, %y29 : tensor<128x64xf32, #parts>
    %y31 = arith.addf %y30, %y30 : tensor<128x64xf32, #parts>
    %y32 = arith.addf %y31, %y31 : tensor<128x64xf32, #parts>
    %y33 = arith.addf %y32, %y32 : tensor<128x64xf32, #parts>
    %y34 = arith.addf %y33, %y33 : tensor<128x64xf32, #parts>
    %y35 = arith.addf %y34, %y34 : tensor<128x64xf32, #parts>
    %y36 = arith.addf %y35, %y35 : tensor<128x64xf32, #parts>
    %y37 = arith.addf %y36, %y36 : tensor<128x64xf32, #parts>
    %y38 = arith.addf %y37, %y37 : tensor<128x64xf32, #parts>
    %y39 = arith.addf %y38, %y38 : tensor<128x64xf32, #parts>
    %y40 = arith.addf %y39, %y39 : tensor<128x64xf32, #parts>
    %r = "tt.reduce"(%y40) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<128x64xf32, #parts>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #parts}>>
    tt.return %r : tensor<128xf32, #ttg.slice<{dim = 1, parent = #parts}>>
  }
}

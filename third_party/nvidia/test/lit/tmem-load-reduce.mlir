// RUN: tile-opt %s -split-input-file -triton-nvidia-tmem-load-reduce | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#row = #ttg.slice<{dim = 1, parent = #rows}>
#column = #ttg.slice<{dim = 0, parent = #rows}>
!d = !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory>
!x = tensor<128x32xf32, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:103", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @max
  tt.func @max(%d: !d) -> (!x, tensor<128xf32, #row>) {
    // CHECK: [[X:%.*]], [[R:%.*]] = ttnvgpu.tmem_load %arg0 {redOp = #ttnvgpu.redOp<max>}
    // CHECK-NEXT: tt.return [[X]], [[R]]
    %x = ttnvgpu.tmem_load %d : !d -> !x
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %b : f32
      tt.reduce.return %m : f32
    }) : (!x) -> tensor<128xf32, #row>
    tt.return %x, %r : !x, tensor<128xf32, #row>
  }

  // CHECK-LABEL: @magnitude
  tt.func @magnitude(%d: !d) -> tensor<128xf32, #row> {
    // CHECK: %{{.*}}, [[R:%.*]] = ttnvgpu.tmem_load %arg0 {NaN = true, abs = true, redOp = #ttnvgpu.redOp<min>}
    // CHECK-NEXT: tt.return [[R]]
    %x = ttnvgpu.tmem_load %d : !d -> !x
    %y = math.absf %x : !x
    %r = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.minimumf %b, %a : f32
      tt.reduce.return %m : f32
    }) : (!x) -> tensor<128xf32, #row>
    tt.return %r : tensor<128xf32, #row>
  }

  // CHECK-LABEL: @not_comparisons
  tt.func @not_comparisons(%d: !d) -> (tensor<128xf32, #row>, tensor<32xf32, #column>, tensor<128xf32, #row>) {
    // CHECK-NOT: redOp
    // CHECK: tt.return
    %x = ttnvgpu.tmem_load %d : !d -> !x
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (!x) -> tensor<128xf32, #row>
    %c = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %b : f32
      tt.reduce.return %m : f32
    }) : (!x) -> tensor<32xf32, #column>
    %first = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %a : f32
      tt.reduce.return %m : f32
    }) : (!x) -> tensor<128xf32, #row>
    tt.return %r, %c, %first : tensor<128xf32, #row>, tensor<32xf32, #column>, tensor<128xf32, #row>
  }
}

// -----

// Two lanes have halves of each row.
#halves = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = [[32, 0], [64, 0], [16, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#row = #ttg.slice<{dim = 1, parent = #halves}>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory>
!x = tensor<128x64xf32, #halves>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:103", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @halves
  tt.func @halves(%d: !d) -> tensor<128xf32, #row> {
    // CHECK: redOp
    %x = ttnvgpu.tmem_load %d : !d -> !x
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %b : f32
      tt.reduce.return %m : f32
    }) : (!x) -> tensor<128xf32, #row>
    tt.return %r : tensor<128xf32, #row>
  }
}

// -----

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#row = #ttg.slice<{dim = 1, parent = #rows}>
!d = !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory>
!x = tensor<128x32xf32, #rows>
// sm_100 has no such loads.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @sm100
  tt.func @sm100(%d: !d) -> tensor<128xf32, #row> {
    // CHECK-NOT: redOp
    // CHECK: tt.return
    %x = ttnvgpu.tmem_load %d : !d -> !x
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %b : f32
      tt.reduce.return %m : f32
    }) : (!x) -> tensor<128xf32, #row>
    tt.return %r : tensor<128xf32, #row>
  }
}

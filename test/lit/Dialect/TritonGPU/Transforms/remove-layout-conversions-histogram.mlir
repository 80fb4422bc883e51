// RUN: tile-opt %s -tritongpu-remove-layout-conversions | filecheck %s

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // The mask of a histogram keeps the layout of what it masks.
  // CHECK-LABEL: tt.func @masked
  // CHECK: tt.histogram %{{.*}}, %{{.*}} : tensor<512xi32, #[[L:blocked[0-9]*]]> -> tensor<64xi32,
  tt.func @masked(%p: tensor<512x!tt.ptr<i32>, #b>, %m: tensor<512xi1, #a>, %q: tensor<64x!tt.ptr<i32>, #a>) {
    %x = tt.load %p : tensor<512x!tt.ptr<i32>, #b>
    %y = ttg.convert_layout %x : tensor<512xi32, #b> -> tensor<512xi32, #a>
    %h = tt.histogram %y, %m : tensor<512xi32, #a> -> tensor<64xi32, #a>
    tt.store %q, %h : tensor<64x!tt.ptr<i32>, #a>
    tt.return
  }
}

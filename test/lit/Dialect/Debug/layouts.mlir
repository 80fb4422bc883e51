// RUN: tile-opt %s -tritongpu-remove-layout-conversions | filecheck %s

// A variable is shown in the layout that it has: nothing is converted for a debugger.
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @shown
  tt.func @shown(%p: tensor<512x!tt.ptr<f32>, #a>) {
    // CHECK: %[[x:.*]] = tt.load
    // CHECK-NOT: ttg.convert_layout
    // CHECK: debug.value "x" "fp32" = %[[x]]
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #a>
    %y = ttg.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #b>
    debug.value "x" "fp32" = %y : tensor<512xf32, #b>
    tt.return
  }
}

// RUN: tile-opt %s -split-input-file -verify-diagnostics -tile-nvidia-llir

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @apart() {
    // expected-error @+1 {{expected warps that arrive at the barrier of a cluster with specialised warps to wait there at once}}
    ttnvgpu.cluster_arrive {relaxed = false}
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    ttnvgpu.cluster_wait
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func private @callee() attributes {noinline = true} {
    // expected-error @+1 {{the blocks of a cluster with specialised warps cannot meet in a function that is called}}
    ttnvgpu.cluster_barrier
    tt.return
  }
  tt.func public @calls() {
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.call @callee() : () -> ()
    tt.return
  }
}

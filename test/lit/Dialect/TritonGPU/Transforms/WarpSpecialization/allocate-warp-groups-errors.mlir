// RUN: tile-opt %s -split-input-file -verify-diagnostics -tritongpu-allocate-warp-groups

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @device() {
    // expected-error @+1 {{warps cannot be specialised in a device function}}
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 16 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @threads() {
    // expected-error @+1 {{the default group and the partitions have 1536 threads together, a block has at most 1024}}
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(32) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @callee() { tt.return }
  tt.func public @calls() {
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(4) {
      // expected-error @+1 {{a partition cannot call a function}}
      tt.call @callee() : () -> ()
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @nested() {
    ttg.warp_specialize()
    default {
      // expected-error @+1 {{warps cannot be specialised again in the default region}}
      ttg.warp_specialize()
      default { ttg.warp_yield }
      partition0() num_warps(1) { ttg.warp_return } : () -> ()
      ttg.warp_yield
    }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// RUN: tile-opt %s -split-input-file -verify-diagnostics -convert-triton-amdgpu-to-llvm

// expected-error @below {{unknown target "hip:gfx77": known ones are hip:gfx90a, hip:gfx942, hip:gfx950, hip:gfx1100}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx77", "ttg.threads-per-warp" = 64 : i32} {
}

// -----

// expected-error @below {{expected "ttg.threads-per-warp" = 64, the lanes of a wave on hip:gfx942; found 32}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 32 : i32} {
}

// -----

// expected-error @below {{a program of 2 blocks needs a target with clusters, which hip:gfx942 lacks}}
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
}

// -----

#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// expected-error @below {{shared memory is not allocated: run -allocate-shared-memory first}}
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @buffer_without_a_place() {
    %b = ttg.local_alloc : () -> !ttg.memdesc<64xf32, #one, #smem, mutable>
    tt.return
  }
}

// -----

#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32, ttg.shared = 8 : i32} {
  tt.func @barriers_in_lds(%bar: !ttg.memdesc<1xi64, #one, #smem, mutable>) {
    // expected-error @+1 {{'amdg.init_barrier' op needs barriers in LDS (gfx1250), which have no lowering yet}}
    amdg.init_barrier %bar, 4 : !ttg.memdesc<1xi64, #one, #smem, mutable>
    tt.return
  }
}

// RUN: tile-opt %s -verify-diagnostics -tile-nvidia-llir

// Read, checked and printed, but not lowered: an error says so.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @ring(%flag: i1) {
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    // expected-error @+1 {{failed to legalize operation 'nvws.aref.create' that was explicitly marked illegal}}
    %aref = nvws.aref.create %buffer : <[!ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>]>
    tt.return
  }
}

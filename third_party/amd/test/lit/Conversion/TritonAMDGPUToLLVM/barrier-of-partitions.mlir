// RUN: tile-opt %s -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm | filecheck %s
// RUN: sed 's/total-num-warps" = 4/total-num-warps" = 8/' %s | not tile-opt - -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm 2>&1 | filecheck %s --check-prefix=ERROR

// Other compilers note the number of all warps also where no partition has more. Where one has, an
// error that a builder of operations reports fails the pass.
// CHECK-LABEL: @all
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.barrier"
// ERROR: error: partitions of warps have no barriers of their own on this target
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32, "ttg.total-num-warps" = 4 : i32} {
  tt.func public @all() {
    ttg.barrier all
    tt.return
  }
}

// RUN: tile-opt %s -split-input-file -tritongpu-allocate-warp-groups -allocate-shared-memory-nv -convert-triton-gpu-to-llvm | filecheck %s

// One warp knows its number.
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: llvm.func internal @alone
// CHECK-NEXT: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-NEXT: llvm.return %[[ZERO]]
tt.func private @alone() -> i32 {
  %0 = ttg.warp_id
  tt.return %0 : i32
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: llvm.func internal @of_four
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: llvm.return %[[WARP]]
tt.func private @of_four() -> i32 {
  %0 = ttg.warp_id
  tt.return %0 : i32
}
}

// RUN: tile-opt %s -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm=arch=gfx942 | filecheck %s -check-prefixes=CHECK,GFX9
// RUN: sed 's/ = 64/ = 32/' %s | tile-opt - -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm=arch=gfx1100 | filecheck %s -check-prefixes=CHECK,GFX11
// RUN: sed 's/ = 64/ = 32/' %s | tile-opt - -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm=arch=gfx1201 | filecheck %s -check-prefixes=CHECK,GFX12

// Writes to LDS are done before other waves go on: lgkmcnt(0), as each generation says it.
// CHECK-LABEL: @barrier
// CHECK: llvm.fence syncscope("workgroup") release
// GFX9: %[[ALL:.*]] = llvm.mlir.constant(49279 : i32)
// GFX9: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"(%[[ALL]])
// GFX11: %[[ALL:.*]] = llvm.mlir.constant(64519 : i32)
// GFX11: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"(%[[ALL]])
// GFX12: llvm.call_intrinsic "llvm.amdgcn.s.wait.dscnt"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.barrier"
// CHECK: llvm.fence syncscope("workgroup") acquire
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @barrier() {
    ttg.barrier local
    tt.return
  }
}

// RUN: tile-opt %s -tile-amd-llir | filecheck %s -check-prefix=GFX9
// RUN: sed -e 's/gfx942/gfx1201/' -e 's/warp" = 64/warp" = 32/' %s | tile-opt -tile-amd-llir | filecheck %s -check-prefix=GFX12
// RUN: sed -e 's/gfx942/gfx1100/' -e 's/warp" = 64/warp" = 32/' -e 's/ store(2)//' %s | tile-opt -tile-amd-llir | filecheck %s -check-prefix=GFX11
// RUN: sed -e 's/gfx942/gfx1100/' -e 's/warp" = 64/warp" = 32/' %s | not tile-opt -tile-amd-llir 2>&1 | filecheck %s -check-prefix=STORES

// STORES: error: waits for stores to memory, which this target has no instruction for that LLVM gives
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @waits() {
    // vmcnt counts stores, too: vmcnt(2) lgkmcnt(3).
    // GFX9: %[[BITS:.*]] = llvm.mlir.constant(882 : i32)
    // GFX9: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"(%[[BITS]])
    // GFX11: %[[BITS:.*]] = llvm.mlir.constant(17463 : i32)
    // GFX11: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"(%[[BITS]])
    // GFX12: llvm.amdgcn.s.wait.loadcnt
    // GFX12: llvm.amdgcn.s.wait.storecnt
    // GFX12: llvm.amdgcn.s.wait.dscnt
    amdg.memory_counter_wait load(17) store(2) ds(3)
    tt.return
  }
}

// RUN: tile-opt %s -tile-amd-llir | filecheck %s

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // A branch of the wave: lanes that take no part come to the barrier, too.
  // CHECK-LABEL: @some_waves
  // CHECK: %[[WORD:.*]] = llvm.call_intrinsic "llvm.amdgcn.readfirstlane"
  // CHECK: %[[YES:.*]] = llvm.icmp "ne" %[[WORD]]
  // CHECK: llvm.cond_br %[[YES]], ^[[BARRIER:bb[0-9]+]], ^[[END:bb[0-9]+]]
  // CHECK: ^[[BARRIER]]:
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.s.barrier"
  // CHECK: llvm.br ^[[END]]
  tt.func public @some_waves(%second: i1) {
    amdg.cond_barrier %second
    tt.return
  }
}

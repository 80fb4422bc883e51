// RUN: tile-opt %s -triton-amdgpu-lower-insert-instruction-sched-hints | filecheck %s
// RUN: tile-opt %s -tile-amd-llir | filecheck %s
// RUN: tile-opt %s -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm -triton-amdgpu-lower-insert-instruction-sched-hints="arch=gfx942 num_stages=3" | filecheck %s

// Nothing is scheduled across a hint and across the end of its block, but for one that asks for
// nothing.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @attention
  // CHECK-NEXT: rocdl.sched.barrier 0
  // CHECK-NEXT: rocdl.iglp.opt 2
  // CHECK-NEXT: rocdl.sched.barrier 0
  // CHECK-NEXT: return
  tt.func public @attention() {
    amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
    tt.return
  }

  // CHECK-LABEL: @none
  // CHECK-NEXT: return
  tt.func public @none() {
    amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<none>}
    tt.return
  }
}

// RUN: tile-opt %s -triton-amdgpu-insert-instruction-sched-hints=variant=attention | filecheck %s
// RUN: tile-opt %s -triton-amdgpu-insert-instruction-sched-hints=variant=memory-bound-attention | filecheck %s -check-prefix=NONE
// RUN: not tile-opt %s -triton-amdgpu-insert-instruction-sched-hints=variant=gemm 2>&1 | filecheck %s -check-prefix=ERROR

// NONE-NOT: instruction_sched_hint
// ERROR: expected the variant none, attention or memory-bound-attention, found gemm

// CHECK-LABEL: @attention
// CHECK: scf.for
// CHECK-NEXT: amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
// CHECK-NEXT: tt.dot
// CHECK-LABEL: @product
// CHECK-NOT: instruction_sched_hint
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @attention(%q: tensor<128x64xf16, #a>, %k: tensor<64x64xf16, #b>, %zero: tensor<128x64xf32, #mma>, %n: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %s = tt.dot %q, %k, %zero : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      %t = arith.truncf %s : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %p = ttg.convert_layout %t : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
      %d = tt.dot %p, %k, %o : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %d : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }

  tt.func public @product(%q: tensor<128x64xf16, #a>, %k: tensor<64x64xf16, #b>, %zero: tensor<128x64xf32, #mma>, %n: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %d = tt.dot %q, %k, %o : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %d : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}

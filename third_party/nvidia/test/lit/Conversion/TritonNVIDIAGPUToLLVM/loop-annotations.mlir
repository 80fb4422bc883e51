// RUN: tile-opt %s -tile-nvidia-llir | filecheck %s
// RUN: tile-opt %s -tile-nvidia-llir -tile-nvidia-ptx -o /dev/null

// What a program says of a loop is a property of the branch back to its begin.

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: #[[A:.*]] = #llvm.loop_annotation
  // CHECK-LABEL: @loops
  tt.func public @loops(%p: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: llvm.br ^bb{{.*}} {loop_annotation = #[[A]]}
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.store %p, %i : !tt.ptr<i32>
    } {llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>}
    // CHECK: llvm.br ^bb{{.*}} {loop_annotation = #[[A]]}
    // CHECK-NOT: llvm.loop_annotation
    %r = scf.while (%i = %c0) : (i32) -> i32 {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      tt.store %p, %i : !tt.ptr<i32>
      %next = arith.addi %i, %c1 : i32
      scf.yield %next : i32
    } attributes {llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>}
    tt.return
  }
}

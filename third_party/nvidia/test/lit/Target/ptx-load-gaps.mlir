// RUN: tile-opt %s -tile-nvidia-llir -tile-nvidia-ptx -o %t.mlir | filecheck %s

// Three loads stay three: a vector of four would read past a table of three.

module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK: .visible .entry sizes(
// CHECK: ld.global.b32
// CHECK: ld.global.b32
// CHECK: ld.global.b32
// CHECK-NOT: ld.global.v
tt.func public @sizes(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32>) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %p1 = tt.addptr %p, %c1 : !tt.ptr<i32>, i32
  %p2 = tt.addptr %p, %c2 : !tt.ptr<i32>, i32
  %m = tt.load %p : !tt.ptr<i32>
  %n = tt.load %p1 : !tt.ptr<i32>
  %k = tt.load %p2 : !tt.ptr<i32>
  %0 = arith.muli %m, %n : i32
  %1 = arith.addi %0, %k : i32
  tt.store %out, %1 : !tt.ptr<i32>
  tt.return
}
}

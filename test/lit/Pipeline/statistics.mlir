// RUN: tile-opt %s -tritongpu-fuse-nested-loops -pass-statistics -o /dev/null 2>&1 | filecheck %s

// CHECK: tritongpu-fuse-nested-loops
// CHECK-NEXT: 1 num-fused: Nests made one loop
tt.func @nest(%n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}

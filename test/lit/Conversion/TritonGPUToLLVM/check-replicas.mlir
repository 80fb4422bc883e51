// RUN: tile-opt %s -check-replicas | filecheck %s

// All threads load a scalar that decides a branch. Their copies are compared:
// the least and the greatest must be equal.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @branch
  // CHECK: %[[X:.*]] = tt.load
  // CHECK: %[[COPIES:.*]] = tt.splat %[[X]] : i32 -> tensor<128xi32
  // CHECK: %[[LEAST:.*]] = "tt.reduce"(%[[COPIES]])
  // CHECK: arith.minui
  // CHECK: %[[GREATEST:.*]] = "tt.reduce"(%[[COPIES]])
  // CHECK: arith.maxui
  // CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[LEAST]], %[[GREATEST]]
  // CHECK: tt.assert %[[SAME]]
  tt.func @branch(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %x = tt.load %p : !tt.ptr<i32>
    %c = arith.cmpi sgt, %x, %c0 : i32
    scf.if %c {
      tt.store %q, %c0 : !tt.ptr<i32>
    }
    tt.return
  }

  // A scalar that decides nothing is not compared.
  // CHECK-LABEL: tt.func @data
  // CHECK-NOT: tt.assert
  tt.func @data(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
    %x = tt.load %p : !tt.ptr<i32>
    tt.store %q, %x : !tt.ptr<i32>
    tt.return
  }

  // What every thread computes from the same arguments cannot differ.
  // CHECK-LABEL: tt.func @computed
  // CHECK-NOT: tt.assert
  tt.func @computed(%n: i32, %q: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c = arith.cmpi sgt, %n, %c0 : i32
    scf.if %c {
      tt.store %q, %c0 : !tt.ptr<i32>
    }
    tt.return
  }
}

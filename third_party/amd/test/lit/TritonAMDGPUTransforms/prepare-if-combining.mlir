// RUN: tile-opt %s -tritonamdgpu-prepare-if-combining | filecheck %s
// RUN: tile-opt %s -tritonamdgpu-prepare-if-combining -canonicalize | filecheck %s -check-prefix=COMBINED

module {
  // CHECK-LABEL: @both_sides
  // CHECK-NEXT: arith.addi %arg2, %arg2
  // CHECK-NEXT: %[[X:.*]] = scf.if
  // CHECK: scf.yield %{{c0.*}}
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.if
  // CHECK: }
  // CHECK-NEXT: arith.muli %[[X]], %[[X]]
  // COMBINED-LABEL: @both_sides
  // COMBINED-COUNT-1: scf.if
  // COMBINED-NOT: scf.if
  tt.func @both_sides(%c: i1, %p: !tt.ptr<i32>, %a: i32) -> i32 {
    %x = scf.if %c -> i32 {
      tt.store %p, %a : !tt.ptr<i32>
      scf.yield %a : i32
    } else {
      %zero = arith.constant 0 : i32
      scf.yield %zero : i32
    }
    %before = arith.addi %a, %a : i32
    %behind = arith.muli %x, %x : i32
    scf.if %c {
      tt.store %p, %before : !tt.ptr<i32>
    }
    tt.return %behind : i32
  }

  // The second branch needs what is computed from the first one's result.
  // CHECK-LABEL: @dependent
  // COMBINED-LABEL: @dependent
  // CHECK: scf.if
  // CHECK: arith.muli
  // CHECK: scf.if
  tt.func @dependent(%c: i1, %p: !tt.ptr<i32>, %a: i32) {
    %x = scf.if %c -> i32 {
      tt.store %p, %a : !tt.ptr<i32>
      scf.yield %a : i32
    } else {
      %zero = arith.constant 0 : i32
      scf.yield %zero : i32
    }
    %square = arith.muli %x, %x : i32
    scf.if %c {
      tt.store %p, %square : !tt.ptr<i32>
    }
    tt.return
  }

  // Accesses to memory stay where they are.
  // CHECK-LABEL: @memory
  // COMBINED-LABEL: @memory
  // CHECK: scf.if
  // CHECK: tt.store
  // CHECK: tt.load
  // CHECK: scf.if
  tt.func @memory(%c: i1, %p: !tt.ptr<i32>, %a: i32) {
    scf.if %c {
      tt.store %p, %a : !tt.ptr<i32>
    }
    %x = tt.load %p : !tt.ptr<i32>
    scf.if %c {
      tt.store %p, %x : !tt.ptr<i32>
    }
    tt.return
  }
}

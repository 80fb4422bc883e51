// RUN: tile-opt %s -split-input-file -tritongpu-fuse-nested-loops -cse -canonicalize | filecheck %s
// RUN: tile-opt %s -split-input-file -tritongpu-fuse-nested-loops | filecheck %s --check-prefix=RAW

// The prologue runs where the turn is 0, the epilogue in the last turn; what the
// epilogue alone needs of the prologue is made there.
// CHECK-LABEL: @tiles
// CHECK-SAME: (%[[LB:.*]]: i32, %[[UB:.*]]: i32, %[[N:.*]]: i32, %[[P:.*]]: !tt.ptr<i32>)
tt.func @tiles(%lb: i32, %ub: i32, %n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant dense<0> : tensor<64xi32>
  // CHECK-DAG: %[[POISON:.*]] = ub.poison : i32
  // CHECK-DAG: %[[COUNT:.*]] = arith.maxsi
  // CHECK-DAG: %[[TOTAL:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
  // CHECK-DAG: %[[BEFORE:.*]] = arith.subi %[[LB]], %c4_i32
  // CHECK: scf.for %{{.*}} = %c0_i64 to %[[TOTAL]] step %c1_i64
  // CHECK-SAME: iter_args(%[[TURN:.*]] = %c0_i32, %[[I:.*]] = %[[BEFORE]], %[[CARRIED:.*]] = %[[POISON]], %[[ACC:.*]] = %cst)
  scf.for %i = %lb to %ub step %c4 : i32 {
    %base = arith.muli %i, %n : i32
    %row = arith.divsi %i, %n : i32
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TURN]], %c0_i32
    // CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[TURN]],
    // CHECK: %[[BEGIN:.*]]:2 = scf.if %[[FIRST]] -> (i32, i32) {
    // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[I]], %c4_i32
    // CHECK-NEXT: %[[BASE:.*]] = arith.muli %[[NEXT]], %[[N]]
    // CHECK-NEXT: scf.yield %[[NEXT]], %[[BASE]]
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %[[I]], %[[CARRIED]]
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xi32>) : i32 {
      // CHECK: arith.addi %[[BEGIN]]#1, %[[TURN]]
      // CHECK: %[[X:.*]] = tt.splat
      // CHECK: %[[NEW:.*]] = arith.addi %[[ACC]], %[[X]]
      %k = arith.addi %base, %j : i32
      %x = tt.splat %k : i32 -> tensor<64xi32>
      %new = arith.addi %acc, %x : tensor<64xi32>
      scf.yield %new : tensor<64xi32>
    }
    // The canonical form of a reset to zero.
    // CHECK: %[[RESET:.*]] = arith.select %[[LAST]], %cst, %[[NEW]]
    // CHECK: scf.if %[[LAST]] {
    // CHECK-NEXT: %[[ROW:.*]] = arith.divsi %[[BEGIN]]#0, %[[N]]
    // CHECK: tt.store %{{.*}}, %[[NEW]]
    %q = tt.addptr %p, %row : !tt.ptr<i32>, i32
    %ptrs = tt.splat %q : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    tt.store %ptrs, %r : tensor<64x!tt.ptr<i32>>
    // CHECK: %[[MORE:.*]] = arith.addi %[[TURN]], %c1_i32
    // CHECK: %[[THEN:.*]] = arith.select %[[LAST]], %c0_i32, %[[MORE]]
    // CHECK: scf.yield %[[THEN]], %[[BEGIN]]#0, %[[BEGIN]]#1, %[[RESET]]
  } {tt.flatten}
  // Tiles without turns.
  // CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[COUNT]], %c0_i64
  // CHECK: %[[UPPER:.*]] = arith.select %[[NONE]], %[[UB]], %[[LB]]
  // CHECK: scf.for %{{.*}} = %[[LB]] to %[[UPPER]] step %c4_i32
  // CHECK: tt.store %{{.*}}, %cst
  // CHECK-NOT: tt.flatten
  tt.return
}

// -----

// A value goes through both loops; the inner one always runs.
// CHECK-LABEL: @carried
tt.func @carried(%n: i32, %x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  // CHECK: %[[R:.*]]:4 = scf.for {{.*}} iter_args(%[[TURN:.*]] = %c0_i32, %[[I:.*]] = %c-1_i32, %[[OUTER:.*]] = %c0_i32, %[[INNER:.*]] = %c0_i32)
  // CHECK: %[[STEP:.*]] = arith.addi %[[INNER]],
  // CHECK: %[[END:.*]]:2 = scf.if %{{.*}} -> (i32, i32) {
  // CHECK: %[[NEW:.*]] = arith.muli %[[STEP]],
  // CHECK: scf.yield %[[NEW]], %[[NEW]]
  // CHECK: } else {
  // CHECK: scf.yield %[[OUTER]], %[[STEP]]
  // CHECK: scf.yield %{{.*}}, %{{.*}}, %[[END]]#0, %[[END]]#1
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
    %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%acc = %sum) -> (i32) : i32 {
      %a = arith.addi %acc, %j : i32
      scf.yield %a : i32
    }
    %t = arith.muli %s, %x : i32
    scf.yield %t : i32
  } {tt.flatten, tt.num_stages = 4 : i32}
  // CHECK: } {tt.num_stages = 4 : i32}
  // CHECK-NOT: scf.for
  // CHECK: tt.return %[[R]]#2
  tt.return %r : i32
}

// -----

// A load that only the epilogue needs does not hold up what the body needs (the
// canonicalizer would put the two branches together).
// RAW-LABEL: @late
tt.func @late(%n: i32, %p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  // RAW: scf.for
  // RAW: %{{.*}}:2 = scf.if %[[FIRST:.*]] -> (i32, !tt.ptr<i32>) {
  // RAW-NOT: tt.load
  // RAW: } else {
  // RAW: %[[BIAS:.*]] = scf.if %[[FIRST]] -> (i32) {
  // RAW: %[[LOADED:.*]] = tt.load
  // RAW: scf.yield %[[LOADED]]
  scf.for %i = %c0 to %n step %c1 : i32 {
    %at = tt.addptr %q, %i : !tt.ptr<i32>, i32
    %bias = tt.load %at : !tt.ptr<i32>
    %from = tt.addptr %p, %i : !tt.ptr<i32>, i32
    %r = scf.for %j = %c0 to %c8 step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
      %a = tt.addptr %from, %j : !tt.ptr<i32>, i32
      %x = tt.load %a : !tt.ptr<i32>
      %s = arith.addi %acc, %x : i32
      scf.yield %s : i32
    }
    // RAW: scf.if
    // RAW: %[[SUM:.*]] = arith.addi %{{.*}}, %[[BIAS]]
    // RAW: tt.store %{{.*}}, %[[SUM]]
    %sum = arith.addi %r, %bias : i32
    tt.store %at, %sum : !tt.ptr<i32>
  } {tt.flatten}
  tt.return
}

// -----

// The inner loop's initial value comes from the prologue.
// CHECK-LABEL: @computed
tt.func @computed(%n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %{{.*}} = %c-1_i32, %[[AT:.*]] = %[[POISON:.*]])
  // CHECK: %[[BEGIN:.*]]:2 = scf.if
  // CHECK: scf.yield %{{.*}}, %[[AT]] : i32, !tt.ptr<i32>
  // CHECK: tt.store %[[BEGIN]]#1
  // CHECK: %[[NEXT:.*]] = tt.addptr %[[BEGIN]]#1
  // CHECK: scf.yield %{{.*}}, %[[BEGIN]]#0, %[[NEXT]]
  scf.for %i = %c0 to %n step %c1 : i32 {
    %from = tt.addptr %p, %i : !tt.ptr<i32>, i32
    %r = scf.for %j = %c0 to %c8 step %c1 iter_args(%at = %from) -> (!tt.ptr<i32>) : i32 {
      tt.store %at, %j : !tt.ptr<i32>
      %next = tt.addptr %at, %c8 : !tt.ptr<i32>, i32
      scf.yield %next : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}

// -----

// Left alone: an inner loop of varying length, two loops side by side, no loop,
// and a nest that nobody asked to flatten.
// CHECK-LABEL: @left
tt.func @left(%n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for
  // CHECK-NEXT: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %i step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
  } {tt.flatten}
  // CHECK: scf.for
  // CHECK-NEXT: scf.for
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
    scf.for %j = %c0 to %n step %c1 : i32 {
      tt.store %p, %i : !tt.ptr<i32>
    }
  } {tt.flatten}
  // CHECK: scf.for
  // CHECK-NEXT: tt.store
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.flatten}
  // CHECK: scf.for
  // CHECK-NEXT: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
  }
  tt.return
}

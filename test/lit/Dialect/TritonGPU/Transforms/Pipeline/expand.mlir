// RUN: tile-opt %s -tritongpu-pipeline -canonicalize -cse | filecheck %s

// Bounds near the ends of the type: what is subtracted from them never wraps around.
// CHECK-LABEL: tt.func @any_bounds
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<i32>, %[[LOW:.*]]: i32, %[[HIGH:.*]]: i32)
// CHECK: %[[ENOUGH:.*]] = arith.maxsi %[[HIGH]], %c-2147483584_i32
// CHECK: %[[LIMIT:.*]] = arith.subi %[[ENOUGH]], %c64_i32
// CHECK: scf.for %[[I:.*]] = %[[LOW]] to %[[HIGH]] step %c64_i32
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[LIMIT]]
// CHECK: tt.load %{{.*}}, %[[MORE]]
tt.func @any_bounds(%p: !tt.ptr<i32>, %low: i32, %high: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %r = scf.for %i = %low to %high step %c64 iter_args(%sum = %c0) -> (i32) : i32 {
    %at = tt.addptr %p, %i {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>, i32
    %x = tt.load %at {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>
    %next = arith.addi %sum, %x {loop.cluster = 0 : i32, loop.stage = 1 : i32} : i32
    scf.yield %next : i32
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return %r : i32
}

// Without a sign, zero is the least number: no bound of steps from there.
// CHECK-LABEL: tt.func @unsigned
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<i32>, %[[HIGH:.*]]: i32)
// CHECK: arith.cmpi ugt, %[[HIGH]], %c0_i32
// CHECK: %[[ENOUGH:.*]] = arith.maxui %[[HIGH]], %c8_i32
// CHECK: %[[LIMIT:.*]] = arith.subi %[[ENOUGH]], %c8_i32
// CHECK: scf.for unsigned %[[I:.*]] = %c0_i32 to %[[HIGH]] step %c8_i32
// CHECK: arith.cmpi ult, %[[I]], %[[LIMIT]]
tt.func @unsigned(%p: !tt.ptr<i32>, %high: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %r = scf.for unsigned %i = %c0 to %high step %c8 iter_args(%sum = %c0) -> (i32) : i32 {
    %at = tt.addptr %p, %i {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>, i32
    %x = tt.load %at {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>
    %next = arith.addi %sum, %x {loop.cluster = 0 : i32, loop.stage = 1 : i32} : i32
    scf.yield %next : i32
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return %r : i32
}

// The counter of the iteration before the last one: of the early stage it is computed, of the last
// stage it is carried.
// CHECK-LABEL: tt.func @handed_on
// CHECK-SAME: (%{{.*}}: !tt.ptr<i32>, %{{.*}}: i32, %[[FIRST:.*]]: i32, %[[SECOND:.*]]: i32)
// CHECK: scf.for %[[I:.*]] = %c0_i32 to {{.*}} iter_args(%[[OLDER:[^ ]*]] = %[[FIRST]], %[[OLD:[^ ]*]] = %[[SECOND]],
// CHECK: arith.muli %{{.*}}, %[[OLDER]]
// CHECK: tt.addptr %{{.*}}, %[[OLD]]
// CHECK: scf.yield %[[OLD]], %[[I]],
tt.func @handed_on(%p: !tt.ptr<i32>, %n: i32, %first: i32, %second: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%older = %first, %old = %second, %sum = %c0) -> (i32, i32, i32) : i32 {
    %at = tt.addptr %p, %older {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>, i32
    %x = tt.load %at {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>
    %y = arith.muli %x, %older {loop.cluster = 0 : i32, loop.stage = 1 : i32} : i32
    %next = arith.addi %sum, %y {loop.cluster = 0 : i32, loop.stage = 1 : i32} : i32
    scf.yield %old, %i, %next : i32, i32, i32
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return %r#2 : i32
}

// What two arguments are called in turns.
// CHECK-LABEL: tt.func @swap
// CHECK: %[[R:.*]]:{{.*}} = scf.for {{.*}} iter_args(%[[A:[^ ]*]] = %{{[^ ]*}}, %[[B:[^ ]*]] = %{{[^ ]*}},
// CHECK: tt.addptr %{{.*}}, %[[B]]
// CHECK: scf.yield %[[B]], %[[A]],
// CHECK: tt.return %[[R]]#0, %[[R]]#2
tt.func @swap(%p: !tt.ptr<i32>, %n: i32, %first: i32, %second: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %first, %b = %second, %sum = %c0) -> (i32, i32, i32) : i32 {
    %at = tt.addptr %p, %a {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>, i32
    %x = tt.load %at {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>
    %next = arith.addi %sum, %x {loop.cluster = 0 : i32, loop.stage = 1 : i32} : i32
    scf.yield %b, %a, %next : i32, i32, i32
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return %r#0, %r#2 : i32, i32
}

// An address that is used after the loop stays where the last iteration left it, also if there are
// fewer iterations than stages.
// CHECK-LABEL: tt.func @address_after
// CHECK: %[[FIRST:.*]] = arith.cmpi sgt, %{{.*}}, %c0_i32
// CHECK: %[[AHEAD:.*]] = arith.select %[[FIRST]], %{{.*}}, %arg0
// CHECK: scf.for {{.*}} iter_args(%[[Q:.*]] = %[[AHEAD]],
// CHECK: %[[MORE:.*]] = arith.cmpi slt
// CHECK: tt.load %[[Q]], %[[MORE]]
// CHECK: %[[NEXT:.*]] = tt.addptr %[[Q]]
// CHECK: %[[KEPT:.*]] = arith.select %[[MORE]], %[[NEXT]], %[[Q]]
// CHECK: scf.yield %[[KEPT]]
tt.func @address_after(%p: !tt.ptr<i32>, %n: i32) -> (!tt.ptr<i32>, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p, %sum = %c0) -> (!tt.ptr<i32>, i32) : i32 {
    %x = tt.load %q {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>
    %at = tt.addptr %q, %c1 {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<i32>, i32
    %next = arith.addi %sum, %x {loop.cluster = 0 : i32, loop.stage = 1 : i32} : i32
    scf.yield %at, %next : !tt.ptr<i32>, i32
  } {tt.scheduled_max_stage = 1 : i32}
  tt.return %r#0, %r#1 : !tt.ptr<i32>, i32
}

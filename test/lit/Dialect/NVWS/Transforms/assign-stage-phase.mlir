// RUN: tile-opt %s -allow-unregistered-dialect -nvws-assign-stage-phase -cse | filecheck %s

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ring = !nvws.aref<[!ttg.memdesc<3x16xi32, #shared, #smem, mutable>]>
!slot = !ttg.memdesc<16xi32, #shared, #smem, mutable>
module attributes {"ttg.num-warps" = 4 : i32} {
  // Those that fill begin at the phase before the first one.
  // CHECK-LABEL: @loop
  tt.func @loop(%m: !ttg.memdesc<3x16xi32, #shared, #smem, mutable>, %n: i32) {
    %lb = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    // CHECK: [[RING:%.*]] = nvws.aref.create
    // CHECK: [[TWO:%.*]] = arith.constant 2 : i32
    %ring = nvws.aref.create %m : !ring
    // CHECK: scf.for {{.*}} iter_args([[S0:%.*]] = [[TWO]], [[P0:%.*]] = %{{.*}}, [[S1:%.*]] = [[TWO]], [[P1:%.*]] = %{{.*}})
    scf.for %i = %lb to %n step %step : i32 {
      // CHECK: [[ONE:%.*]] = arith.constant {ttg.partition = array<i32: 0>} 1 : i32
      // CHECK-NEXT: [[A:%.*]] = arith.addi [[S0]], [[ONE]] {ttg.partition = array<i32: 0>}
      // CHECK-NEXT: [[THREE:%.*]] = arith.constant {ttg.partition = array<i32: 0>} 3 : i32
      // CHECK-NEXT: [[W:%.*]] = arith.cmpi eq, [[A]], [[THREE]] {ttg.partition = array<i32: 0>}
      // CHECK-NEXT: [[ZERO:%.*]] = arith.constant {ttg.partition = array<i32: 0>} 0 : i32
      // CHECK-NEXT: [[S:%.*]] = arith.select [[W]], [[ZERO]], [[A]] {ttg.partition = array<i32: 0>}
      // CHECK-NEXT: [[B:%.*]] = arith.xori [[P0]], [[ONE]] {ttg.partition = array<i32: 0>}
      // CHECK-NEXT: [[P:%.*]] = arith.select [[W]], [[B]], [[P0]] {ttg.partition = array<i32: 0>}
      // CHECK-NEXT: nvws.aref.put.enter [[RING]][[[S]], [[P]]] {ttg.partition = array<i32: 0>}
      %w, %t = nvws.aref.put.enter %ring {ttg.partition = array<i32: 0>} : !ring -> !slot, !ttg.async.token
      // CHECK: nvws.aref.put.exit [[RING]][[[S]]]
      nvws.aref.put.exit %ring, %t [#nvws.async_op<none>] {ttg.partition = array<i32: 0>} : !ring, !ttg.async.token
      // CHECK: arith.addi [[S1]]
      // CHECK: nvws.aref.get.enter [[RING]][[[G:%[0-9]+]], [[GP:%[0-9]+]]] {ttg.partition = array<i32: 1>}
      %r, %u = nvws.aref.get.enter %ring {ttg.partition = array<i32: 1>} : !ring -> !slot, !ttg.async.token
      // CHECK: nvws.aref.get.exit [[RING]][[[G]]]
      nvws.aref.get.exit %ring, %u [#nvws.async_op<none>] {ttg.partition = array<i32: 1>} : !ring, !ttg.async.token
      // CHECK: scf.yield {ttg.partition = array<i32: 0, 1>} [[S]], [[P]], [[G]], [[GP]]
    } {ttg.partition = array<i32: 0, 1>}
    // CHECK: ttg.partition.outputs = [array<i32: 0>, array<i32: 0>, array<i32: 1>, array<i32: 1>]
    tt.return
  }

  // A branch hands on what it got where it does not enter.
  // CHECK-LABEL: @branch
  tt.func @branch(%m: !ttg.memdesc<3x16xi32, #shared, #smem, mutable>, %c: i1) {
    // CHECK: [[RING:%.*]] = nvws.aref.create
    %ring = nvws.aref.create %m : !ring
    // CHECK: [[B:%.*]]:2 = scf.if
    scf.if %c {
      // CHECK: nvws.aref.put.enter [[RING]][[[S:%[0-9]+]], [[P:%[0-9]+]]]
      %w, %t = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
      nvws.aref.put.exit %ring, %t [#nvws.async_op<none>] : !ring, !ttg.async.token
      // CHECK: scf.yield [[S]], [[P]]
    }
    // CHECK: } else {
    // CHECK-NEXT: scf.yield
    // CHECK: arith.addi [[B]]#0
    %w, %t = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
    nvws.aref.put.exit %ring, %t [#nvws.async_op<none>] : !ring, !ttg.async.token
    tt.return
  }

  // The token of the last round goes through the loop, and its slot does, too.
  // CHECK-LABEL: @carried
  tt.func @carried(%m: !ttg.memdesc<3x16xi32, #shared, #smem, mutable>, %n: i32) {
    %lb = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    // CHECK: [[RING:%.*]] = nvws.aref.create
    %ring = nvws.aref.create %m : !ring
    // CHECK: nvws.aref.put.enter [[RING]][[[S:%[0-9]+]], [[P:%[0-9]+]]]
    %w, %t = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
    // CHECK: [[L:%.*]]:3 = scf.for {{.*}} iter_args([[T:%.*]] = %{{.*}}, [[S1:%.*]] = [[S]], [[P1:%.*]] = [[P]])
    %last = scf.for %i = %lb to %n step %step iter_args(%u = %t) -> (!ttg.async.token) : i32 {
      // CHECK: nvws.aref.buffer [[RING]][[[S1]]], [[T]]
      %b = nvws.aref.buffer %ring, %u : !ring, !ttg.async.token -> !slot
      "fill"(%b) : (!slot) -> ()
      // CHECK: nvws.aref.put.exit [[RING]][[[S1]]], [[T]]
      nvws.aref.put.exit %ring, %u [#nvws.async_op<none>] : !ring, !ttg.async.token
      %x, %v = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
      scf.yield %v : !ttg.async.token
    }
    // CHECK: nvws.aref.put.exit [[RING]][[[L]]#1], [[L]]#0
    nvws.aref.put.exit %ring, %last [#nvws.async_op<none>] : !ring, !ttg.async.token
    tt.return
  }
}

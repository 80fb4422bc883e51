// RUN: tile-opt %s -allow-unregistered-dialect -split-input-file -nvws-assign-stage-phase -verify-diagnostics

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ring = !nvws.aref<[!ttg.memdesc<3x16xi32, #shared, #smem, mutable>]>
!slot = !ttg.memdesc<16xi32, #shared, #smem, mutable>
// Two rounds are under way: their slots differ.
tt.func @two_rounds(%m: !ttg.memdesc<3x16xi32, #shared, #smem, mutable>, %n: i32) {
  %lb = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %ring = nvws.aref.create %m : !ring
  %w, %t = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
  scf.for %i = %lb to %n step %step iter_args(%u = %t) -> (!ttg.async.token) : i32 {
    %x, %v = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
    // expected-error @+1 {{expected the token of the last round, as loops and branches hand on its slot only}}
    nvws.aref.put.exit %ring, %u [#nvws.async_op<none>] : !ring, !ttg.async.token
    scf.yield %v : !ttg.async.token
  }
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ring = !nvws.aref<[!ttg.memdesc<3x16xi32, #shared, #smem, mutable>]>
tt.func @other_token(%m: !ttg.memdesc<3x16xi32, #shared, #smem, mutable>, %t: !ttg.async.token) {
  %ring = nvws.aref.create %m : !ring
  // expected-error @+1 {{expected a token of an operation that enters this ring}}
  nvws.aref.put.exit %ring, %t [#nvws.async_op<none>] : !ring, !ttg.async.token
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ring = !nvws.aref<[!ttg.memdesc<3x16xi32, #shared, #smem, mutable>]>
!slot = !ttg.memdesc<16xi32, #shared, #smem, mutable>
tt.func @behind_group(%m: !ttg.memdesc<3x16xi32, #shared, #smem, mutable>) {
  %ring = nvws.aref.create %m : !ring
  nvws.warp_group
  partition0 num_warps(4) {
    %w, %t = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
    nvws.aref.put.exit %ring, %t [#nvws.async_op<none>] : !ring, !ttg.async.token
    nvws.warp_group.return
  }
  // expected-error @+1 {{expected no rounds behind an nvws.warp_group whose partitions took some}}
  %w, %t = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
  tt.return
}

// RUN: tile-opt %s -split-input-file -nvws-lower-aref -verify-diagnostics

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ring = !nvws.aref<[!ttg.memdesc<3x16xi32, #shared, #smem, mutable>]>
!slot = !ttg.memdesc<16xi32, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @nobody_reads(%m: !ttg.memdesc<3x16xi32, #shared, #smem, mutable>) {
    // expected-error @+1 {{expected a ring that somebody fills and somebody reads}}
    %ring = nvws.aref.create %m : !ring
    %w, %t = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
    nvws.aref.put.exit %ring, %t [#nvws.async_op<none>] : !ring, !ttg.async.token
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ring = !nvws.aref<[!ttg.memdesc<3x16xi32, #shared, #smem, mutable>]>
!slot = !ttg.memdesc<16xi32, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @in_order(%m: !ttg.memdesc<3x16xi32, #shared, #smem, mutable>) {
    %ring = nvws.aref.create %m : !ring
    %w, %t = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
    nvws.aref.put.exit %ring, %t [#nvws.async_op<none>] : !ring, !ttg.async.token
    %r, %u = nvws.aref.get.enter %ring : !ring -> !slot, !ttg.async.token
    // expected-error @+1 {{expected work that arrives at a barrier when it is done, found #nvws.async_op<wgmma>}}
    nvws.aref.get.exit %ring, %u [#nvws.async_op<wgmma>] : !ring, !ttg.async.token
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ring = !nvws.aref<[!ttg.memdesc<3x16xi32, #shared, #smem, mutable>]>
!slot = !ttg.memdesc<16xi32, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @no_copy(%m: !ttg.memdesc<3x16xi32, #shared, #smem, mutable>) {
    %ring = nvws.aref.create %m : !ring
    // expected-error @+1 {{expected copies that fill the slot, as its exit says, found none}}
    %w, %t = nvws.aref.put.enter %ring : !ring -> !slot, !ttg.async.token
    nvws.aref.put.exit %ring, %t [#nvws.async_op<tma_load>] : !ring, !ttg.async.token
    %r, %u = nvws.aref.get.enter %ring : !ring -> !slot, !ttg.async.token
    nvws.aref.get.exit %ring, %u [#nvws.async_op<none>] : !ring, !ttg.async.token
    tt.return
  }
}

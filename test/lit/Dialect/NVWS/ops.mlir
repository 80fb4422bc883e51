// RUN: tile-opt %s | filecheck %s

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: @ring
tt.func @ring(%a: !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>, %desc: !tt.tensordesc<tensor<128x64xf16, #shared>>, %stage: i32, %phase: i32) {
  // CHECK: [[AREF:%.*]] = nvws.aref.create %{{.*}}, %{{.*}} : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>]>
  %aref = nvws.aref.create %a, %b : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>]>
  // CHECK: %{{.*}}:2, [[T:%.*]] = nvws.aref.put.enter [[AREF]][%{{.*}}, %{{.*}}] {ttg.partition = array<i32: 2>} : <[{{.*}}]> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable, 1x128x64>, !ttg.memdesc<64x128xf16, #shared, #smem, mutable, 1x64x128>, !ttg.async.token
  %x:2, %t = nvws.aref.put.enter %aref[%stage, %phase] {ttg.partition = array<i32: 2>} : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>]> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable, 1x128x64>, !ttg.memdesc<64x128xf16, #shared, #smem, mutable, 1x64x128>, !ttg.async.token
  // CHECK: nvws.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] 16384 %{{.*}} : !tt.tensordesc<tensor<128x64xf16, #shared>>, i32, i32, !ttg.memdesc<128x64xf16, #shared, #smem, mutable, 1x128x64>
  nvws.descriptor_load %desc[%stage, %phase] 16384 %x#0 : !tt.tensordesc<tensor<128x64xf16, #shared>>, i32, i32, !ttg.memdesc<128x64xf16, #shared, #smem, mutable, 1x128x64>
  // CHECK: nvws.aref.put.exit [[AREF]][%{{.*}}], [[T]] [#nvws.async_op<tma_load>] : <[{{.*}}]>, !ttg.async.token
  nvws.aref.put.exit %aref[%stage], %t [#nvws.async_op<tma_load>] : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>]>, !ttg.async.token
  // CHECK: %{{.*}}:2, [[U:%.*]] = nvws.aref.get.enter [[AREF]] : <
  %y:2, %u = nvws.aref.get.enter %aref : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>]> -> !ttg.memdesc<128x64xf16, #shared, #smem, 1x128x64>, !ttg.memdesc<64x128xf16, #shared, #smem, 1x64x128>, !ttg.async.token
  // CHECK: nvws.aref.buffer [[AREF]], [[U]] : <{{.*}}>, !ttg.async.token -> !ttg.memdesc<128x64xf16
  %z:2 = nvws.aref.buffer %aref, %u : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>]>, !ttg.async.token -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  // CHECK: nvws.aref.get.exit [[AREF]], [[U]] [#nvws.async_op<tc5mma>, #nvws.async_op<none>] : <
  nvws.aref.get.exit %aref, %u [#nvws.async_op<tc5mma>, #nvws.async_op<none>] : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>]>, !ttg.async.token
  // CHECK: nvws.aref.destroy [[AREF]] : <
  nvws.aref.destroy %aref : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>]>
  tt.return
}

// CHECK-LABEL: @tokens
tt.func @tokens(%slot: i32, %phase: i1) {
  // CHECK: nvws.create_token {loadType = 2 : i32, numBuffers = 3 : i32} : tensor<3x!nvws.token>
  %t = "nvws.create_token"() <{loadType = 2 : i32, numBuffers = 3 : i32}> : () -> tensor<3x!nvws.token>
  // CHECK: nvws.producer_acquire %{{.*}}, %{{.*}}, %{{.*}} {async_task_id = array<i32: 0>} : tensor<3x!nvws.token>, i32, i1
  "nvws.producer_acquire"(%t, %slot, %phase) {async_task_id = array<i32: 0>} : (tensor<3x!nvws.token>, i32, i1) -> ()
  // CHECK: nvws.producer_commit
  "nvws.producer_commit"(%t, %slot) : (tensor<3x!nvws.token>, i32) -> ()
  // CHECK: nvws.consumer_wait
  "nvws.consumer_wait"(%t, %slot, %phase) : (tensor<3x!nvws.token>, i32, i1) -> ()
  // CHECK: nvws.consumer_release
  nvws.consumer_release %t, %slot : tensor<3x!nvws.token>, i32
  tt.return
}

// CHECK-LABEL: @several_partitions
tt.func @several_partitions(%buf: !ttg.memdesc<2xi64, #shared1, #smem, mutable, 3x2>) -> i32 {
  // CHECK: nvws.clc_try_cancel %{{.*}} : !ttg.memdesc<2xi64, #shared1, #smem, mutable, 3x2>
  nvws.clc_try_cancel %buf : !ttg.memdesc<2xi64, #shared1, #smem, mutable, 3x2>
  %a = arith.constant {ttg.partition = array<i32: 2>} 1 : i32
  %b = arith.constant {ttg.partition = array<i32: 0, 1>} 2 : i32
  // CHECK: nvws.aref.phi %{{.*}}, %{{.*}} {ttg.partition = array<i32: 0, 1, 2>} : i32
  %x = nvws.aref.phi %a, %b {ttg.partition = array<i32: 0, 1, 2>} : i32
  tt.return %x : i32
}

// What a loop carries is in the partitions of its result.
// CHECK-LABEL: @carried
tt.func @carried(%lb: i32, %ub: i32, %step: i32, %initial: i32) {
  %result = scf.for %i = %lb to %ub step %step iter_args(%state = %initial) -> i32 : i32 {
    %other = arith.constant {ttg.partition = array<i32: 0>} 1 : i32
    // CHECK: nvws.aref.phi %{{.*}}, %{{.*}} {ttg.partition = array<i32: 0, 1>} : i32
    %selected = nvws.aref.phi %state, %other {ttg.partition = array<i32: 0, 1>} : i32
    scf.yield {ttg.partition = array<i32: 1>} %selected : i32
  } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>]}
  tt.return
}

// CHECK-LABEL: @partitions
tt.func @partitions(%x: i32) -> i32 {
  // CHECK:      [[R:%.*]] = nvws.warp_group
  // CHECK-NEXT: partition0 num_warps(4) {
  // CHECK-NEXT:   nvws.warp_group.yield %{{.*}} : i32
  // CHECK-NEXT: }
  // CHECK-NEXT: partition1 num_warps(8) {
  // CHECK-NEXT:   nvws.warp_group.return
  // CHECK-NEXT: } -> (i32)
  %r = nvws.warp_group
  partition0 num_warps(4) {
    nvws.warp_group.yield %x : i32
  }
  partition1 num_warps(8) {
    nvws.warp_group.return
  } -> (i32)
  // CHECK: nvws.warp_group attributes {tag = 1 : i32}
  nvws.warp_group attributes {tag = 1 : i32}
  partition0 num_warps(4) {
    nvws.warp_group.return
  }
  tt.return %r : i32
}

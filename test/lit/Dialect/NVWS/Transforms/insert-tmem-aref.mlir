// RUN: tile-opt %s -allow-unregistered-dialect -nvws-insert-tmem-aref | filecheck %s
// RUN: tile-opt %s -allow-unregistered-dialect -nvws-insert-tmem-aref -nvws-assign-stage-phase -nvws-lower-aref | filecheck %s -check-prefix LOWERED
// RUN: tile-opt %s -allow-unregistered-dialect -nvws-insert-tmem-aref --remarks-filter=".*" 2>&1 | filecheck %s -check-prefix REMARK

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!rows = tensor<128x64xf32, #rows>
!token = !ttg.async.token
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // Each round begins with a dot that overwrites the buffer, so that the ring has
  // two slots.
  // LOWERED-LABEL: @scores
  // LOWERED-NOT: nvws
  // CHECK-LABEL: @scores
  // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<2x128x64xf32
  // CHECK-NEXT: [[R:%.*]] = nvws.aref.create [[D]]
  // CHECK: scf.for
  // CHECK-NEXT: %{{.*}}, [[T:%.*]] = nvws.aref.put.enter [[R]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: [[W:%.*]] = nvws.aref.buffer [[R]], [[T]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma %{{[^,]*}}, %{{[^,]*}}, [[W]]
  // CHECK-NEXT: nvws.aref.put.exit [[R]], [[T]] [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: %{{.*}}, [[U:%.*]] = nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: [[G:%.*]] = nvws.aref.buffer [[R]], [[U]] {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: [[X:%.*]] = ttnvgpu.tmem_load [[G]]
  // CHECK-NEXT: nvws.aref.get.exit [[R]], [[U]] [#nvws.async_op<none>] {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: "use"([[X]])
  tt.func @scores(%a: !a, %b: !b, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %false = arith.constant false
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %false, %true {is_async, ttg.partition = array<i32: 1>} : !a, !b, !sum
      %x = ttnvgpu.tmem_load %d {ttg.partition = array<i32: 0>} : !sum -> !rows
      "use"(%x) {ttg.partition = array<i32: 0>} : (!rows) -> ()
    } {ttg.partition = array<i32: 0, 1>}
    tt.return
  }

  // The dots of a tile are in a loop of their own: that is one round.
  // CHECK-LABEL: @tiles
  // CHECK: ttnvgpu.tmem_alloc : () -> !ttg.memdesc<1x128x64xf32
  // CHECK: scf.for
  // CHECK-NEXT: nvws.aref.put.enter [[R:%.*]] {ttg.partition = array<i32: 1>}
  // CHECK: scf.for
  // CHECK: nvws.aref.put.exit [[R]], %{{.*}} [#nvws.async_op<tc5mma>]
  // CHECK-NEXT: nvws.aref.get.enter [[R]]
  tt.func @tiles(%a: !a, %b: !b, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.for %k = %c0 to %n step %c1 : i32 {
        ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {is_async, ttg.partition = array<i32: 1>} : !a, !b, !sum
      } {ttg.partition = array<i32: 1>}
      %x = ttnvgpu.tmem_load %d {ttg.partition = array<i32: 0>} : !sum -> !rows
      "use"(%x) {ttg.partition = array<i32: 0>} : (!rows) -> ()
    } {ttg.partition = array<i32: 0, 1>}
    tt.return
  }

  // The first partition has the last round, too. The other one takes that slot
  // and does nothing with it. So the ring is empty again.
  // CHECK-LABEL: @three_rounds
  // CHECK: ttnvgpu.tmem_load
  // CHECK-NEXT: nvws.aref.put.exit [[R:%.*]], %{{.*}} {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: %{{.*}}, [[T:%.*]] = nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: nvws.aref.get.exit [[R]], [[T]] [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: "use"
  // CHECK: nvws.aref.destroy [[R]]
  tt.func @three_rounds(%a: !a, %b: !b, %v: !rows, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttnvgpu.tmem_store %v, %d, %true {ttg.partition = array<i32: 0>} : !rows -> !sum
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {is_async, ttg.partition = array<i32: 1>} : !a, !b, !sum
      %x = ttnvgpu.tmem_load %d {ttg.partition = array<i32: 0>} : !sum -> !rows
      "use"(%x) {ttg.partition = array<i32: 0>} : (!rows) -> ()
    } {ttg.partition = array<i32: 0, 1>}
    tt.return
  }

  // All warps store in front of the loop, and hand the slot to the partition
  // without a wait. They load behind it: the partition gives it away there.
  // CHECK-LABEL: @around
  // CHECK: %{{.*}}, [[T:%.*]] = nvws.aref.put.enter [[R:%[0-9]+]] :
  // CHECK: ttnvgpu.tmem_store
  // CHECK: [[L:%.*]] = scf.for {{.*}} iter_args([[I:%.*]] = [[T]])
  // CHECK-NEXT: nvws.aref.buffer [[R]], [[I]] {ttg.partition = array<i32: 1>}
  // CHECK: scf.yield [[I]]
  // CHECK: nvws.aref.put.exit [[R]], [[L]] [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>, ttg.warp_specialize.tag = 3 : i32}
  // CHECK-NEXT: nvws.aref.get.enter [[R]] :
  // CHECK: ttnvgpu.tmem_load
  // CHECK-NEXT: nvws.aref.get.exit
  tt.func @around(%a: !a, %b: !b, %v: !rows, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d, %t = ttnvgpu.tmem_alloc : () -> (!sum, !token)
    %s = ttnvgpu.tmem_store %v, %d[%t], %true : !rows -> !sum
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%k = %s) -> (!token) : i32 {
      %m = ttnvgpu.tc_gen5_mma %a, %b, %d[%k], %true, %true {ttg.partition = array<i32: 1>} : !a, !b, !sum
      scf.yield %m : !token
    } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>], ttg.warp_specialize.tag = 3 : i32}
    %x, %u = ttnvgpu.tmem_load %d[%l] : !sum -> !rows
    "use"(%x) : (!rows) -> ()
    tt.return
  }

  // Both ends of a branch leave the buffer to the partition of its token. That
  // partition has branches of its own.
  // CHECK-LABEL: @in_a_branch
  // CHECK: ttnvgpu.tc_gen5_mma
  // CHECK-NEXT: scf.if %{{.*}} {
  // CHECK-NEXT: nvws.aref.put.exit
  // CHECK: } {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: scf.if %{{.*}} {
  // CHECK-NEXT: nvws.aref.get.enter
  // CHECK: nvws.aref.get.exit
  // CHECK: } {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: [[B:%.*]] = scf.if %{{.*}} -> (!ttg.async.token) {
  // CHECK-NEXT: %{{.*}}, [[T:%.*]] = nvws.aref.put.enter
  // CHECK-NEXT: scf.yield {ttg.partition = array<i32: 1>} [[T]]
  // CHECK: } {ttg.partition = array<i32: 1>, ttg.partition.outputs = [array<i32: 1>]}
  // CHECK-NEXT: scf.yield [[B]]
  tt.func @in_a_branch(%a: !a, %b: !b, %c: i1, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d, %t = ttnvgpu.tmem_alloc : () -> (!sum, !token)
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%k = %t) -> (!token) : i32 {
      %m = ttnvgpu.tc_gen5_mma %a, %b, %d[%k], %true, %true {ttg.partition = array<i32: 1>} : !a, !b, !sum
      %e = scf.if %c -> (!token) {
        %x, %u = ttnvgpu.tmem_load %d[%m] {ttg.partition = array<i32: 0>} : !sum -> !rows
        "use"(%x) {ttg.partition = array<i32: 0>} : (!rows) -> ()
        scf.yield %u : !token
      } else {
        scf.yield %m : !token
      } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>]}
      scf.yield %e : !token
    } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>], ttg.warp_specialize.tag = 0 : i32}
    tt.return
  }

  // A loop that decides at its start hands on the token through both parts.
  // CHECK-LABEL: @while
  // CHECK: scf.while ({{.*}}, [[I:%.*]] = %{{.*}})
  // CHECK-NEXT: scf.condition({{.*}} [[I]] :
  // CHECK: ^bb0(%{{.*}}, [[K:%.*]]: !ttg.async.token):
  // CHECK-NEXT: nvws.aref.buffer %{{.*}}, [[K]]
  // CHECK: %{{.*}}, [[T:%.*]] = nvws.aref.put.enter
  // CHECK-NEXT: scf.yield {{.*}} [[T]] :
  tt.func @while(%a: !a, %b: !b, %go: i1) {
    %true = arith.constant true
    %d, %t = ttnvgpu.tmem_alloc : () -> (!sum, !token)
    %l:2 = scf.while (%g = %go, %k = %t) : (i1, !token) -> (i1, !token) {
      scf.condition(%g) {ttg.partition = array<i32: 0, 1>} %g, %k : i1, !token
    } do {
    ^bb0(%g: i1, %k: !token):
      %m = ttnvgpu.tc_gen5_mma %a, %b, %d[%k], %true, %true {ttg.partition = array<i32: 1>} : !a, !b, !sum
      %x, %u = ttnvgpu.tmem_load %d[%m] {ttg.partition = array<i32: 0>} : !sum -> !rows
      "use"(%x) {ttg.partition = array<i32: 0>} : (!rows) -> ()
      scf.yield {ttg.partition = array<i32: 0, 1>} %go, %u : i1, !token
    } attributes {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 0, 1>, array<i32: 1>], ttg.warp_specialize.tag = 0 : i32}
    tt.return
  }

  // A buffer with contents of its own: who makes it fills the slot.
  // CHECK-LABEL: @made_in_the_loop
  // CHECK: nvws.aref.put.enter [[R:%.*]] {ttg.partition = array<i32: 0>}
  // CHECK: ttnvgpu.tmem_store %{{.*}}, %{{.*}} {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: nvws.aref.put.exit [[R]], %{{.*}} [#nvws.async_op<none>] {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 1>}
  // CHECK: ttnvgpu.tc_gen5_mma
  // CHECK-NEXT: nvws.aref.get.exit [[R]], %{{.*}} [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>}
  tt.func @made_in_the_loop(%b: !b, %d: !sum, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = "make"() {ttg.partition = array<i32: 0>} : () -> tensor<128x64xf16, #rows>
      %p = ttnvgpu.tmem_alloc %x {ttg.partition = array<i32: 0>} : (tensor<128x64xf16, #rows>) -> !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
      ttnvgpu.tc_gen5_mma %p, %b, %d, %true, %true {ttg.partition = array<i32: 1>} : !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>, !b, !sum
    } {ttg.partition = array<i32: 0, 1>}
    tt.return
  }

  // With other buffers, 512 columns have no room for a second slot.
  // CHECK-LABEL: @no_room
  // CHECK: ttnvgpu.tmem_alloc : () -> !ttg.memdesc<1x128x64xf32
  tt.func @no_room(%a: !a, %b: !b, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %false = arith.constant false
    %d = ttnvgpu.tmem_alloc : () -> !sum
    %e = ttnvgpu.tmem_alloc : () -> !sum
    %f = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<256x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    %g = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<512x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %false, %true {ttg.partition = array<i32: 1>} : !a, !b, !sum
      "use"(%d) {ttg.partition = array<i32: 0>} : (!sum) -> ()
    } {ttg.partition = array<i32: 0, 1>}
    tt.return
  }

  // CHECK-LABEL: @three_partitions
  // CHECK-NOT: nvws
  // REMARK: no ring hands this buffer to other partitions: more than two partitions access it
  tt.func @three_partitions(%a: !a, %b: !b, %v: !rows, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttnvgpu.tmem_store %v, %d, %true {ttg.partition = array<i32: 2>} : !rows -> !sum
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {is_async, ttg.partition = array<i32: 1>} : !a, !b, !sum
      %x = ttnvgpu.tmem_load %d {ttg.partition = array<i32: 0>} : !sum -> !rows
      "use"(%x) {ttg.partition = array<i32: 0>} : (!rows) -> ()
    } {ttg.partition = array<i32: 0, 1, 2>}
    tt.return
  }

  // REMARK: no ring hands this buffer to other partitions: several operations come behind one of its tokens
  tt.func @token_used_twice(%a: !a, %b: !b, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d, %t = ttnvgpu.tmem_alloc : () -> (!sum, !token)
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%k = %t) -> (!token) : i32 {
      %m = ttnvgpu.tc_gen5_mma %a, %b, %d[%k], %true, %true {ttg.partition = array<i32: 1>} : !a, !b, !sum
      %x, %u = ttnvgpu.tmem_load %d[%m] {ttg.partition = array<i32: 0>} : !sum -> !rows
      "use"(%x) {ttg.partition = array<i32: 0>} : (!rows) -> ()
      scf.yield %k : !token
    } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>], ttg.warp_specialize.tag = 0 : i32}
    tt.return
  }
}

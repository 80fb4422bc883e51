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
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // LOWERED-LABEL: @scores
  // LOWERED-NOT: nvws
  // CHECK-LABEL: @scores
  // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<1x128x64xf32
  // CHECK-NEXT: [[R:%.*]] = nvws.aref.create [[D]]
  // CHECK: scf.for
  // CHECK-NEXT: [[W:%.*]], [[T:%.*]] = nvws.aref.put.enter [[R]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma %{{[^,]*}}, %{{[^,]*}}, [[W]]
  // CHECK-NEXT: nvws.aref.put.exit [[R]], [[T]] [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: [[G:%.*]], [[U:%.*]] = nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 0>}
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
  // CHECK: scf.for
  // CHECK-NEXT: nvws.aref.put.enter [[R:%.*]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: scf.for
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

  // The partition that stores at the beginning loads at the end, and so the
  // buffer is its own from there to the next iteration.
  // CHECK-LABEL: @three_rounds
  // CHECK-NOT: nvws
  // REMARK: no ring hands this buffer to other partitions: one partition has the first and the last round of an iteration
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
}

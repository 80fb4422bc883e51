// RUN: tile-opt %s -allow-unregistered-dialect -nvws-insert-aref | filecheck %s
// RUN: tile-opt %s -allow-unregistered-dialect -nvws-insert-aref -nvws-assign-stage-phase -nvws-lower-aref | filecheck %s -check-prefix LOWERED

#rows = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#answer = #ttg.linear<{register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], block = []}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!block = tensor<64x64xf16, #rows>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
!turned = !ttg.memdesc<64x64xf16, #turned, #smem>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // A copy fills the slot, and a tensor core reads it.
  // LOWERED-LABEL: @copied
  // LOWERED-NOT: nvws
  // CHECK-LABEL: @copied
  // CHECK: [[M:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable>
  // CHECK-NEXT: [[R:%.*]] = nvws.aref.create [[M]]
  // CHECK-NEXT: scf.for
  // CHECK: [[W:%.*]], [[T:%.*]] = nvws.aref.put.enter [[R]] {ttg.partition = array<i32: 2>}
  // CHECK-NEXT: nvws.descriptor_load %{{.*}} 8192 [[W]] {ttg.partition = array<i32: 2>}
  // CHECK-NEXT: nvws.aref.put.exit [[R]], [[T]] [#nvws.async_op<tma_load>] {ttg.partition = array<i32: 2>}
  // CHECK-NOT: tt.descriptor_load
  // CHECK: [[G:%.*]], [[U:%.*]] = nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma %{{[^,]*}}, [[G]]
  // CHECK-NEXT: nvws.aref.get.exit [[R]], [[U]] [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>}
  tt.func @copied(%desc: !desc, %a: !a, %d: !sum, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.descriptor_load %desc[%i, %c0] {ttg.partition = array<i32: 2>} : !desc -> !block
      %b = ttg.local_alloc %x {ttg.partition = array<i32: 2>} : (!block) -> !buffer
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {is_async, ttg.partition = array<i32: 1>} : !a, !buffer, !sum
    } {tt.warp_specialize, ttg.partition = array<i32: 1, 2>}
    tt.return
  }

  // Threads fill the slot. Two partitions take from it, and the maker has its
  // registers.
  // CHECK-LABEL: @made
  // CHECK: [[X:%.*]] = "make"()
  // CHECK-NEXT: [[W:%.*]], [[T:%.*]] = nvws.aref.put.enter [[R:%.*]] {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: ttg.local_store [[X]], [[W]] {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: nvws.aref.put.exit [[R]], [[T]] [#nvws.async_op<none>] {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: "use"([[X]]) {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: [[G:%.*]], [[U:%.*]] = nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: [[Y:%.*]] = ttg.local_load [[G]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: nvws.aref.get.exit [[R]], [[U]] [#nvws.async_op<none>] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: "use"([[Y]])
  // CHECK-NEXT: "use"([[Y]])
  // CHECK-NEXT: nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 2>}
  tt.func @made(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = "make"() {ttg.partition = array<i32: 0>} : () -> !block
      "use"(%x) {ttg.partition = array<i32: 0>} : (!block) -> ()
      "use"(%x) {ttg.partition = array<i32: 1>} : (!block) -> ()
      "use"(%x) {ttg.partition = array<i32: 1>} : (!block) -> ()
      "use"(%x) {ttg.partition = array<i32: 2>} : (!block) -> ()
    } {ttg.partition = array<i32: 0, 1, 2>}
    tt.return
  }

  // The partition that loads has no tensor: it takes from the ring, too. The
  // alloc of another partition is the slot itself.
  // CHECK-LABEL: @loaded_for_all
  // CHECK: nvws.descriptor_load
  // CHECK-NEXT: nvws.aref.put.exit
  // CHECK: nvws.aref.get.enter [[R:%.*]] {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: nvws.aref.get.exit [[R]], %{{.*}} {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: "use"
  // CHECK-NEXT: [[G:%.*]], %{{.*}} = nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: "read"([[G]])
  // CHECK-NEXT: nvws.aref.get.exit
  tt.func @loaded_for_all(%desc: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.descriptor_load %desc[%i, %c0] {ttg.partition = array<i32: 0>} : !desc -> !block
      "use"(%x) {ttg.partition = array<i32: 0>} : (!block) -> ()
      %b = ttg.local_alloc %x {ttg.partition = array<i32: 1>} : (!block) -> !buffer
      "read"(%b) {ttg.partition = array<i32: 1>} : (!buffer) -> ()
    } {ttg.partition = array<i32: 0, 1>}
    tt.return
  }

  // A partition makes its views of the slot, behind the place where it takes it.
  // The one that has filled the slot takes it, too.
  // CHECK-LABEL: @viewed
  // CHECK: nvws.aref.put.exit
  // CHECK-NEXT: [[H:%.*]], [[W:%.*]] = nvws.aref.get.enter [[R:%.*]] {ttg.partition = array<i32: 2>}
  // CHECK-NEXT: [[X:%.*]] = ttg.memdesc_trans [[H]] {order = array<i32: 1, 0>, ttg.partition = array<i32: 2>}
  // CHECK-NEXT: [[G:%.*]], [[U:%.*]] = nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: [[V:%.*]] = ttg.memdesc_trans [[G]] {order = array<i32: 1, 0>, ttg.partition = array<i32: 1>}
  // CHECK-NEXT: "read"([[V]])
  // CHECK-NEXT: nvws.aref.get.exit [[R]], [[U]]
  // CHECK-NEXT: "read"([[X]])
  // CHECK-NEXT: "read"([[H]])
  // CHECK-NEXT: nvws.aref.get.exit [[R]], [[W]]
  tt.func @viewed(%desc: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.descriptor_load %desc[%i, %c0] {ttg.partition = array<i32: 2>} : !desc -> !block
      %b = ttg.local_alloc %x {ttg.partition = array<i32: 2>} : (!block) -> !buffer
      %t = ttg.memdesc_trans %b {order = array<i32: 1, 0>, ttg.partition = array<i32: 1>} : !buffer -> !turned
      "read"(%t) {ttg.partition = array<i32: 1>} : (!turned) -> ()
      "read"(%t) {ttg.partition = array<i32: 2>} : (!turned) -> ()
      "read"(%b) {ttg.partition = array<i32: 2>} : (!buffer) -> ()
    } {ttg.partition = array<i32: 1, 2>}
    tt.return
  }

  // What stays in its partition goes through no ring.
  // CHECK-LABEL: @stays
  // CHECK-NOT: nvws
  tt.func @stays() {
    %x = "make"() {ttg.partition = array<i32: 0>} : () -> !block
    "use"(%x) {ttg.partition = array<i32: 0>} : (!block) -> ()
    tt.return
  }

  // A loop hands a value on to its partition, which fills the slot at the start
  // of the iteration. The other one takes it from there.
  // CHECK-LABEL: @handed_on
  // CHECK: scf.for {{.*}} iter_args([[K:%.*]] = %{{.*}})
  // CHECK-NEXT: [[W:%.*]], [[T:%.*]] = nvws.aref.put.enter [[R:%.*]] {ttg.partition = array<i32: 0>}
  // CHECK-NEXT: ttg.local_store [[K]], [[W]] {ttg.partition = array<i32: 0>}
  // CHECK: [[G:%.*]], [[U:%.*]] = nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: [[X:%.*]] = ttg.local_load [[G]] {ttg.partition = array<i32: 1>}
  // CHECK: "use"([[X]])
  tt.func @handed_on(%first: !block, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %first) -> (!block) : i32 {
      %x = "make"(%k) {ttg.partition = array<i32: 0>} : (!block) -> !block
      "use"(%k) {ttg.partition = array<i32: 1>} : (!block) -> ()
      scf.yield {ttg.partition = array<i32: 0>} %x : !block
    } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 0>]}
    tt.return
  }

  // What one partition makes, the loop hands on to another one: that one takes
  // it at the end.
  // CHECK-LABEL: @handed_over
  // CHECK: "make"
  // CHECK: nvws.aref.put.exit
  // CHECK: "use"
  // CHECK-NEXT: nvws.aref.get.enter
  // CHECK-NEXT: [[X:%.*]] = ttg.local_load {{.*}} {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: nvws.aref.get.exit
  // CHECK-NEXT: scf.yield {{.*}}[[X]]
  tt.func @handed_over(%first: !block, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %first) -> (!block) : i32 {
      %x = "make"() {ttg.partition = array<i32: 0>} : () -> !block
      "use"(%k) {ttg.partition = array<i32: 1>} : (!block) -> ()
      scf.yield {ttg.partition = array<i32: 0, 1>} %x : !block
    } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>]}
    tt.return
  }

  // The maker runs the user with its own value, the others with what they took.
  // Only partitions of their own have no phi any more.
  // LOWERED-LABEL: @together
  // CHECK-LABEL: @together
  // CHECK: [[X:%.*]] = "make"
  // CHECK: nvws.aref.get.enter %{{.*}} {ttg.partition = array<i32: 0, 2>}
  // CHECK: [[Y:%.*]] = ttg.local_load {{.*}} {ttg.partition = array<i32: 0, 2>}
  // CHECK: [[P:%.*]] = nvws.aref.phi [[X]], [[Y]] {ttg.partition = array<i32: 0, 1, 2>}
  // CHECK: "use"([[P]])
  // CHECK: "use"([[Y]])
  tt.func @together(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = "make"() {ttg.partition = array<i32: 1>} : () -> !block
      "use"(%x) {ttg.partition = array<i32: 0, 1>} : (!block) -> ()
      "use"(%x) {ttg.partition = array<i32: 0, 2>} : (!block) -> ()
    } {ttg.partition = array<i32: 0, 1, 2>}
    tt.return
  }

  // A number goes through a ring as a tensor of one element.
  // CHECK-LABEL: @number
  // CHECK: [[S:%.*]] = tt.splat %{{.*}} {ttg.partition = array<i32: 0>} : i32 -> tensor<1xi32
  // CHECK-NEXT: ttg.local_store [[S]]
  // CHECK: [[L:%.*]] = ttg.local_load
  // CHECK: [[N:%.*]] = tt.unsplat [[L]] {ttg.partition = array<i32: 1>}
  // CHECK: "use"([[N]])
  tt.func @number(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = "make"() {ttg.partition = array<i32: 0>} : () -> i32
      "use"(%x) {ttg.partition = array<i32: 1>} : (i32) -> ()
    } {ttg.partition = array<i32: 0, 1>}
    tt.return
  }

  // Launch control answers into a ring of two slots. All partitions read it.
  // CHECK-LABEL: @answer
  // CHECK: ttg.local_alloc {alignment = 16 : i32} : () -> !ttg.memdesc<2x2xi64
  // CHECK: [[W:%.*]], [[T:%.*]] = nvws.aref.put.enter [[R:%.*]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: nvws.clc_try_cancel [[W]] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: nvws.aref.put.exit [[R]], [[T]] [#nvws.async_op<clc>] {ttg.partition = array<i32: 1>}
  // CHECK-NEXT: [[G:%.*]], [[U:%.*]] = nvws.aref.get.enter [[R]] {ttg.partition = array<i32: 0, 1>}
  // CHECK-NEXT: ttnvgpu.clc_load_result [[G]]
  // CHECK-NEXT: nvws.aref.get.exit [[R]], [[U]] [#nvws.async_op<none>] {ttg.partition = array<i32: 0, 1>}
  tt.func @answer(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %a = ttnvgpu.clc_try_cancel_sync {ttg.partition = array<i32: 1>} : tensor<2xi64, #answer>
      %b = ttg.local_alloc %a {alignment = 16 : i32, ttg.partition = array<i32: 1>} : (tensor<2xi64, #answer>) -> !ttg.memdesc<2xi64, #line, #smem, mutable>
      %c = ttnvgpu.clc_load_result %b {ttg.partition = array<i32: 0, 1>} : !ttg.memdesc<2xi64, #line, #smem, mutable> -> i128
      "use"(%c) {ttg.partition = array<i32: 0, 1>} : (i128) -> ()
    } {ttg.partition = array<i32: 0, 1>}
    tt.return
  }
}

// RUN: tile-opt %s -split-input-file -nvws-hoist-tmem-store | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!left = !ttg.memdesc<128x64xf16, #shared, #smem>
!right = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!value = tensor<128x64xf32, #rows>
!token = !ttg.async.token
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // All tiles have as many steps: the value is written once.
  // CHECK-LABEL: @same_steps
  // CHECK: %[[SUM:.*]], %[[FIRST:.*]] = ttnvgpu.tmem_alloc %{{.*}} : (tensor<128x64xf32
  // CHECK-NOT: ttnvgpu.tmem_store
  // CHECK: scf.for {{.*}} iter_args(%[[HANDED:.*]] = %[[FIRST]]) -> (!ttg.async.token)
  // CHECK: %[[R:.*]]:2 = scf.for {{.*}} = %[[HANDED]])
  // CHECK: ttnvgpu.tc_gen5_mma %{{.*}}, %{{.*}}, %[[SUM]][
  // CHECK: %[[LOADED:.*]], %[[LAST:.*]] = ttnvgpu.tmem_load %[[SUM]][%[[R]]#1]
  // CHECK: scf.yield %[[LAST]]
  // CHECK: ttg.partition.outputs = [array<i32: 1>]
  tt.func public @same_steps(%a: !left, %b: !right, %tiles: i32, %steps: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %false = arith.constant false
    %true = arith.constant true
    %zero = arith.constant dense<0.0> : !value
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %d, %t = ttnvgpu.tmem_alloc {ttg.partition = array<i32: 0, 1>} : () -> (!sum, !token)
      %u = ttnvgpu.tmem_store %zero, %d[%t], %true {ttg.partition = array<i32: 0>} : !value -> !sum
      %r:2 = scf.for %k = %c0 to %steps step %c1 iter_args(%adds = %false, %v = %u) -> (i1, !token) : i32 {
        %w = ttnvgpu.tc_gen5_mma %a, %b, %d[%v], %adds, %true {ttg.partition = array<i32: 1>} : !left, !right, !sum
        scf.yield {ttg.partition = array<i32: 1>} %true, %w : i1, !token
      } {ttg.partition = array<i32: 1>, ttg.partition.outputs = [array<i32: 1>, array<i32: 1>]}
      %x, %y = ttnvgpu.tmem_load %d[%r#1] {ttg.partition = array<i32: 0>} : !sum -> !value
    } {tt.warp_specialize, ttg.partition = array<i32: 0, 1>}
    tt.return
  }

  // A tile may have no step while others have some: each begins with zero.
  // CHECK-LABEL: @other_steps
  // CHECK: scf.for
  // CHECK: %[[SUM:.*]], %[[FIRST:.*]] = ttnvgpu.tmem_alloc %{{.*}} {ttg.partition = array<i32: 1>}
  // CHECK-NOT: ttnvgpu.tmem_store
  // CHECK: scf.for {{.*}} = %[[FIRST]])
  // The same with the promise that it has one.
  // CHECK: ttnvgpu.tmem_alloc
  // CHECK: scf.for
  // CHECK: llvm.intr.assume
  // CHECK-NOT: ttnvgpu.tmem_alloc
  tt.func public @other_steps(%a: !left, %b: !right, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %false = arith.constant false
    %true = arith.constant true
    %zero = arith.constant dense<0.0> : !value
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %d, %t = ttnvgpu.tmem_alloc {ttg.partition = array<i32: 0, 1>} : () -> (!sum, !token)
      %u = ttnvgpu.tmem_store %zero, %d[%t], %true {ttg.partition = array<i32: 0>} : !value -> !sum
      %r:2 = scf.for %k = %c0 to %i step %c1 iter_args(%adds = %false, %v = %u) -> (i1, !token) : i32 {
        %w = ttnvgpu.tc_gen5_mma %a, %b, %d[%v], %adds, %true {ttg.partition = array<i32: 1>} : !left, !right, !sum
        scf.yield {ttg.partition = array<i32: 1>} %true, %w : i1, !token
      } {ttg.partition = array<i32: 1>, ttg.partition.outputs = [array<i32: 1>, array<i32: 1>]}
    } {tt.warp_specialize, ttg.partition = array<i32: 0, 1>}
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %some = arith.cmpi sgt, %i, %c0 {ttg.partition = array<i32: 1>} : i32
      llvm.intr.assume %some : i1 {ttg.partition = array<i32: 1>}
      %d, %t = ttnvgpu.tmem_alloc %zero {ttg.partition = array<i32: 1>} : (!value) -> (!sum, !token)
      %r:2 = scf.for %k = %c0 to %i step %c1 iter_args(%adds = %false, %v = %t) -> (i1, !token) : i32 {
        %w = ttnvgpu.tc_gen5_mma %a, %b, %d[%v], %adds, %true {ttg.partition = array<i32: 1>} : !left, !right, !sum
        scf.yield {ttg.partition = array<i32: 1>} %true, %w : i1, !token
      } {ttg.partition = array<i32: 1>, ttg.partition.outputs = [array<i32: 1>, array<i32: 1>]}
    } {tt.warp_specialize, ttg.partition = array<i32: 0, 1>}
    tt.return
  }

  // Loops without a count, and buffers without tokens.
  // CHECK-LABEL: @while
  // CHECK: ttnvgpu.tmem_alloc %{{.*}} :
  // CHECK: %[[BARE:.*]] = ttnvgpu.tmem_alloc %{{.*}} :
  // CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (i1, !ttg.async.token)
  // CHECK: scf.condition(%{{.*}}) %{{.*}}, %{{.*}} : i1, !ttg.async.token
  // CHECK-NOT: ttnvgpu.tmem_store
  // CHECK: scf.yield {{.*}} %{{.*}}, %{{.*}} : i1, !ttg.async.token
  // CHECK: ttg.partition.outputs = [array<i32: 0, 1>, array<i32: 1>]
  tt.func public @while(%a: !left, %b: !right, %run: i1, %steps: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %false = arith.constant false
    %true = arith.constant true
    %zero = arith.constant dense<0.0> : !value
    %l = scf.while (%go = %run) : (i1) -> i1 {
      scf.condition(%go) %go : i1
    } do {
    ^bb0(%go: i1):
      %d, %t = ttnvgpu.tmem_alloc %zero {ttg.partition = array<i32: 0, 1>} : (!value) -> (!sum, !token)
      %e = ttnvgpu.tmem_alloc : () -> !sum
      ttnvgpu.tmem_store %zero, %e, %true : !value -> !sum
      %r:2 = scf.for %k = %c0 to %steps step %c1 iter_args(%adds = %false, %v = %t) -> (i1, !token) : i32 {
        %w = ttnvgpu.tc_gen5_mma %a, %b, %d[%v], %adds, %true {ttg.partition = array<i32: 1>} : !left, !right, !sum
        ttnvgpu.tc_gen5_mma %a, %b, %e, %adds, %true {ttg.partition = array<i32: 1>} : !left, !right, !sum
        scf.yield {ttg.partition = array<i32: 1>} %true, %w : i1, !token
      } {ttg.partition = array<i32: 1>, ttg.partition.outputs = [array<i32: 1>, array<i32: 1>]}
      scf.yield {ttg.partition = array<i32: 0, 1>} %go : i1
    } attributes {tt.warp_specialize, ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 0, 1>]}
    tt.return
  }

  // The value may differ from tile to tile, or the first dot adds to it.
  // CHECK-LABEL: @needed
  // CHECK: scf.for
  // CHECK: ttnvgpu.tmem_alloc : ()
  // CHECK: ttnvgpu.tmem_store
  // CHECK: ttnvgpu.tmem_alloc : ()
  // CHECK: ttnvgpu.tmem_store
  tt.func public @needed(%a: !left, %b: !right, %p: tensor<128x64x!tt.ptr<f32>, #rows>, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %false = arith.constant false
    %true = arith.constant true
    %zero = arith.constant dense<0.0> : !value
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      %first = tt.load %p : tensor<128x64x!tt.ptr<f32>, #rows>
      %d = ttnvgpu.tmem_alloc : () -> !sum
      ttnvgpu.tmem_store %first, %d, %true : !value -> !sum
      scf.for %k = %c0 to %tiles step %c1 iter_args(%adds = %false) -> (i1) : i32 {
        ttnvgpu.tc_gen5_mma %a, %b, %d, %adds, %true : !left, !right, !sum
        scf.yield %true : i1
      }
      %e = ttnvgpu.tmem_alloc : () -> !sum
      ttnvgpu.tmem_store %zero, %e, %true : !value -> !sum
      scf.for %k = %c0 to %tiles step %c1 : i32 {
        ttnvgpu.tc_gen5_mma %a, %b, %e, %true, %true : !left, !right, !sum
      }
    }
    tt.return
  }
}

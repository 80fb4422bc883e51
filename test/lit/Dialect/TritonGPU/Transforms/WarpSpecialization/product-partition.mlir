// RUN: tile-opt %s -split-input-file -tritongpu-partition-loops -canonicalize | filecheck %s

// A loop alone: the default group starts the dots. They hand buffers back, too,
// and the producer waits for the last ones.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
!desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!tile = tensor<64x64xf16, #blocked>
!operand = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<64x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @loop
  // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 1 :
  // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 5 :
  // CHECK: ttg.warp_specialize
  // CHECK: default {
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: ttnvgpu.tc_gen5_mma
  // CHECK: %[[EMPTY:.*]] = ttg.memdesc_index
  // CHECK: ttnvgpu.tc_gen5_commit %[[EMPTY]]
  // CHECK: ttnvgpu.arrive_barrier %{{.*}}, 4
  // CHECK: partition0({{.*}}) num_warps(1) {
  // CHECK: %[[AT:.*]]:2 = scf.for
  // CHECK: scf.yield
  // CHECK: %[[BEFORE:.*]] = arith.xori %[[AT]]#1
  // CHECK: ttnvgpu.wait_barrier %{{.*}}, %[[BEFORE]]
  // CHECK: ttnvgpu.wait_barrier
  // CHECK-NOT: ttnvgpu.wait_barrier
  // CHECK: ttg.warp_return
  // CHECK-NOT: partition1
  tt.func @loop(%a: !desc, %d: !sum, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    scf.for %k = %c0 to %n step %c64 : i32 {
      %x = tt.descriptor_load %a[%c0, %k] {ttg.partition = 0 : i32} : !desc -> !tile
      %xm = ttg.local_alloc %x : (!tile) -> !operand
      ttnvgpu.tc_gen5_mma %xm, %xm, %d, %true, %true : !operand, !operand, !sum
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return
  }
}

// -----

// A loop over tiles: a warp of its own starts the dots of the next tile, into
// another sum. What reads a sum between the loops of dots comes behind them.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
!right = !ttg.memdesc<64x64xf16, #shared, #smem>
!tile = tensor<128x64xf16, #blocked>
!operand = !ttg.memdesc<128x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @tiles
  // CHECK: %[[SUMS:.*]] = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<2x128x64xf32
  // CHECK: %[[OTHERS:.*]] = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<2x128x64xf32
  // CHECK: ttg.warp_specialize
  // CHECK: default {
  // CHECK: scf.for {{.*}} iter_args(%[[PLACE:.*]] = %c0_i32, %[[PHASE:.*]] = %c0_i32)
  // CHECK-DAG: %[[SUM:.*]] = ttg.memdesc_index %[[SUMS]][%[[PLACE]]]
  // CHECK-DAG: %[[OTHER:.*]] = ttg.memdesc_index %[[OTHERS]][%[[PLACE]]]
  // CHECK-NOT: ttnvgpu.tc_gen5_mma
  // CHECK: ttnvgpu.wait_barrier %{{.*}}, %[[PHASE]]
  // CHECK: ttnvgpu.tmem_store %{{.*}}, %[[SUM]]
  // CHECK: ttnvgpu.tmem_load %[[SUM]]
  // CHECK: ttnvgpu.tmem_store %{{.*}}, %[[OTHER]]
  // CHECK: ttnvgpu.tmem_load %[[OTHER]]
  // CHECK: ttnvgpu.arrive_barrier %{{.*}}, 4
  // CHECK: tt.store
  // CHECK: ttg.warp_yield
  // CHECK: partition0({{.*}}) num_warps(1) {
  // CHECK: ttg.warp_return
  // CHECK: partition1({{.*}}) num_warps(1) {
  // CHECK: scf.for {{.*}}%[[STORED:.*]] = %{{.*}})
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: scf.for
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: ttnvgpu.tc_gen5_mma {{.*}} {is_async}
  // CHECK: ttnvgpu.tc_gen5_commit
  // CHECK-NOT: ttnvgpu.arrive_barrier
  // CHECK: scf.for
  // CHECK: ttnvgpu.tc_gen5_mma {{.*}} {is_async}
  // CHECK: ttnvgpu.tc_gen5_commit
  // CHECK: }
  // CHECK: ttnvgpu.tc_gen5_commit
  // CHECK-NOT: ttnvgpu.wait_barrier
  // CHECK: ttg.warp_return
  tt.func @tiles(%a: !desc, %b: !right, %p: tensor<128x64x!tt.ptr<f32>, #linear>, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #linear>
    %none = arith.cmpi sle, %n, %c0 : i32
    %d = ttnvgpu.tmem_alloc : () -> !sum
    %e = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      scf.for %k = %c0 to %n step %c64 iter_args(%adds = %false) -> (i1) : i32 {
        %x = tt.descriptor_load %a[%t, %k] {ttg.partition = 0 : i32} : !desc -> !tile
        %xm = ttg.local_alloc %x : (!tile) -> !operand
        ttnvgpu.tc_gen5_mma %xm, %b, %d, %adds, %true : !operand, !right, !sum
        scf.yield %true : i1
      } {tt.num_stages = 2 : i32}
      ttnvgpu.tmem_store %zero, %d, %none : tensor<128x64xf32, #linear> -> !sum
      %r = ttnvgpu.tmem_load %d : !sum -> tensor<128x64xf32, #linear>
      scf.for %k = %c0 to %n step %c64 iter_args(%adds = %false) -> (i1) : i32 {
        %x = tt.descriptor_load %a[%t, %k] {ttg.partition = 0 : i32} : !desc -> !tile
        %xm = ttg.local_alloc %x : (!tile) -> !operand
        ttnvgpu.tc_gen5_mma %xm, %b, %e, %adds, %true : !operand, !right, !sum
        scf.yield %true : i1
      } {tt.num_stages = 2 : i32}
      ttnvgpu.tmem_store %zero, %e, %none : tensor<128x64xf32, #linear> -> !sum
      %s = ttnvgpu.tmem_load %e : !sum -> tensor<128x64xf32, #linear>
      %rs = arith.addf %r, %s : tensor<128x64xf32, #linear>
      tt.store %p, %rs : tensor<128x64x!tt.ptr<f32>, #linear>
    } {tt.warp_specialize}
    tt.return
  }

  // The dots of a tile begin with what threads have stored: they start them.
  // CHECK-LABEL: tt.func @begins_with_a_sum
  // CHECK: ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xf32
  // CHECK: default {
  // CHECK: ttnvgpu.tmem_store
  // CHECK: ttnvgpu.tc_gen5_mma
  // CHECK: partition0
  // CHECK-NOT: partition1
  tt.func @begins_with_a_sum(%a: !desc, %b: !right, %x: tensor<128x64xf32, #linear>, %p: tensor<128x64x!tt.ptr<f32>, #linear>, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      ttnvgpu.tmem_store %x, %d, %true : tensor<128x64xf32, #linear> -> !sum
      scf.for %k = %c0 to %n step %c64 : i32 {
        %y = tt.descriptor_load %a[%t, %k] {ttg.partition = 0 : i32} : !desc -> !tile
        %ym = ttg.local_alloc %y : (!tile) -> !operand
        ttnvgpu.tc_gen5_mma %ym, %b, %d, %true, %true : !operand, !right, !sum
      } {tt.num_stages = 2 : i32}
      %r = ttnvgpu.tmem_load %d : !sum -> tensor<128x64xf32, #linear>
      tt.store %p, %r : tensor<128x64x!tt.ptr<f32>, #linear>
    } {tt.warp_specialize}
    tt.return
  }

  // A sum that goes on from tile to tile has one place.
  // CHECK-LABEL: tt.func @goes_on
  // CHECK: ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xf32
  // CHECK: ttnvgpu.tc_gen5_mma
  // CHECK-NOT: partition1
  tt.func @goes_on(%a: !desc, %b: !right, %p: tensor<128x64x!tt.ptr<f32>, #linear>, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      scf.for %k = %c0 to %n step %c64 : i32 {
        %y = tt.descriptor_load %a[%t, %k] {ttg.partition = 0 : i32} : !desc -> !tile
        %ym = ttg.local_alloc %y : (!tile) -> !operand
        ttnvgpu.tc_gen5_mma %ym, %b, %d, %true, %true : !operand, !right, !sum
      } {tt.num_stages = 2 : i32}
      %r = ttnvgpu.tmem_load %d : !sum -> tensor<128x64xf32, #linear>
      tt.store %p, %r : tensor<128x64x!tt.ptr<f32>, #linear>
    } {tt.warp_specialize}
    tt.return
  }

  // In a tile without dots, nobody would overwrite what an earlier one left.
  // CHECK-LABEL: tt.func @stale
  // CHECK: ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xf32
  // CHECK: ttnvgpu.tc_gen5_mma
  // CHECK-NOT: partition1
  tt.func @stale(%a: !desc, %b: !right, %p: tensor<128x64x!tt.ptr<f32>, #linear>, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    %false = arith.constant false
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      scf.for %k = %c0 to %n step %c64 iter_args(%adds = %false) -> (i1) : i32 {
        %y = tt.descriptor_load %a[%t, %k] {ttg.partition = 0 : i32} : !desc -> !tile
        %ym = ttg.local_alloc %y : (!tile) -> !operand
        ttnvgpu.tc_gen5_mma %ym, %b, %d, %adds, %true : !operand, !right, !sum
        scf.yield %true : i1
      } {tt.num_stages = 2 : i32}
      %r = ttnvgpu.tmem_load %d : !sum -> tensor<128x64xf32, #linear>
      tt.store %p, %r : tensor<128x64x!tt.ptr<f32>, #linear>
    } {tt.warp_specialize}
    tt.return
  }
}

// -----

// Two blocks multiply together. The first one holds the barriers at which the
// copies of both arrive, and those at which threads of both hand sums back.
// Each has those at which the end of the dots arrives. The blocks meet before
// anything arrives in the other one, and before the barriers end.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = [[128, 0]]}>
#left = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#right = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CTASplitM = 2, twoCTAs = true>
!sum = !ttg.memdesc<256x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32, "ttng.two-ctas" = true} {
  // CHECK-DAG: [[OWN:#.*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = {{\[}}[1]]}>
  // CHECK-DAG: [[HELD:#.*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = {{\[}}[0]]}>
  // CHECK-LABEL: tt.func @pair
  // CHECK: %[[FULL:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, [[HELD]]
  // CHECK: %[[EMPTY:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x2xi64, [[OWN]]
  // CHECK: %[[DONE:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x2xi64, [[OWN]]
  // CHECK: %[[STORED:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, [[HELD]]
  // CHECK: ttnvgpu.fence_mbarrier_init_release_cluster
  // CHECK-NEXT: ttnvgpu.cluster_barrier
  // CHECK: ttg.warp_specialize
  // CHECK: ttnvgpu.arrive_barrier %{{.*}}, 4 : !ttg.memdesc<1xi64, [[HELD]]
  // CHECK: ttg.warp_yield
  // CHECK: partition0({{.*}}) num_warps(1) {
  // CHECK: ttnvgpu.wait_barrier %{{.*}} : !ttg.memdesc<2xi64, [[OWN]]
  // CHECK: ttnvgpu.barrier_expect %{{.*}}, 24576, %{{.*}} : !ttg.memdesc<1xi64, [[HELD]]
  // CHECK: partition1({{.*}}) num_warps(1) {
  // CHECK: ttnvgpu.wait_barrier %{{.*}} : !ttg.memdesc<1xi64, [[HELD]]
  // CHECK: scf.for
  // CHECK: ttnvgpu.wait_barrier %{{.*}} : !ttg.memdesc<1xi64, [[HELD]]
  // CHECK: ttnvgpu.tc_gen5_mma {{.*}} {is_async, two_ctas}
  // CHECK: ttnvgpu.tc_gen5_commit %{{.*}} : !ttg.memdesc<2xi64, [[OWN]]
  // CHECK: ttnvgpu.tc_gen5_commit %{{.*}} : !ttg.memdesc<2xi64, [[OWN]]
  // CHECK: ttg.warp_return
  // CHECK: ttnvgpu.cluster_barrier
  // CHECK: ttnvgpu.inval_barrier
  tt.func @pair(%a: !tt.tensordesc<tensor<256x64xf16, #left>>, %b: !tt.tensordesc<tensor<64x128xf16, #right>>, %p: tensor<256x128x!tt.ptr<f32>, #linear>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %steps = arith.constant 192 : i32
    %false = arith.constant false
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = scf.for %k = %c0 to %steps step %c64 iter_args(%adds = %false) -> (i1) : i32 {
        %x = tt.descriptor_load %a[%i, %k] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<256x64xf16, #left>> -> tensor<256x64xf16, #blocked>
        %y = tt.descriptor_load %b[%k, %i] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x128xf16, #right>> -> tensor<64x128xf16, #columns>
        %xm = ttg.local_alloc %x : (tensor<256x64xf16, #blocked>) -> !ttg.memdesc<256x64xf16, #left, #smem>
        %ym = ttg.local_alloc %y : (tensor<64x128xf16, #columns>) -> !ttg.memdesc<64x128xf16, #right, #smem>
        ttnvgpu.tc_gen5_mma %xm, %ym, %d, %adds, %true {two_ctas} : !ttg.memdesc<256x64xf16, #left, #smem>, !ttg.memdesc<64x128xf16, #right, #smem>, !sum
        scf.yield %true : i1
      } {tt.num_stages = 2 : i32}
      %s = ttnvgpu.tmem_load %d : !sum -> tensor<256x128xf32, #linear>
      tt.store %p, %s : tensor<256x128x!tt.ptr<f32>, #linear>
    } {tt.warp_specialize}
    tt.return
  }
}

// RUN: tile-opt %s -allow-unregistered-dialect -triton-nvidia-start-dots-ahead -canonicalize | filecheck %s

// The dot starts in front of the loop, and in each iteration for the next one,
// behind the load of its result.
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!left = !ttg.memdesc<128x64xf16, #shared, #smem>
!ring = !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
!right = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!bars = !ttg.memdesc<3x1xi64, #shared1, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #shared1, #smem, mutable>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!acc = tensor<128x64xf32, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @scores
  // CHECK: default {
  // CHECK: %[[D:.*]] = ttnvgpu.tmem_alloc : ()
  // CHECK: %[[BARRIERS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x1xi64
  // CHECK: ttnvgpu.init_barrier
  // CHECK-NEXT: ttg.barrier local
  // CHECK: %[[DONE:.*]] = ttg.memdesc_index %[[BARRIERS]]
  // CHECK: scf.if
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: ttnvgpu.tc_gen5_mma %arg0, %{{.*}}, %[[D]], %{{.*}}, %{{.*}}, %[[DONE]][%{{.*}}] {is_async}
  // CHECK: ttnvgpu.tc_gen5_commit
  // CHECK: ttnvgpu.arrive_barrier
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[PHASE:.*]] = %c0_i32)
  // CHECK-NOT: tc_gen5_mma
  // CHECK: ttnvgpu.wait_barrier %[[DONE]], %[[PHASE]]
  // CHECK-NEXT: %[[S:.*]] = ttnvgpu.tmem_load %[[D]]
  // CHECK: %[[NEXT:.*]] = arith.addi
  // CHECK: scf.if
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: tc_gen5_mma {{.*}} %[[DONE]][%{{.*}}] {is_async}
  // CHECK: ttnvgpu.arrive_barrier
  // CHECK: "test.use"(%[[S]])
  // CHECK: arith.xori %[[PHASE]]
  // CHECK: ttnvgpu.inval_barrier
  tt.func @scores(%q: !left, %k: !ring, %full: !bars, %empty: !bars, %n: i32) {
    ttg.warp_specialize()
    default {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c64 = arith.constant 64 : i32
      %true = arith.constant true
      %false = arith.constant false
      %r = scf.for %i = %c0 to %n step %c64 iter_args(%stage = %c0) -> i32 : i32 {
        %f = ttg.memdesc_index %full[%stage] : !bars -> !bar
        ttnvgpu.wait_barrier %f, %c0 : !bar
        %b = ttg.memdesc_index %k[%stage] : !ring -> !right
        %d = ttnvgpu.tmem_alloc : () -> !sum
        ttnvgpu.tc_gen5_mma %q, %b, %d, %false, %true : !left, !right, !sum
        %e = ttg.memdesc_index %empty[%stage] : !bars -> !bar
        ttnvgpu.tc_gen5_commit %e : !bar
        ttnvgpu.arrive_barrier %e, 4 : !bar
        %s = ttnvgpu.tmem_load %d : !sum -> !acc
        "test.use"(%s) : (!acc) -> ()
        %next = arith.addi %stage, %c1 : i32
        scf.yield %next : i32
      }
      ttg.warp_yield
    } : () -> ()
    tt.return
  }

  // What is computed in front of the dot is for this iteration.
  // CHECK-LABEL: @computed
  // CHECK-NOT: is_async
  tt.func @computed(%q: !left, %k: !ring, %n: i32) {
    ttg.warp_specialize()
    default {
      %c0 = arith.constant 0 : i32
      %c64 = arith.constant 64 : i32
      %true = arith.constant true
      %false = arith.constant false
      scf.for %i = %c0 to %n step %c64 : i32 {
        %stage = "test.compute"(%i) : (i32) -> i32
        %b = ttg.memdesc_index %k[%stage] : !ring -> !right
        %d = ttnvgpu.tmem_alloc : () -> !sum
        ttnvgpu.tc_gen5_mma %q, %b, %d, %false, %true : !left, !right, !sum
        %s = ttnvgpu.tmem_load %d : !sum -> !acc
        "test.use"(%s) : (!acc) -> ()
      }
      ttg.warp_yield
    } : () -> ()
    tt.return
  }

  // A sum goes on.
  // CHECK-LABEL: @sum
  // CHECK-NOT: is_async
  tt.func @sum(%q: !left, %k: !ring, %n: i32) {
    ttg.warp_specialize()
    default {
      %c0 = arith.constant 0 : i32
      %c64 = arith.constant 64 : i32
      %true = arith.constant true
      %d = ttnvgpu.tmem_alloc : () -> !sum
      scf.for %i = %c0 to %n step %c64 : i32 {
        %b = ttg.memdesc_index %k[%c0] : !ring -> !right
        ttnvgpu.tc_gen5_mma %q, %b, %d, %true, %true : !left, !right, !sum
        %s = ttnvgpu.tmem_load %d : !sum -> !acc
        "test.use"(%s) : (!acc) -> ()
      }
      ttg.warp_yield
    } : () -> ()
    tt.return
  }
}

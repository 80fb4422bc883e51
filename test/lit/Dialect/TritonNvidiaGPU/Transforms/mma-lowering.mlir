// RUN: tile-opt %s -triton-nvidia-mma-lowering -cse | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem2 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, twoCTAs = true>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
!ring = !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
!slot = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!sum = tensor<128x64xf32, #linear>
!x = tensor<128x64xf16, #linear>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // Others work until the sum is loaded.
  // CHECK-LABEL: @block
  tt.func @block(%a: !a, %b: !b, %d: !d, %p: tensor<128x64x!tt.ptr<f16>, #linear>, %x: !x) -> !sum {
    %true = arith.constant true
    // CHECK: [[ALL:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x1xi64
    // CHECK: [[BAR:%.*]] = ttg.memdesc_index [[ALL]]
    // CHECK: ttnvgpu.init_barrier [[BAR]], 1
    // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, %arg2, %true, %true, [[BAR]][%true] {is_async}
    // CHECK: tt.store
    // CHECK: ttnvgpu.wait_barrier [[BAR]], %c0_i32 :
    // CHECK: ttnvgpu.inval_barrier [[BAR]]
    // CHECK: ttg.local_dealloc [[ALL]]
    // CHECK: ttnvgpu.tmem_load
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    tt.store %p, %x : tensor<128x64x!tt.ptr<f16>, #linear>
    %r = ttnvgpu.tmem_load %d : !d -> !sum
    tt.return %r : !sum
  }

  // The two blocks of a pair wait for each other before they multiply.
  // CHECK-LABEL: @pair
  tt.func @pair(%a: !a, %b: !b, %d: !ttg.memdesc<128x64xf32, #tmem2, #ttnvgpu.tensor_memory, mutable>) {
    %true = arith.constant true
    // CHECK: ttnvgpu.init_barrier
    // CHECK: ttnvgpu.cluster_barrier
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma {{.*}} {is_async, two_ctas}
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {two_ctas} : !a, !b, !ttg.memdesc<128x64xf32, #tmem2, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }

  // Who skips the multiplication does not wait.
  // CHECK-LABEL: @predicated
  tt.func @predicated(%a: !a, %b: !b, %d: !d, %some: i1) {
    %true = arith.constant true
    // CHECK: ttnvgpu.tc_gen5_mma {{.*}}, %true, %arg3, [[BAR:%.*]][%true] {is_async}
    // CHECK: ttnvgpu.wait_barrier [[BAR]], %c0_i32, %arg3
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %some : !a, !b, !d
    tt.return
  }

  // Nothing in the loop needs that it is done.
  // CHECK-LABEL: @only_sum
  tt.func @only_sum(%a: !a, %b: !b, %d: !d, %n: i32) -> !sum {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma {{.*}}, %true, %true {is_async}
    // CHECK-NEXT: }
    // CHECK: [[DONE:%.*]] = ttg.memdesc_index
    // CHECK-NEXT: ttnvgpu.init_barrier [[DONE]], 1
    // CHECK: ttnvgpu.tc_gen5_commit [[DONE]]
    // CHECK: ttnvgpu.wait_barrier [[DONE]], %c0_i32
    // CHECK: ttnvgpu.tmem_load
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    }
    %r = ttnvgpu.tmem_load %d : !d -> !sum
    tt.return %r : !sum
  }

  // The sum is scaled in the next iteration, before its multiplication.
  // CHECK-LABEL: @scaled
  tt.func @scaled(%a: !a, %b: !b, %d: !d, %n: i32, %f: !sum) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x1xi64
    // CHECK: scf.for {{.*}} iter_args([[PARITY:%.*]] = %c0_i32)
    // CHECK: [[BEFORE:%.*]] = arith.xori [[PARITY]], %c1_i32
    // CHECK: ttnvgpu.wait_barrier %{{.*}}, [[BEFORE]]
    // CHECK: ttnvgpu.tmem_load
    // CHECK: ttnvgpu.tc_gen5_mma
    // CHECK-NOT: ttnvgpu.wait_barrier
    // CHECK: }
    // CHECK: ttnvgpu.wait_barrier
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = ttnvgpu.tmem_load %d : !d -> !sum
      %t = arith.mulf %s, %f : !sum
      ttnvgpu.tmem_store %t, %d, %true : !sum -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    }
    tt.return
  }

  // An operand that each iteration makes anew.
  // CHECK-LABEL: @made_operand
  tt.func @made_operand(%x: !x, %b: !b, %d: !d, %n: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for
    // CHECK: ttnvgpu.wait_barrier
    // CHECK: ttg.local_alloc %
    // CHECK: ttnvgpu.tc_gen5_mma
    scf.for %i = %c0 to %n step %c1 : i32 {
      %a = ttg.local_alloc %x : (!x) -> !a
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    }
    tt.return
  }

  // The result of the same iteration.
  // CHECK-LABEL: @used_at_once
  tt.func @used_at_once(%a: !a, %b: !b, %d: !d, %n: i32, %p: tensor<128x64x!tt.ptr<f32>, #linear>) {
    %true = arith.constant true
    %false = arith.constant false
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for {{.*}} iter_args([[PARITY:%.*]] = %c0_i32)
    // CHECK: ttnvgpu.tc_gen5_mma
    // CHECK: ttnvgpu.wait_barrier %{{.*}}, [[PARITY]]
    // CHECK: ttnvgpu.tmem_load
    // CHECK: scf.yield
    // CHECK-NOT: ttnvgpu.wait_barrier
    // CHECK: tt.return
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %false, %true : !a, !b, !d
      %s = ttnvgpu.tmem_load %d : !d -> !sum
      tt.store %p, %s : tensor<128x64x!tt.ptr<f32>, #linear>
    }
    tt.return
  }

  // The copies of an iteration go to the buffer of the one before.
  // CHECK-LABEL: @ring
  tt.func @ring(%b: !b, %d: !d, %n: i32, %p: tensor<128x64x!tt.ptr<f16>, #blocked>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %m1 = arith.constant -1 : i32
    %ring = ttg.local_alloc : () -> !ring
    // CHECK: scf.for
    // CHECK: ttnvgpu.tc_gen5_mma
    // CHECK: ttnvgpu.wait_barrier
    // CHECK: ttg.async_copy_global_to_local
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%read = %m1, %write = %c1) -> (i32, i32) : i32 {
      %0 = arith.addi %read, %c1 : i32
      %1 = arith.cmpi sge, %0, %c3 : i32
      %2 = arith.select %1, %c0, %0 : i32
      %a = ttg.memdesc_index %ring[%2] : !ring -> !slot
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !slot, !b, !d
      %3 = arith.addi %write, %c1 : i32
      %4 = arith.cmpi sge, %3, %c3 : i32
      %5 = arith.select %4, %c0, %3 : i32
      %next = ttg.memdesc_index %ring[%5] : !ring -> !slot
      %6 = ttg.async_copy_global_to_local %p, %next : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
      scf.yield %2, %5 : i32, i32
    }
    tt.return
  }

  // They go to that of the one before that. No more than two are under way.
  // CHECK-LABEL: @later
  tt.func @later(%b: !b, %d: !d, %n: i32, %p: tensor<128x64x!tt.ptr<f16>, #blocked>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %m1 = arith.constant -1 : i32
    %ring = ttg.local_alloc : () -> !ring
    // CHECK: [[ALL:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
    // CHECK: [[LOOP:%.*]]:4 = scf.for {{.*}}, [[PARITY:%.*]] = %c0_i32, [[TURN:%.*]] = %c0_i32)
    // CHECK: [[OTHER:%.*]] = arith.xori [[TURN]], %c1_i32
    // CHECK: [[BEFORE:%.*]] = arith.xori [[PARITY]], [[OTHER]]
    // CHECK: [[AFTER:%.*]] = arith.xori [[PARITY]], [[TURN]]
    // CHECK: [[THIS_BAR:%.*]] = ttg.memdesc_index [[ALL]]{{\[}}[[TURN]]]
    // CHECK: ttnvgpu.tc_gen5_mma {{.*}}, [[THIS_BAR]][%true] {is_async}
    // CHECK: [[OTHER_BAR:%.*]] = ttg.memdesc_index [[ALL]]{{\[}}[[OTHER]]]
    // CHECK: ttnvgpu.wait_barrier [[OTHER_BAR]], [[BEFORE]]
    // CHECK: ttg.async_copy_global_to_local
    // CHECK: scf.yield {{.*}}, [[AFTER]], [[OTHER]]
    // CHECK: [[LAST:%.*]] = arith.xori [[LOOP]]#3, %c1_i32
    // CHECK: [[LAST_PARITY:%.*]] = arith.xori [[LOOP]]#2, [[LAST]]
    // CHECK: [[LAST_BAR:%.*]] = ttg.memdesc_index [[ALL]]{{\[}}[[LAST]]]
    // CHECK: ttnvgpu.wait_barrier [[LAST_BAR]], [[LAST_PARITY]]
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%read = %m1, %write = %c0) -> (i32, i32) : i32 {
      %0 = arith.addi %read, %c1 : i32
      %1 = arith.cmpi sge, %0, %c3 : i32
      %2 = arith.select %1, %c0, %0 : i32
      %a = ttg.memdesc_index %ring[%2] : !ring -> !slot
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !slot, !b, !d
      %3 = arith.addi %write, %c1 : i32
      %4 = arith.cmpi sge, %3, %c3 : i32
      %5 = arith.select %4, %c0, %3 : i32
      %next = ttg.memdesc_index %ring[%5] : !ring -> !slot
      %6 = ttg.async_copy_global_to_local %p, %next : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
      scf.yield %2, %5 : i32, i32
    }
    tt.return
  }

  // Blocks of a cluster copy for each other: this one says that it has read when
  // its dots have.
  // CHECK-LABEL: @cluster
  tt.func @cluster(%b: !b, %d: !d, %n: i32, %p: tensor<128x64x!tt.ptr<f16>, #blocked>, %joined: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %m1 = arith.constant -1 : i32
    %ring = ttg.local_alloc : () -> !ring
    // CHECK: scf.for
    // CHECK: ttnvgpu.tc_gen5_mma
    // CHECK: ttnvgpu.wait_barrier
    // CHECK-NEXT: ttnvgpu.arrive_barrier {{.*}} {ttnvgpu.all_blocks}
    // CHECK: ttnvgpu.wait_barrier {{.*}} {ttnvgpu.all_blocks}
    // CHECK-NEXT: ttg.memdesc_index
    // CHECK-NEXT: ttg.async_copy_global_to_local
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%read = %m1, %write = %c1) -> (i32, i32) : i32 {
      %0 = arith.addi %read, %c1 : i32
      %1 = arith.cmpi sge, %0, %c3 : i32
      %2 = arith.select %1, %c0, %0 : i32
      %a = ttg.memdesc_index %ring[%2] : !ring -> !slot
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !slot, !b, !d
      %3 = arith.addi %write, %c1 : i32
      %4 = arith.cmpi sge, %3, %c3 : i32
      %5 = arith.select %4, %c0, %3 : i32
      ttnvgpu.arrive_barrier %joined, 1 {ttnvgpu.all_blocks} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttnvgpu.wait_barrier %joined, %c0 {ttnvgpu.all_blocks} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      %next = ttg.memdesc_index %ring[%5] : !ring -> !slot
      %6 = ttg.async_copy_global_to_local %p, %next : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
      scf.yield %2, %5 : i32, i32
    }
    tt.return
  }

  // Other blocks may copy to the operands of this one, once it has come to the barrier.
  // CHECK-LABEL: @cluster_barrier
  tt.func @cluster_barrier(%a: !a, %b: !b, %d: !d, %x: !x, %p: tensor<128x64x!tt.ptr<f16>, #linear>) {
    %true = arith.constant true
    // CHECK: ttnvgpu.tc_gen5_mma
    // CHECK: tt.store
    // CHECK: ttnvgpu.wait_barrier
    // CHECK: ttnvgpu.cluster_barrier
    // CHECK: tt.store
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    tt.store %p, %x : tensor<128x64x!tt.ptr<f16>, #linear>
    ttnvgpu.cluster_barrier
    tt.store %p, %x : tensor<128x64x!tt.ptr<f16>, #linear>
    tt.return
  }

  // This copy goes to the very buffer that is read.
  // CHECK-LABEL: @same_buffer
  tt.func @same_buffer(%b: !b, %d: !d, %n: i32, %p: tensor<128x64x!tt.ptr<f16>, #blocked>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %m1 = arith.constant -1 : i32
    %ring = ttg.local_alloc : () -> !ring
    // CHECK: scf.for {{.*}} iter_args({{.*}}, [[PARITY:%.*]] = %c0_i32)
    // CHECK: ttnvgpu.tc_gen5_mma
    // CHECK: ttnvgpu.wait_barrier %{{.*}}, [[PARITY]]
    // CHECK: ttg.async_copy_global_to_local
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%read = %m1) -> (i32) : i32 {
      %0 = arith.addi %read, %c1 : i32
      %1 = arith.cmpi sge, %0, %c3 : i32
      %2 = arith.select %1, %c0, %0 : i32
      %a = ttg.memdesc_index %ring[%2] : !ring -> !slot
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !slot, !b, !d
      %6 = ttg.async_copy_global_to_local %p, %a : tensor<128x64x!tt.ptr<f16>, #blocked> -> <128x64xf16, #shared, #smem, mutable>
      scf.yield %2 : i32
    }
    tt.return
  }

  // One is waited for at once, the other behind the loop.
  // CHECK-LABEL: @both
  tt.func @both(%a: !a, %b: !b, %d: !d, %e: !d, %n: i32, %p: tensor<128x64x!tt.ptr<f32>, #linear>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for {{.*}} iter_args([[ONE:%.*]] = %c0_i32)
    // CHECK: ttnvgpu.tc_gen5_mma
    // CHECK-NOT: ttnvgpu.wait_barrier
    // CHECK: ttnvgpu.tc_gen5_mma
    // CHECK: ttnvgpu.wait_barrier %{{.*}}, [[ONE]]
    // CHECK: ttnvgpu.tmem_load
    // CHECK: ttnvgpu.tc_gen5_commit
    // CHECK: ttnvgpu.wait_barrier
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      ttnvgpu.tc_gen5_mma %a, %b, %e, %true, %true : !a, !b, !d
      %s = ttnvgpu.tmem_load %e : !d -> !sum
      tt.store %p, %s : tensor<128x64x!tt.ptr<f32>, #linear>
    }
    tt.return
  }

  // A branch that some iterations take waits by itself.
  // CHECK-LABEL: @occasional
  tt.func @occasional(%a: !a, %b: !b, %d: !d, %n: i32, %p: tensor<128x64x!tt.ptr<f32>, #linear>, %some: i1) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for {{.*}} iter_args([[PARITY:%.*]] = %c0_i32, [[TURN:%.*]] = %c0_i32)
    // CHECK: ttnvgpu.tc_gen5_mma %{{.*}}, [[BAR:%.*]][%true] {is_async}
    // CHECK: ttnvgpu.wait_barrier
    // CHECK: scf.if
    // CHECK-NEXT: ttnvgpu.wait_barrier [[BAR]], [[PARITY]]
    // CHECK-NEXT: ttnvgpu.tmem_load
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      scf.if %some {
        %s = ttnvgpu.tmem_load %d : !d -> !sum
        tt.store %p, %s : tensor<128x64x!tt.ptr<f32>, #linear>
      }
    }
    tt.return
  }
}

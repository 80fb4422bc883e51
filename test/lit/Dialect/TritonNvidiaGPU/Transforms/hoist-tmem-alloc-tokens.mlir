// RUN: tile-opt %s -tritongpu-hoist-tmem-alloc -cse | filecheck %s

#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!sum = tensor<128x64xf32, #linear>
!token = !ttg.async.token
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // The loop hands the token of the last access on, in place of the sum.
  // CHECK-LABEL: @sum
  tt.func @sum(%a: !a, %b: !b, %n: index, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: [[D:%.*]], [[T0:%.*]] = ttnvgpu.tmem_alloc : ()
    // CHECK: [[T1:%.*]] = ttnvgpu.tmem_store %arg3, [[D]][[[T0]]], %true
    // CHECK: [[T5:%.*]] = scf.for %{{.*}} iter_args([[T2:%.*]] = [[T1]]) -> (!ttg.async.token) {
    // CHECK-NEXT: [[T3:%.*]] = ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]][[[T2]]], %true, %true
    // CHECK-NEXT: scf.yield [[T3]]
    // CHECK: [[R:%.*]], %{{.*}} = ttnvgpu.tmem_load [[D]][[[T5]]]
    // CHECK: tt.return [[R]]
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d, %t0 = ttnvgpu.tmem_alloc %sum : (!sum) -> (!d, !token)
      %t1 = ttnvgpu.tc_gen5_mma %a, %b, %d[%t0], %true, %true : !a, !b, !d
      %next, %t2 = ttnvgpu.tmem_load %d[%t1] : !d -> !sum
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // Accesses that are new have tokens as well.
  // CHECK-LABEL: @scaled
  tt.func @scaled(%a: !a, %b: !b, %n: index, %init: !sum, %f: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: scf.for %{{.*}} iter_args([[T0:%.*]] = %{{.*}})
    // CHECK-NEXT: [[OLD:%.*]], [[T1:%.*]] = ttnvgpu.tmem_load [[D:%.*]][[[T0]]] :
    // CHECK-NEXT: [[SCALED:%.*]] = arith.mulf [[OLD]], %arg4
    // CHECK-NEXT: [[T2:%.*]] = ttnvgpu.tmem_store [[SCALED]], [[D]][[[T1]]], %true
    // CHECK-NEXT: [[T3:%.*]] = ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]][[[T2]]], %true, %true
    // CHECK-NEXT: scf.yield [[T3]]
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %s = arith.mulf %sum, %f : !sum
      %d, %t0 = ttnvgpu.tmem_alloc %s : (!sum) -> (!d, !token)
      %t1 = ttnvgpu.tc_gen5_mma %a, %b, %d[%t0], %true, %true : !a, !b, !d
      %next, %t2 = ttnvgpu.tmem_load %d[%t1] : !d -> !sum
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // The loop around it hands tokens on, too.
  // CHECK-LABEL: @nest
  tt.func @nest(%a: !a, %b: !b, %n: index, %init: !sum, %p: tensor<128x64x!tt.ptr<f32>, #linear>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: [[D:%.*]], [[T0:%.*]] = ttnvgpu.tmem_alloc : ()
    // CHECK: scf.for %{{.*}} iter_args([[T1:%.*]] = [[T0]])
    // CHECK: [[T2:%.*]] = ttnvgpu.tmem_store %arg3, [[D]][[[T1]]], %true
    // CHECK: [[T4:%.*]] = scf.for %{{.*}} iter_args([[T3:%.*]] = [[T2]])
    // CHECK: [[R:%.*]], [[T5:%.*]] = ttnvgpu.tmem_load [[D]][[[T4]]]
    // CHECK-NEXT: tt.store %arg4, [[R]]
    // CHECK-NEXT: scf.yield [[T5]]
    scf.for %t = %c0 to %n step %c1 {
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
        %d, %t0 = ttnvgpu.tmem_alloc %sum : (!sum) -> (!d, !token)
        %t1 = ttnvgpu.tc_gen5_mma %a, %b, %d[%t0], %true, %true : !a, !b, !d
        %next, %t2 = ttnvgpu.tmem_load %d[%t1] : !d -> !sum
        scf.yield %next : !sum
      }
      tt.store %p, %r : tensor<128x64x!tt.ptr<f32>, #linear>
    }
    tt.return
  }

  // Somebody else waits for a token: the sum stays where it is.
  // CHECK-LABEL: @awaited
  tt.func @awaited(%a: !a, %b: !b, %n: index, %init: !sum, %token: !token) -> (!sum, !token) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: scf.for
    // CHECK: ttnvgpu.tmem_alloc %
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init, %last = %token) -> (!sum, !token) {
      %d, %t0 = ttnvgpu.tmem_alloc %sum : (!sum) -> (!d, !token)
      %t1 = ttnvgpu.tc_gen5_mma %a, %b, %d[%t0], %true, %true : !a, !b, !d
      %next, %t2 = ttnvgpu.tmem_load %d[%t1] : !d -> !sum
      scf.yield %next, %t1 : !sum, !token
    }
    tt.return %r#0, %r#1 : !sum, !token
  }
}

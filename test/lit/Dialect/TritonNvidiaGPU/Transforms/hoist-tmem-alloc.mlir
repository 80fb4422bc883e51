// RUN: tile-opt %s -tritongpu-hoist-tmem-alloc -cse | filecheck %s

#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!sum = tensor<128x64xf32, #linear>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @sum
  tt.func @sum(%a: !a, %b: !b, %n: index, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : ()
    // CHECK: ttnvgpu.tmem_store %arg3, [[D]], %true
    // CHECK: scf.for %{{.*}} = %c0 to %arg2 step %c1 {
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]], %true, %true
    // CHECK-NEXT: }
    // CHECK: [[R:%.*]] = ttnvgpu.tmem_load [[D]]
    // CHECK: tt.return [[R]]
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %next = ttnvgpu.tmem_load %d : !d -> !sum
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // The first multiplication overwrites what was there. Zero is stored for a
  // loop without iterations.
  // CHECK-LABEL: @from_zero
  tt.func @from_zero(%a: !a, %b: !b, %n: index) -> !sum {
    %zero = arith.constant dense<0.0> : !sum
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : ()
    // CHECK-NOT: tmem_store
    // CHECK: scf.for %{{.*}} iter_args([[ADDS:%.*]] = %false) -> (i1) {
    // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]], [[ADDS]], %true
    // CHECK: scf.yield %true
    // CHECK: [[ANY:%.*]] = arith.cmpi {{.*}}, %c0, %arg2
    // CHECK: [[NONE:%.*]] = arith.xori [[ANY]], %true
    // CHECK: ttnvgpu.tmem_store %{{.*}}, [[D]], [[NONE]]
    // CHECK: ttnvgpu.tmem_load [[D]]
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %next = ttnvgpu.tmem_load %d : !d -> !sum
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // What is done to the sum besides loads and stores it.
  // CHECK-LABEL: @scaled
  tt.func @scaled(%a: !a, %b: !b, %n: index, %init: !sum, %f: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: scf.for %{{.*}} = %c0 to %arg2 step %c1 {
    // CHECK-NEXT: [[OLD:%.*]] = ttnvgpu.tmem_load [[D:%.*]] :
    // CHECK-NEXT: [[SCALED:%.*]] = arith.mulf [[OLD]], %arg4
    // CHECK-NEXT: ttnvgpu.tmem_store [[SCALED]], [[D]], %true
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]], %true, %true
    // CHECK-NEXT: }
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %s = arith.mulf %sum, %f : !sum
      %d = ttnvgpu.tmem_alloc %s : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %next = ttnvgpu.tmem_load %d : !d -> !sum
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // What is stored comes from elsewhere, and the sum is used after that.
  // CHECK-LABEL: @exchanged
  tt.func @exchanged(%a: !a, %b: !b, %n: index, %init: !sum) -> (!sum, !sum) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: scf.for {{.*}} iter_args([[OTHER:%.*]] = %arg3)
    // CHECK-NEXT: [[OLD:%.*]] = ttnvgpu.tmem_load [[D:%.*]] :
    // CHECK-NEXT: ttnvgpu.tmem_store [[OTHER]], [[D]], %true
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]], %true, %true
    // CHECK-NEXT: [[NEXT:%.*]] = arith.negf [[OLD]]
    // CHECK-NEXT: scf.yield [[NEXT]]
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%other = %init, %sum = %init) -> (!sum, !sum) {
      %d = ttnvgpu.tmem_alloc %other : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %next = ttnvgpu.tmem_load %d : !d -> !sum
      %neg = arith.negf %sum : !sum
      scf.yield %neg, %next : !sum, !sum
    }
    tt.return %r#0, %r#1 : !sum, !sum
  }

  // An iteration may read what it hands on as well.
  // CHECK-LABEL: @read
  tt.func @read(%a: !a, %b: !b, %n: index, %init: !sum, %p: tensor<128x64x!tt.ptr<f32>, #linear>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: scf.for %{{.*}} = %c0 to %arg2 step %c1 {
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma
    // CHECK-NEXT: [[R:%.*]] = ttnvgpu.tmem_load
    // CHECK-NEXT: tt.store %arg4, [[R]]
    // CHECK-NEXT: }
    // CHECK-NOT: tmem_load
    // CHECK: tt.return
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %next = ttnvgpu.tmem_load %d : !d -> !sum
      tt.store %p, %next : tensor<128x64x!tt.ptr<f32>, #linear>
      scf.yield %next : !sum
    }
    tt.return
  }

  // What is loaded is not what is in the buffer at the end: it is stored there.
  // CHECK-LABEL: @overwritten
  tt.func @overwritten(%a: !a, %b: !b, %n: index, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: scf.for
    // CHECK-NEXT: [[NEXT:%.*]] = ttnvgpu.tmem_load [[D:%.*]] :
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]]
    // CHECK-NEXT: ttnvgpu.tmem_store [[NEXT]], [[D]], %true
    // CHECK-NEXT: }
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      %next = ttnvgpu.tmem_load %d : !d -> !sum
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // The buffer is made outside of all loops; the sum starts anew in each tile.
  // CHECK-LABEL: @nest
  tt.func @nest(%a: !a, %b: !b, %n: index, %init: !sum, %p: tensor<128x64x!tt.ptr<f32>, #linear>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : ()
    // CHECK: scf.for
    // CHECK: ttnvgpu.tmem_store %arg3, [[D]]
    // CHECK: scf.for
    scf.for %j = %c0 to %n step %c1 {
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
        %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
        ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
        %next = ttnvgpu.tmem_load %d : !d -> !sum
        scf.yield %next : !sum
      }
      tt.store %p, %r : tensor<128x64x!tt.ptr<f32>, #linear>
    }
    tt.return
  }

  // The second loop goes on where the first one ends.
  // CHECK-LABEL: @goes_on
  tt.func @goes_on(%a: !a, %b: !b, %n: index, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : ()
    // CHECK: ttnvgpu.tmem_store %arg3, [[D]]
    // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]]
    // CHECK-NOT: ttnvgpu.tmem_{{load|store|alloc}}
    // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]]
    // CHECK: [[R:%.*]] = ttnvgpu.tmem_load [[D]]
    // CHECK-NEXT: tt.return [[R]]
    %first = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %next = ttnvgpu.tmem_load %d : !d -> !sum
      scf.yield %next : !sum
    }
    %second = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %next = ttnvgpu.tmem_load %d : !d -> !sum
      scf.yield %next : !sum
    }
    tt.return %second : !sum
  }

  // So it does in each iteration of a loop over tiles, which begins with
  // another sum.
  // CHECK-LABEL: @goes_on_in_tiles
  tt.func @goes_on_in_tiles(%a: !a, %b: !b, %n: index, %init: !sum, %p: tensor<128x64x!tt.ptr<f32>, #linear>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : ()
    // CHECK-NOT: ttnvgpu.tmem_alloc
    // CHECK: scf.for
    // CHECK: ttnvgpu.tmem_store %arg3, [[D]]
    // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]]
    // CHECK-NOT: ttnvgpu.tmem_{{load|store|alloc}}
    // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]]
    // CHECK: [[R:%.*]] = ttnvgpu.tmem_load [[D]]
    // CHECK: tt.store {{.*}}, [[R]]
    scf.for %j = %c0 to %n step %c1 {
      %first = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
        %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
        ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
        %next = ttnvgpu.tmem_load %d : !d -> !sum
        scf.yield %next : !sum
      }
      %second = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first) -> (!sum) {
        %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
        ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
        %next = ttnvgpu.tmem_load %d : !d -> !sum
        scf.yield %next : !sum
      }
      tt.store %p, %second : tensor<128x64x!tt.ptr<f32>, #linear>
    }
    tt.return
  }

  // The first buffer goes on from tile to tile. The second one has another sum.
  // CHECK-LABEL: @keeps_for_tiles
  tt.func @keeps_for_tiles(%a: !a, %b: !b, %n: index, %p: tensor<128x64x!tt.ptr<f32>, #linear>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK-COUNT-2: ttnvgpu.tmem_alloc : ()
    // CHECK: [[S:%.*]] = ttnvgpu.tmem_load
    // CHECK: ttnvgpu.tmem_store [[S]]
    %d = ttnvgpu.tmem_alloc : () -> !d
    %e = ttnvgpu.tmem_alloc : () -> !d
    scf.for %j = %c0 to %n step %c1 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %first = ttnvgpu.tmem_load %d : !d -> !sum
      ttnvgpu.tmem_store %first, %e, %true : !sum -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %e, %true, %true : !a, !b, !d
      %second = ttnvgpu.tmem_load %e : !d -> !sum
      tt.store %p, %second : tensor<128x64x!tt.ptr<f32>, #linear>
    }
    tt.return
  }

  // Two loops begin with the sum: only one of them could have the buffer.
  // CHECK-LABEL: @two_go_on
  tt.func @two_go_on(%a: !a, %b: !b, %n: index, %d: !d) -> (!sum, !sum) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc
    // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]]
    // CHECK: [[S:%.*]] = ttnvgpu.tmem_load [[D]]
    // CHECK: ttnvgpu.tmem_store [[S]], [[E:%.*]], %true
    // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[E]]
    // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]]
    %x = ttnvgpu.tmem_alloc : () -> !d
    ttnvgpu.tc_gen5_mma %a, %b, %x, %true, %true : !a, !b, !d
    %first = ttnvgpu.tmem_load %x : !d -> !sum
    %y = ttnvgpu.tmem_alloc : () -> !d
    ttnvgpu.tmem_store %first, %y, %true : !sum -> !d
    ttnvgpu.tc_gen5_mma %a, %b, %y, %true, %true : !a, !b, !d
    ttnvgpu.tc_gen5_mma %a, %b, %x, %true, %true : !a, !b, !d
    %r = ttnvgpu.tmem_load %x : !d -> !sum
    %s = ttnvgpu.tmem_load %y : !d -> !sum
    tt.return %r, %s : !sum, !sum
  }
}

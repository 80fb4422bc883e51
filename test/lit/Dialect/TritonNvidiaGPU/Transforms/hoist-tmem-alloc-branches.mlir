// RUN: tile-opt %s -allow-unregistered-dialect -tritongpu-hoist-tmem-alloc -cse | filecheck %s
// RUN: tile-opt %s -tritongpu-hoist-tmem-alloc=post-pipeline=true -allow-unregistered-dialect -cse | filecheck %s --check-prefix=AFTER

// Sums that an iteration adds to, or changes, in some cases alone.
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#few = #ttg.linear<{register = [[0, 1], [0, 2], [32, 0], [64, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 0], [0, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!s = !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>
!sum = tensor<128x64xf32, #linear>
!token = !ttg.async.token
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // Some iterations add nothing.
  // CHECK-LABEL: @adds_in_a_branch
  // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : ()
  // CHECK: ttnvgpu.tmem_store %arg4, [[D]], %true
  // CHECK: scf.for
  // CHECK-NEXT: scf.if %arg3 {
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]], %true, %true
  // CHECK-NOT: tmem_
  // CHECK: ttnvgpu.tmem_load [[D]]
  // CHECK-NEXT: tt.return
  tt.func @adds_in_a_branch(%a: !a, %b: !b, %n: index, %c: i1, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %next = scf.if %c -> (!sum) {
        %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
        ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
        %new = ttnvgpu.tmem_load %d : !d -> !sum
        scf.yield %new : !sum
      } else {
        scf.yield %sum : !sum
      }
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // Some iterations use the sum, and begin a new one.
  // CHECK-LABEL: @begins_anew
  // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : ()
  // CHECK: scf.for
  // CHECK: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]]
  // CHECK-NEXT: scf.if %arg3 {
  // CHECK-NEXT: [[OLD:%.*]] = ttnvgpu.tmem_load [[D]]
  // CHECK-NEXT: "use"([[OLD]])
  // CHECK-NEXT: ttnvgpu.tmem_store %arg4, [[D]], %true
  // CHECK-NOT: tmem_
  // CHECK: ttnvgpu.tmem_load [[D]]
  // CHECK-NEXT: tt.return
  tt.func @begins_anew(%a: !a, %b: !b, %n: index, %c: i1, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %new = ttnvgpu.tmem_load %d : !d -> !sum
      %next = scf.if %c -> (!sum) {
        "use"(%new) : (!sum) -> ()
        scf.yield %init : !sum
      } else {
        scf.yield %new : !sum
      }
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // A selection stores what is new, if it is.
  // CHECK-LABEL: @selects
  // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : ()
  // CHECK: scf.for
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]]
  // CHECK-NEXT: [[NEW:%.*]] = arith.xori %arg3, %true
  // CHECK-NEXT: ttnvgpu.tmem_store %arg4, [[D]], [[NEW]]
  // CHECK-NEXT: }
  tt.func @selects(%a: !a, %b: !b, %n: index, %c: i1, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %new = ttnvgpu.tmem_load %d : !d -> !sum
      %next = arith.select %c, %new, %init : !sum
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // CHECK-LABEL: @changes
  // CHECK: scf.for
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D:%.*]], %true, %true
  // CHECK-NEXT: [[NEW:%.*]] = ttnvgpu.tmem_load [[D]]
  // CHECK-NEXT: [[NEXT:%.*]] = arith.mulf [[NEW]], %arg3
  // CHECK-NEXT: ttnvgpu.tmem_store [[NEXT]], [[D]], %true
  // CHECK-NEXT: }
  tt.func @changes(%a: !a, %b: !b, %n: index, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %new = ttnvgpu.tmem_load %d : !d -> !sum
      %next = arith.mulf %new, %init : !sum
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // Tokens pass through the branch.
  // CHECK-LABEL: @tokens
  // CHECK: scf.for %{{.*}} iter_args([[T0:%.*]] = %{{.*}})
  // CHECK-NEXT: [[T1:%.*]] = ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D:%.*]][[[T0]]]
  // CHECK-NEXT: [[T4:%.*]] = scf.if %arg3 -> (!ttg.async.token) {
  // CHECK-NEXT: [[OLD:%.*]], [[T2:%.*]] = ttnvgpu.tmem_load [[D]][[[T1]]]
  // CHECK-NEXT: "use"([[OLD]])
  // CHECK-NEXT: [[T3:%.*]] = ttnvgpu.tmem_store %arg4, [[D]][[[T2]]], %true
  // CHECK-NEXT: scf.yield [[T3]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield [[T1]]
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.yield [[T4]]
  tt.func @tokens(%a: !a, %b: !b, %n: index, %c: i1, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d, %t0 = ttnvgpu.tmem_alloc %sum : (!sum) -> (!d, !token)
      %t1 = ttnvgpu.tc_gen5_mma %a, %b, %d[%t0], %true, %true : !a, !b, !d
      %new, %t2 = ttnvgpu.tmem_load %d[%t1] : !d -> !sum
      %next = scf.if %c -> (!sum) {
        "use"(%new) : (!sum) -> ()
        scf.yield %init : !sum
      } else {
        scf.yield %new : !sum
      }
      scf.yield %next : !sum
    }
    tt.return %r : !sum
  }

  // A second product goes on with the sum of the first.
  // CHECK-LABEL: @two_products
  // CHECK: scf.for
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D:%.*]], %true, %true
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma %arg0, %arg1, [[D]], %true, %true
  // CHECK-NEXT: }
  tt.func @two_products(%a: !a, %b: !b, %n: index, %init: !sum) -> !sum {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (!sum) {
      %d = ttnvgpu.tmem_alloc %sum : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %first = ttnvgpu.tmem_load %d : !d -> !sum
      %e = ttnvgpu.tmem_alloc %first : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %e, %true, %true : !a, !b, !d
      %second = ttnvgpu.tmem_load %e : !d -> !sum
      scf.yield %second : !sum
    }
    tt.return %r : !sum
  }

  // The first sum is needed once more.
  // CHECK-LABEL: @first_is_needed
  // CHECK-COUNT-2: ttnvgpu.tmem_alloc
  tt.func @first_is_needed(%a: !a, %b: !b, %init: !sum) -> (!sum, !sum) {
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc %init : (!sum) -> !d
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    %first = ttnvgpu.tmem_load %d : !d -> !sum
    %e = ttnvgpu.tmem_alloc %first : (!sum) -> !d
    ttnvgpu.tc_gen5_mma %a, %b, %e, %true, %true : !a, !b, !d
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    %x = ttnvgpu.tmem_load %d : !d -> !sum
    %y = ttnvgpu.tmem_load %e : !d -> !sum
    tt.return %x, %y : !sum, !sum
  }

  // Scales that all iterations share are stored once.
  // CHECK-LABEL: @scales
  // CHECK: [[SPLAT:%.*]] = tt.splat %arg2
  // CHECK-NEXT: [[S:%.*]] = ttnvgpu.tmem_alloc [[SPLAT]]
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: "use"([[S]])
  tt.func @scales(%n: index, %c: i1, %scale: i8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %x = tt.splat %scale : i8 -> tensor<128x4xi8, #few>
      %s = ttnvgpu.tmem_alloc %x : (tensor<128x4xi8, #few>) -> !s
      "use"(%s) : (!s) -> ()
    }
    tt.return
  }

  // Outside of a loop a branch keeps its buffer, but on request.
  // CHECK-LABEL: @outside_of_loops
  // CHECK: scf.if
  // CHECK-NEXT: ttnvgpu.tmem_alloc %arg3
  // AFTER-LABEL: @outside_of_loops
  // AFTER: [[D:%.*]] = ttnvgpu.tmem_alloc %arg3
  // AFTER-NEXT: scf.if
  // AFTER-NEXT: ttnvgpu.tc_gen5_mma
  // AFTER-NOT: tmem_
  // AFTER: ttnvgpu.tmem_load [[D]]
  tt.func @outside_of_loops(%a: !a, %b: !b, %c: i1, %init: !sum) -> !sum {
    %true = arith.constant true
    %r = scf.if %c -> (!sum) {
      %d = ttnvgpu.tmem_alloc %init : (!sum) -> !d
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
      %new = ttnvgpu.tmem_load %d : !d -> !sum
      scf.yield %new : !sum
    } else {
      scf.yield %init : !sum
    }
    tt.return %r : !sum
  }
}

// RUN: tile-opt %s -tritongpu-assign-latencies=num-stages=2 -tritongpu-schedule-loops -tritonamdgpu-stream-pipeline -tritongpu-pipeline | filecheck %s
// RUN: tile-opt %s -tritongpu-assign-latencies=num-stages=1 -tritongpu-schedule-loops -tritonamdgpu-stream-pipeline -tritongpu-pipeline | filecheck %s -check-prefix=PLAIN
// RUN: tile-opt %s -tritongpu-assign-latencies=num-stages=3 -tritongpu-schedule-loops -tritonamdgpu-stream-pipeline -tritongpu-pipeline | filecheck %s -check-prefix=THREE

// The pipeliner copies blocks of descriptors ahead by the strategy of the tensor data mover.
// PLAIN-NOT: amdg.

// Two iterations ahead: the copy of one may be under way at the wait.
// THREE-LABEL: @ahead
// THREE: ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16
// THREE-COUNT-2: amdg.async_tdm_copy_global_to_local
// THREE: scf.for
// THREE: amdg.async_tdm_wait {{.*}}num = 1
// THREE: amdg.async_tdm_copy_global_to_local
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  // Of the induction variable, and of an index that the loop carries. Predicates say whether there
  // is a first, and a next, iteration.
  // CHECK-LABEL: @ahead
  // CHECK-SAME: (%[[D:.*]]: !tt.tensordesc<{{.*}}>, %[[N:.*]]: i32, %[[I:.*]]: i32
  // CHECK-DAG: %[[FIRST:.*]] = arith.cmpi slt, %c0_i32{{.*}}, %[[N]]
  // CHECK-DAG: %[[RING:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16
  // CHECK: %[[P:.*]] = arith.andi %{{.*}}, %[[FIRST]]
  // CHECK: amdg.async_tdm_copy_global_to_local %[[D]][%[[I]], %c0_i32{{.*}}] into %{{.*}}, %[[P]]
  // CHECK: %[[SECONDJ:.*]] = arith.addi %[[I]], %c2_i32
  // CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[J:.*]] = %[[SECONDJ]], {{.*}} %[[T:.*]] = %{{.*}}) ->
  // CHECK: %[[NEXT:.*]] = arith.cmpi slt, %[[K]], %{{.*}}
  // CHECK: %[[W:.*]] = amdg.async_tdm_wait %[[T]] {num = 0 : i32}
  // CHECK: %[[NEXTK:.*]] = arith.addi %[[K]], %c32_i32
  // CHECK: %[[Q:.*]] = arith.andi %{{.*}}, %[[NEXT]]
  // CHECK: amdg.async_tdm_copy_global_to_local %[[D]][%[[J]], %[[NEXTK]]] into %{{.*}}, %[[Q]]
  // CHECK: arith.addi %[[J]], %c2_i32
  // CHECK: %[[THIS:.*]] = ttg.memdesc_index %[[RING]]
  // CHECK: ttg.local_load %[[THIS]] token %[[W]]
  // CHECK: amdg.async_tdm_wait {num = 0 : i32}
  // CHECK-NEXT: ttg.local_dealloc %[[RING]]
  tt.func @ahead(%d: !tt.tensordesc<tensor<64x32xf16, #shared>>, %n: i32, %i: i32, %zero: tensor<64x32xf16, #blocked>) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %c32 = arith.constant 32 : i32
    %r:2 = scf.for %k = %c0 to %n step %c32 iter_args(%j = %i, %s = %zero) -> (i32, tensor<64x32xf16, #blocked>) : i32 {
      %x = tt.descriptor_load %d[%j, %k] : !tt.tensordesc<tensor<64x32xf16, #shared>> -> tensor<64x32xf16, #blocked>
      %y = arith.addf %s, %x : tensor<64x32xf16, #blocked>
      %next = arith.addi %j, %c2 : i32
      scf.yield %next, %y : i32, tensor<64x32xf16, #blocked>
    }
    tt.return %r#1 : tensor<64x32xf16, #blocked>
  }

  // A loop without signs has no next iteration where its counter says so without signs.
  // CHECK-LABEL: @unsigned
  // CHECK: arith.cmpi ult, %arg1, %arg2
  // CHECK: scf.for unsigned
  // CHECK: arith.cmpi ult, %{{.*}}, %{{.*}}
  tt.func @unsigned(%d: !tt.tensordesc<tensor<64x32xf16, #shared>>, %from: i32, %to: i32, %zero: tensor<64x32xf16, #blocked>) -> tensor<64x32xf16, #blocked> {
    %c1 = arith.constant 1 : i32
    %r = scf.for unsigned %k = %from to %to step %c1 iter_args(%s = %zero) -> (tensor<64x32xf16, #blocked>) : i32 {
      %x = tt.descriptor_load %d[%k, %k] : !tt.tensordesc<tensor<64x32xf16, #shared>> -> tensor<64x32xf16, #blocked>
      %y = arith.addf %s, %x : tensor<64x32xf16, #blocked>
      scf.yield %y : tensor<64x32xf16, #blocked>
    }
    tt.return %r : tensor<64x32xf16, #blocked>
  }

  // A loop that asks for one stage has none of it.
  // CHECK-LABEL: @one_stage
  // CHECK-NOT: amdg.
  // CHECK: tt.descriptor_load
  tt.func @one_stage(%d: !tt.tensordesc<tensor<64x32xf16, #shared>>, %from: i32, %to: i32, %zero: tensor<64x32xf16, #blocked>) -> tensor<64x32xf16, #blocked> {
    %c1 = arith.constant 1 : i32
    %r = scf.for %k = %from to %to step %c1 iter_args(%s = %zero) -> (tensor<64x32xf16, #blocked>) : i32 {
      %x = tt.descriptor_load %d[%k, %k] : !tt.tensordesc<tensor<64x32xf16, #shared>> -> tensor<64x32xf16, #blocked>
      %y = arith.addf %s, %x : tensor<64x32xf16, #blocked>
      scf.yield %y : tensor<64x32xf16, #blocked>
    } {tt.num_stages = 1 : i32}
    tt.return %r : tensor<64x32xf16, #blocked>
  }

  // Indices that are loaded come an iteration before the copies that want them.
  // CHECK-LABEL: @indirect
  // CHECK: tt.load
  // CHECK: tt.load
  // CHECK: amdg.async_tdm_copy_global_to_local
  // CHECK: scf.for
  // CHECK: amdg.async_tdm_wait
  // CHECK: amdg.async_tdm_copy_global_to_local
  tt.func @indirect(%d: !tt.tensordesc<tensor<64x32xf16, #shared>>, %p: !tt.ptr<i32>, %n: i32, %zero: tensor<64x32xf16, #blocked>) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x32xf16, #blocked>) : i32 {
      %at = tt.addptr %p, %k : !tt.ptr<i32>, i32
      %j = tt.load %at : !tt.ptr<i32>
      %x = tt.descriptor_load %d[%j, %c0] : !tt.tensordesc<tensor<64x32xf16, #shared>> -> tensor<64x32xf16, #blocked>
      %y = arith.addf %s, %x : tensor<64x32xf16, #blocked>
      scf.yield %y : tensor<64x32xf16, #blocked>
    }
    tt.return %r : tensor<64x32xf16, #blocked>
  }

  // What the loop may write stays where it is.
  // CHECK-LABEL: @written
  // CHECK-NOT: amdg.
  // CHECK: tt.descriptor_load
  tt.func @written(%d: !tt.tensordesc<tensor<64x32xf16, #shared>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %x = tt.descriptor_load %d[%k, %c0] : !tt.tensordesc<tensor<64x32xf16, #shared>> -> tensor<64x32xf16, #blocked>
      %y = arith.addf %x, %x : tensor<64x32xf16, #blocked>
      tt.descriptor_store %d[%k, %c0], %y : !tt.tensordesc<tensor<64x32xf16, #shared>>, tensor<64x32xf16, #blocked>
    }
    tt.return
  }

  // Two buffers of 128 KiB are more than half of LDS: the load stays in its iteration.
  // CHECK-LABEL: @no_room
  // CHECK-NOT: amdg.
  // CHECK: scf.for
  // CHECK: tt.descriptor_load
  tt.func @no_room(%d: !tt.tensordesc<tensor<128x256xf32, #shared>>, %n: i32, %zero: tensor<128x256xf32, #blocked>) -> tensor<128x256xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128x256xf32, #blocked>) : i32 {
      %x = tt.descriptor_load %d[%k, %k] : !tt.tensordesc<tensor<128x256xf32, #shared>> -> tensor<128x256xf32, #blocked>
      %y = arith.addf %s, %x : tensor<128x256xf32, #blocked>
      scf.yield %y : tensor<128x256xf32, #blocked>
    }
    tt.return %r : tensor<128x256xf32, #blocked>
  }
}

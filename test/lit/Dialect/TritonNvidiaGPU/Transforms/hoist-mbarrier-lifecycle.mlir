// RUN: tile-opt %s -triton-nvidia-gpu-hoist-mbarrier-lifecycle -split-input-file | filecheck %s

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!desc = !tt.tensordesc<64x64xf16, #shared>
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // The loop hands the parity on beside what it had. The end comes behind the outermost loop.
  // CHECK-LABEL: @nest
  tt.func @nest(%desc: !desc, %buf: !tile, %n: i32) -> i32 {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: [[BAR:%.*]] = ttg.local_alloc
    // CHECK-NEXT: ttnvgpu.init_barrier [[BAR]], 1
    // CHECK-NEXT: [[OUT:%.*]]:2 = scf.for {{.*}} iter_args([[X:%.*]] = %{{.*}}, [[P:%.*]] = %{{.*}}) -> (i32, i32)
    // CHECK: [[IN:%.*]] = scf.for {{.*}} iter_args([[Q:%.*]] = [[P]]) -> (i32)
    // CHECK-NEXT: ttnvgpu.fence_async_shared {bCluster = false}
    // CHECK-NEXT: ttnvgpu.barrier_expect [[BAR]],
    // CHECK: ttnvgpu.wait_barrier [[BAR]], [[Q]] :
    // CHECK-NEXT: [[NEXT:%.*]] = arith.xori [[Q]],
    // CHECK-NEXT: scf.yield [[NEXT]] : i32
    // CHECK: scf.yield %{{.*}}, [[IN]] : i32, i32
    // CHECK-NEXT: }
    // CHECK-NEXT: ttnvgpu.inval_barrier [[BAR]]
    // CHECK-NEXT: ttg.local_dealloc [[BAR]]
    // CHECK-NEXT: tt.return [[OUT]]#0
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> (i32) : i32 {
      scf.for %j = %c0 to %i step %c1 : i32 {
        %bar = ttg.local_alloc : () -> !bar
        ttnvgpu.init_barrier %bar, 1 : !bar
        ttnvgpu.barrier_expect %bar, 8192, %true : !bar
        ttnvgpu.async_tma_copy_global_to_local %desc[%i, %j] %buf, %bar, %true : !desc, !bar -> !tile
        ttnvgpu.wait_barrier %bar, %c0 : !bar
        ttnvgpu.inval_barrier %bar : !bar
        ttg.local_dealloc %bar : !bar
      }
      %y = arith.addi %x, %i : i32
      scf.yield %y : i32
    }
    tt.return %r : i32
  }

  // A branch without an end of a phase leaves the parity alone.
  // CHECK-LABEL: @branch
  tt.func @branch(%desc: !desc, %buf: !tile, %n: i32, %p: i1) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: ttnvgpu.init_barrier
    // CHECK: scf.for {{.*}} iter_args([[P:%.*]] = %{{.*}}) -> (i32)
    // CHECK: [[NEXT:%.*]] = scf.if {{.*}} -> (i32) {
    // CHECK: [[X:%.*]] = arith.xori [[P]],
    // CHECK-NEXT: scf.yield [[X]]
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield [[P]]
    // CHECK: scf.yield [[NEXT]]
    // CHECK: ttnvgpu.inval_barrier
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.if %p {
        %bar = ttg.local_alloc : () -> !bar
        ttnvgpu.init_barrier %bar, 1 : !bar
        ttnvgpu.barrier_expect %bar, 8192, %true : !bar
        ttnvgpu.async_tma_copy_global_to_local %desc[%i, %c0] %buf, %bar, %true : !desc, !bar -> !tile
        ttnvgpu.wait_barrier %bar, %c0 : !bar
        ttnvgpu.inval_barrier %bar : !bar
      }
    }
    tt.return
  }

  // A multiplication arrives where its predicate holds, and only then the phase ends.
  // Views are made again in the new places.
  // CHECK-LABEL: @product
  tt.func @product(%a: !a, %b: !b, %d: !d, %n: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: [[ALL:%.*]] = ttg.local_alloc
    // CHECK: [[BAR:%.*]] = ttg.memdesc_index [[ALL]]
    // CHECK-NEXT: ttnvgpu.init_barrier [[BAR]], 1
    // CHECK: scf.for {{.*}} iter_args([[P:%.*]] = %{{.*}}) -> (i32)
    // CHECK: [[PRED:%.*]] = arith.cmpi
    // CHECK-NOT: fence_async_shared
    // CHECK: ttnvgpu.wait_barrier %{{.*}}, [[P]], [[PRED]]
    // CHECK-NEXT: [[X:%.*]] = arith.xori [[P]],
    // CHECK-NEXT: arith.select [[PRED]], [[X]], [[P]]
    // CHECK: [[LAST:%.*]] = ttg.memdesc_index [[ALL]]
    // CHECK-NEXT: ttnvgpu.inval_barrier [[LAST]]
    scf.for %i = %c0 to %n step %c1 : i32 {
      %p = arith.cmpi ne, %i, %c1 : i32
      %all = ttg.local_alloc : () -> !ttg.memdesc<1x1xi64, #bar, #smem, mutable>
      %bar = ttg.memdesc_index %all[%c0] : !ttg.memdesc<1x1xi64, #bar, #smem, mutable> -> !bar
      ttnvgpu.init_barrier %bar, 1 : !bar
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %p, %bar[%true] {is_async} : !a, !b, !d, !bar
      ttnvgpu.wait_barrier %bar, %c0, %p : !bar
      ttnvgpu.inval_barrier %bar : !bar
    }
    tt.return
  }

  // Who arrives in each iteration ends a phase in each, whether it is waited for or not.
  // CHECK-LABEL: @sometimes_waited_for
  tt.func @sometimes_waited_for(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for {{.*}} iter_args([[P:%.*]] = %{{.*}}) -> (i32)
    // CHECK: ttnvgpu.wait_barrier %{{.*}}, [[P]], %{{.*}} :
    // CHECK-NEXT: [[NEXT:%.*]] = arith.xori [[P]],
    // CHECK-NEXT: scf.yield [[NEXT]]
    scf.for %i = %c0 to %n step %c1 : i32 {
      %p = arith.cmpi ne, %i, %c0 : i32
      %bar = ttg.local_alloc : () -> !bar
      ttnvgpu.init_barrier %bar, 2 : !bar
      ttnvgpu.arrive_barrier %bar, 1 : !bar
      ttnvgpu.arrive_barrier %bar, 1 : !bar
      ttnvgpu.wait_barrier %bar, %c0, %p : !bar
      ttnvgpu.inval_barrier %bar : !bar
    }
    tt.return
  }

  // The barrier is made in what a while loop does before its condition.
  // CHECK-LABEL: @while
  tt.func @while(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: ttnvgpu.init_barrier
    // CHECK: scf.while ([[I:%.*]] = %{{.*}}, [[P:%.*]] = %{{.*}}) : (i32, i32) -> (i32, i32)
    // CHECK: [[X:%.*]] = arith.xori [[P]],
    // CHECK: scf.condition({{.*}}) [[I]], [[X]]
    // CHECK: ^bb0([[J:%.*]]: i32, [[Q:%.*]]: i32):
    // CHECK: scf.yield %{{.*}}, [[Q]]
    // CHECK: ttnvgpu.inval_barrier
    %end = scf.while (%i = %c0) : (i32) -> i32 {
      %bar = ttg.local_alloc : () -> !bar
      ttnvgpu.init_barrier %bar, 1 : !bar
      ttnvgpu.arrive_barrier %bar, 1 : !bar
      ttnvgpu.wait_barrier %bar, %c0 : !bar
      ttnvgpu.inval_barrier %bar : !bar
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%j: i32):
      %next = arith.addi %j, %c1 : i32
      scf.yield %next : i32
    }
    tt.return
  }
}

// -----

// What stays in the loop.

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The count is not reached: whoever waits for another phase knows why.
  // CHECK-LABEL: @too_few_arrivals
  // CHECK: scf.for
  // CHECK: ttnvgpu.init_barrier
  // CHECK: ttnvgpu.inval_barrier
  // CHECK-NEXT: }
  tt.func @too_few_arrivals(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %bar = ttg.local_alloc : () -> !bar
      ttnvgpu.init_barrier %bar, 2 : !bar
      ttnvgpu.arrive_barrier %bar, 1 : !bar
      ttnvgpu.wait_barrier %bar, %c1 : !bar
      ttnvgpu.inval_barrier %bar : !bar
    }
    tt.return
  }

  // Two phases end between two waits: parities do not tell them apart.
  // CHECK-LABEL: @two_phases_in_one_wait
  // CHECK: scf.for
  // CHECK: ttnvgpu.init_barrier
  tt.func @two_phases_in_one_wait(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %bar = ttg.local_alloc : () -> !bar
      ttnvgpu.init_barrier %bar, 1 : !bar
      ttnvgpu.arrive_barrier %bar, 1 : !bar
      ttnvgpu.arrive_barrier %bar, 1 : !bar
      ttnvgpu.wait_barrier %bar, %c0 : !bar
      ttnvgpu.inval_barrier %bar : !bar
    }
    tt.return
  }

  // The predicate of the arrival is not that of the wait.
  // CHECK-LABEL: @other_predicate
  // CHECK: scf.for
  // CHECK: ttnvgpu.init_barrier
  tt.func @other_predicate(%n: i32, %p: i1, %q: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %bar = ttg.local_alloc : () -> !bar
      ttnvgpu.init_barrier %bar, 1 : !bar
      ttnvgpu.arrive_barrier %bar, 1, %p : !bar
      ttnvgpu.wait_barrier %bar, %c0, %q : !bar
      ttnvgpu.inval_barrier %bar : !bar
    }
    tt.return
  }

  // Only one branch ends a phase, and the wait is behind both.
  // CHECK-LABEL: @branches_differ
  // CHECK: scf.for
  // CHECK: ttnvgpu.init_barrier
  tt.func @branches_differ(%n: i32, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %bar = ttg.local_alloc : () -> !bar
      ttnvgpu.init_barrier %bar, 1 : !bar
      scf.if %p {
        ttnvgpu.arrive_barrier %bar, 1 : !bar
      }
      ttnvgpu.wait_barrier %bar, %c0 : !bar
      ttnvgpu.inval_barrier %bar : !bar
    }
    tt.return
  }

  // It is made twice.
  // CHECK-LABEL: @two_lives
  // CHECK: scf.for
  // CHECK: ttnvgpu.init_barrier
  tt.func @two_lives(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %bar = ttg.local_alloc : () -> !bar
      ttnvgpu.init_barrier %bar, 1 : !bar
      ttnvgpu.arrive_barrier %bar, 1 : !bar
      ttnvgpu.wait_barrier %bar, %c0 : !bar
      ttnvgpu.inval_barrier %bar : !bar
      ttnvgpu.init_barrier %bar, 1 : !bar
      ttnvgpu.inval_barrier %bar : !bar
    }
    tt.return
  }
}

// -----

// Blocks have a barrier together. One that does not wait may be two phases ahead
// of one that does. A kernel's argument is the same in all of them.
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @all_blocks_wait_or_none
  // CHECK: ttnvgpu.init_barrier
  // CHECK: scf.for {{.*}} iter_args([[P:%.*]] = %{{.*}}) -> (i32)
  // CHECK: ttnvgpu.wait_barrier %{{.*}}, [[P]], %arg1 :
  // CHECK-NEXT: [[NEXT:%.*]] = arith.xori [[P]],
  // CHECK-NEXT: scf.yield [[NEXT]]
  tt.func @all_blocks_wait_or_none(%n: i32, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %bar = ttg.local_alloc : () -> !bar
      ttnvgpu.init_barrier %bar, 1 : !bar
      ttnvgpu.arrive_barrier %bar, 1 : !bar
      ttnvgpu.wait_barrier %bar, %c0, %p : !bar
      ttnvgpu.inval_barrier %bar : !bar
    }
    tt.return
  }

  // CHECK-LABEL: @some_blocks_wait
  // CHECK: scf.for
  // CHECK: ttnvgpu.init_barrier
  tt.func private @some_blocks_wait(%n: i32, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %bar = ttg.local_alloc : () -> !bar
      ttnvgpu.init_barrier %bar, 1 : !bar
      ttnvgpu.arrive_barrier %bar, 1 : !bar
      ttnvgpu.wait_barrier %bar, %c0, %p : !bar
      ttnvgpu.inval_barrier %bar : !bar
    }
    tt.return
  }
}

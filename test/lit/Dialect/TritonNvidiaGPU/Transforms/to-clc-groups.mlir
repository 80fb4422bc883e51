// RUN: tile-opt %s -split-input-file -triton-nvidia-gpu-to-clc | filecheck %s

// The first partition asks for programs, and all groups take them.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @groups
  // CHECK: [[ANSWERS:%.*]] = ttg.local_alloc {alignment = 16 : i32} : () -> !ttg.memdesc<2x2xi64
  // CHECK-NEXT: [[ASKED:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK-NEXT: [[READ:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK-COUNT-2: ttnvgpu.init_barrier {{.*}}, 1
  // CHECK-COUNT-2: ttnvgpu.init_barrier {{.*}}, 7
  // CHECK: ttg.warp_specialize({{.*}}, [[ANSWERS]], [[ASKED]], [[READ]])
  tt.func public @groups(%out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 2147483647 : i32
    ttg.warp_specialize(%out)
    // CHECK-NEXT: default
    // CHECK: [[Y0:%.*]] = tt.get_program_id y
    // CHECK: scf.while (%{{.*}} = [[Y0]], [[MORE:%.*]] = %true{{.*}}, %{{.*}} = %c0_i32{{.*}}, %{{.*}} = %c1_i32{{.*}})
    // CHECK-NEXT: scf.condition([[MORE]])
    // CHECK: ^bb0([[Y:%.*]]: i32, %{{.*}}: i1, [[I:%.*]]: i32, [[CARRIED:%.*]]: i32):
    default {
      %r = scf.for %i = %c0 to %end step %c1 iter_args(%carried = %c1) -> i32 : i32 {
        // CHECK-NOT: clc_try_cancel
        // CHECK: [[SUM:%.*]] = arith.addi [[Y]], [[CARRIED]]
        // CHECK: arith.addi [[SUM]], [[I]]
        %y = ttnvgpu.clc_program_id %i, y : i32
        %sum = arith.addi %y, %carried : i32
        %more = arith.addi %sum, %i : i32
        tt.store %out, %more : !tt.ptr<i32>
        scf.yield %sum : i32
        // CHECK: ttnvgpu.wait_barrier
        // CHECK-NEXT: [[ANSWER:%.*]] = ttnvgpu.clc_load_result
        // CHECK: ttnvgpu.arrive_barrier {{.*}}, 4 :
        // CHECK-NEXT: [[NEXT:%.*]] = ttnvgpu.clc_get_program_id [[ANSWER]], y
        // CHECK-NEXT: [[FOUND:%.*]] = ttnvgpu.clc_is_canceled [[ANSWER]]
        // CHECK-NEXT: [[J:%.*]] = arith.addi [[I]], %c1_i32{{.*}}
        // CHECK-NEXT: scf.yield [[NEXT]], [[FOUND]], [[J]], [[SUM]]
      } {ttnvgpu.over_programs}
      tt.store %out, %r : !tt.ptr<i32>
      ttg.warp_yield
    }
    // CHECK: partition0
    partition0(%mine: !tt.ptr<i32>) num_warps(1) {
      %b0 = arith.constant 0 : i32
      %b1 = arith.constant 1 : i32
      %bound = arith.constant 2147483647 : i32
      // CHECK: scf.while
      // CHECK: ttnvgpu.wait_barrier
      // CHECK: ttnvgpu.barrier_expect {{.*}}, 16
      // CHECK: ttnvgpu.clc_try_cancel
      // CHECK: tt.store
      // CHECK: ttnvgpu.arrive_barrier {{.*}}, 1 :
      scf.for %i = %b0 to %bound step %b1 : i32 {
        %x = ttnvgpu.clc_program_id %i, x : i32
        tt.store %mine, %x : !tt.ptr<i32>
      } {ttnvgpu.over_programs}
      ttg.warp_return
    }
    // CHECK: partition1
    partition1(%mine: !tt.ptr<i32>) num_warps(2) {
      %b0 = arith.constant 0 : i32
      %b1 = arith.constant 1 : i32
      %bound = arith.constant 2147483647 : i32
      // CHECK: scf.while
      // CHECK-NOT: ttnvgpu.clc_try_cancel
      // CHECK: tt.store
      // CHECK: ttnvgpu.arrive_barrier {{.*}}, 2 :
      scf.for %i = %b0 to %bound step %b1 : i32 {
        tt.store %mine, %i : !tt.ptr<i32>
      } {ttnvgpu.over_programs}
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    // CHECK-COUNT-4: ttnvgpu.inval_barrier
    // CHECK: tt.return
    tt.return
  }
}

// -----

// The first block of a cluster holds the barriers by which answers are handed
// back. It does not leave before the others have done that.
// CHECK: #[[$HELD:.*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], {{.*}}}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @cluster
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x2xi64
  // CHECK: [[READ:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK: ttnvgpu.fence_mbarrier_init_release_cluster
  // CHECK-NEXT: ttnvgpu.cluster_barrier
  // CHECK-NEXT: ttg.warp_specialize
  // CHECK: ttnvgpu.clc_try_cancel {{.*}} {multicast}
  // CHECK: ttnvgpu.cluster_barrier {relaxed = true}
  // CHECK-COUNT-4: ttnvgpu.inval_barrier
  tt.func public @cluster(%out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 2147483647 : i32
    ttg.warp_specialize(%out)
    default {
      scf.for %i = %c0 to %end step %c1 : i32 {
        %x = ttnvgpu.clc_program_id %i, x : i32
        tt.store %out, %x : !tt.ptr<i32>
      } {ttnvgpu.over_programs}
      ttg.warp_yield
    }
    partition0(%mine: !tt.ptr<i32>) num_warps(1) {
      %b0 = arith.constant 0 : i32
      %b1 = arith.constant 1 : i32
      %bound = arith.constant 2147483647 : i32
      scf.for %i = %b0 to %bound step %b1 : i32 {
        tt.store %mine, %i : !tt.ptr<i32>
      } {ttnvgpu.over_programs}
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    tt.return
  }
}

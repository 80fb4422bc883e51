// RUN: tile-opt %s -triton-nvidia-gpu-cluster-barrier-after-init | filecheck %s

// Where the blocks of a cluster meet behind an initialisation.
#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#first = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
!pair = !ttg.memdesc<1xi64, #first, #smem, mutable>
!bar = !ttg.memdesc<2xi64, #barrier, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
// Each iteration makes its barrier.
// CHECK-LABEL: @in_a_loop
// CHECK: scf.for
// CHECK-NEXT: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.arrive_barrier
// CHECK-NOT: ttnvgpu.cluster_barrier
tt.func public @in_a_loop(%a: !bar, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttnvgpu.init_barrier %a, 1 : !bar
    ttnvgpu.arrive_barrier %a, 1 {fromCTA = 0 : i32} : !bar
    ttnvgpu.wait_barrier %a, %c0 : !bar
    ttnvgpu.inval_barrier %a : !bar
  }
  tt.return
}

// A loop that makes barriers and nothing else is left first.
// CHECK-LABEL: @behind_a_loop
// CHECK: scf.for
// CHECK-NEXT: ttnvgpu.init_barrier
// CHECK-NEXT: }
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.arrive_barrier
tt.func public @behind_a_loop(%a: !bar, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttnvgpu.init_barrier %a, 1 : !bar
  }
  ttnvgpu.arrive_barrier %a, 1 {fromCTA = 0 : i32} : !bar
  tt.return
}

// The next iteration signals what this one makes.
// CHECK-LABEL: @for_the_next_iteration
// CHECK: scf.for
// CHECK-NEXT: ttnvgpu.arrive_barrier
// CHECK-NEXT: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: }
tt.func public @for_the_next_iteration(%a: !bar, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttnvgpu.arrive_barrier %a, 1 {fromCTA = 0 : i32} : !bar
    ttnvgpu.init_barrier %a, 1 : !bar
  }
  tt.return
}

// One meeting for both ends of a branch.
// CHECK-LABEL: @behind_a_branch
// CHECK: scf.if
// CHECK-NOT: ttnvgpu.cluster_barrier
// CHECK: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.arrive_barrier
tt.func public @behind_a_branch(%a: !bar, %p: i1) {
  scf.if %p {
    ttnvgpu.init_barrier %a, 1 : !bar
  } else {
    ttnvgpu.init_barrier %a, 2 : !bar
  }
  ttnvgpu.arrive_barrier %a, 1 {fromCTA = 0 : i32} : !bar
  tt.return
}

// CHECK-LABEL: @where_blocks_join
// CHECK: ttnvgpu.init_barrier
// CHECK-NOT: ttnvgpu.cluster_barrier
// CHECK: ^[[JOIN:.*]]: // 2 preds
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.arrive_barrier
tt.func public @where_blocks_join(%a: !bar, %p: i1) {
  cf.cond_br %p, ^one, ^two
^one:
  ttnvgpu.init_barrier %a, 1 : !bar
  cf.br ^both
^two:
  ttnvgpu.init_barrier %a, 2 : !bar
  cf.br ^both
^both:
  ttnvgpu.arrive_barrier %a, 1 {fromCTA = 0 : i32} : !bar
  tt.return
}

// A block that waits may wait for one that has not come here.
// CHECK-LABEL: @before_a_wait
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.wait_barrier
// CHECK-NOT: ttnvgpu.cluster_barrier
tt.func public @before_a_wait(%a: !bar, %p: i1) {
  %c0 = arith.constant 0 : i32
  ttnvgpu.init_barrier %a, 1 : !bar
  ttnvgpu.wait_barrier %a, %c0, %p : !bar
  ttnvgpu.arrive_barrier %a, 1 {fromCTA = 0 : i32} : !bar
  tt.return
}

// Who waits for several blocks hears of them.
// CHECK-LABEL: @waits_for_several
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttnvgpu.wait_barrier
tt.func public @waits_for_several(%a: !pair) {
  %c0 = arith.constant 0 : i32
  ttnvgpu.init_barrier %a, 1 : !pair
  ttnvgpu.wait_barrier %a, %c0 : !pair
  tt.return
}

// Nobody signals another block.
// CHECK-LABEL: @alone
// CHECK-NOT: ttnvgpu.cluster_barrier
// CHECK: tt.return
tt.func public @alone(%a: !bar) {
  %c0 = arith.constant 0 : i32
  ttnvgpu.arrive_barrier %a, 1 {fromCTA = 0 : i32} : !bar
  ttnvgpu.init_barrier %a, 1 : !bar
  ttnvgpu.arrive_barrier %a, 1 : !bar
  ttnvgpu.wait_barrier %a, %c0 : !bar
  tt.return
}

// The program meets, but orders nothing.
// CHECK-LABEL: @relaxed
// CHECK: ttnvgpu.init_barrier
// CHECK-NEXT: ttnvgpu.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttnvgpu.cluster_barrier {relaxed = true}
// CHECK-NEXT: ttnvgpu.arrive_barrier
tt.func public @relaxed(%a: !bar) {
  ttnvgpu.init_barrier %a, 1 : !bar
  ttnvgpu.cluster_barrier {relaxed = true}
  ttnvgpu.arrive_barrier %a, 1 {fromCTA = 0 : i32} : !bar
  tt.return
}
}

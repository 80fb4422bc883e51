// RUN: tile-opt %s -split-input-file -tile-nvidia-llir | filecheck %s

// The barrier of a cluster is that of all threads: all warps come to it once.
// Later the default warps meet at an mbarrier, here of 256 threads and one more
// of the other block.

module attributes {"ttg.num-warps" = 8 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: llvm.func @begins_and_ends
  // CHECK: mbarrier.init.shared::cta.b64 [$0], 257;
  // CHECK: nvvm.cluster.arrive
  // CHECK-NEXT: nvvm.cluster.wait
  // CHECK-NOT: nvvm.cluster
  // CHECK: mbarrier.arrive.shared::cta.b64 $0
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
  // CHECK: mapa.shared::cluster.u32 there{{.*}}mbarrier.arrive.release.cluster.shared::cluster.b64
  // CHECK: mbarrier.try_wait.acquire.cluster.shared::cta.b64
  // CHECK: llvm.return
  // The other warps.
  // CHECK: nvvm.cluster.arrive
  // CHECK-NEXT: nvvm.cluster.wait
  // CHECK-NEXT: llvm.br
  // CHECK-NOT: nvvm.cluster
  tt.func public @begins_and_ends(%p: !tt.ptr<f32>, %v: f32) {
    ttnvgpu.cluster_barrier
    ttg.warp_specialize(%p, %v)
    default { ttg.warp_yield }
    partition0(%q: !tt.ptr<f32>, %x: f32) num_warps(4) {
      tt.store %q, %x : !tt.ptr<f32>
      ttg.warp_return
    } : (!tt.ptr<f32>, f32) -> ()
    ttnvgpu.cluster_barrier
    tt.return
  }
}

// -----

// Nothing to meet for but once: no mbarrier.
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: llvm.func @once
  // CHECK-NOT: mbarrier
  // CHECK-COUNT-2: nvvm.cluster.wait
  // CHECK-NOT: mbarrier
  tt.func public @once(%p: !tt.ptr<f32>, %v: f32) {
    ttnvgpu.cluster_barrier
    ttg.warp_specialize(%p, %v)
    default { ttg.warp_yield }
    partition0(%q: !tt.ptr<f32>, %x: f32) num_warps(4) {
      tt.store %q, %x : !tt.ptr<f32>
      ttg.warp_return
    } : (!tt.ptr<f32>, f32) -> ()
    tt.return
  }
}

// -----

// The first barrier comes when the other warps are at work, or it may be passed
// more than once: all warps wait at a barrier of its own, at the start.
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: llvm.func @inside
  // CHECK: mbarrier.init.shared::cta.b64 [$0], 33;
  // CHECK: nvvm.cluster.wait
  // CHECK-NOT: nvvm.cluster
  // CHECK: nvvm.bar.warp.sync
  // CHECK: mbarrier.try_wait.acquire.cluster
  // CHECK: nvvm.cluster.wait
  tt.func public @inside(%p: !tt.ptr<f32>, %v: f32) {
    ttg.warp_specialize(%p, %v)
    default {
      ttnvgpu.cluster_barrier
      ttg.warp_yield
    }
    partition0(%q: !tt.ptr<f32>, %x: f32) num_warps(4) {
      tt.store %q, %x : !tt.ptr<f32>
      ttg.warp_return
    } : (!tt.ptr<f32>, f32) -> ()
    tt.return
  }
}

// -----

// The warps of a partition meet those of the same partition of the other block, at a barrier of the
// block that is theirs and an mbarrier of 64 threads and one.
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: llvm.func @partition
  // CHECK-DAG: %[[ID:.*]] = llvm.mlir.constant(3 : i32)
  // CHECK-DAG: %[[THREADS:.*]] = llvm.mlir.constant(64 : i32)
  // CHECK: mbarrier.init.shared::cta.b64 [$0], 65;
  // CHECK-NOT: mbarrier.init.shared
  // CHECK: nvvm.cluster.wait
  // CHECK: mbarrier.arrive.shared::cta.b64 $0
  // CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %[[THREADS]]
  // CHECK: mapa.shared::cluster.u32 there{{.*}}mbarrier.arrive.release.cluster.shared::cluster.b64
  // CHECK: mbarrier.try_wait.acquire.cluster.shared::cta.b64
  tt.func public @partition(%p: !tt.ptr<f32>, %v: f32) {
    ttg.warp_specialize(%p, %v)
    default { ttg.warp_yield }
    partition0(%q: !tt.ptr<f32>, %x: f32) num_warps(1) {
      ttg.warp_return
    }
    partition1(%q: !tt.ptr<f32>, %x: f32) num_warps(2) {
      ttnvgpu.cluster_barrier
      tt.store %q, %x : !tt.ptr<f32>
      ttg.warp_return
    } : (!tt.ptr<f32>, f32) -> ()
    tt.return
  }
}

// -----

// There are no warps beside those of the block.
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, "ttg.total-num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: llvm.func internal @called
  // CHECK: nvvm.cluster.arrive
  // CHECK-NEXT: nvvm.cluster.wait
  tt.func private @called() attributes {noinline = true} {
    ttnvgpu.cluster_barrier
    tt.return
  }
  tt.func public @caller() {
    tt.call @called() : () -> ()
    tt.return
  }
}

// RUN: tile-opt %s | filecheck %s

// One barrier for each block of a cluster: an array of them, or one that each has.
#each = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#same = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @arrays
  tt.func @arrays(%a: !ttg.memdesc<2xi64, #each, #smem, mutable>, %b: !ttg.memdesc<1xi64, #same, #smem, mutable>, %phase: i32) {
    // CHECK: ttnvgpu.init_barrier %{{.*}}, 1 : !ttg.memdesc<2xi64,
    ttnvgpu.init_barrier %a, 1 : !ttg.memdesc<2xi64, #each, #smem, mutable>
    // CHECK: ttnvgpu.wait_barrier %{{.*}}, %{{.*}} : !ttg.memdesc<2xi64,
    ttnvgpu.wait_barrier %a, %phase : !ttg.memdesc<2xi64, #each, #smem, mutable>
    // CHECK: ttnvgpu.init_barrier %{{.*}}, 1 : !ttg.memdesc<1xi64,
    ttnvgpu.init_barrier %b, 1 : !ttg.memdesc<1xi64, #same, #smem, mutable>
    tt.return
  }

  // Each block has the whole array, and its barrier is the first of it.
  // CHECK-LABEL: @copies
  tt.func @copies(%a: !ttg.memdesc<2xi64, #same, #smem, mutable>) {
    // CHECK: ttnvgpu.init_barrier %{{.*}}, 1 : !ttg.memdesc<2xi64,
    ttnvgpu.init_barrier %a, 1 : !ttg.memdesc<2xi64, #same, #smem, mutable>
    tt.return
  }

  // No bits are no attribute.
  // CHECK-LABEL: @together
  tt.func @together(%a: !ttg.memdesc<2xi64, #each, #smem, mutable>, %pred: i1) {
    // CHECK: ttnvgpu.arrive_barrier %{{.*}}, 1, %{{.*}} {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64,
    ttng.arrive_barrier %a, 1, %pred {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #each, #smem, mutable>
    // CHECK: ttnvgpu.arrive_barrier %{{.*}}, 1 : !ttg.memdesc<2xi64,
    ttng.arrive_barrier %a, 1 {multicastCTA = 0 : i32} : !ttg.memdesc<2xi64, #each, #smem, mutable>
    tt.return
  }
}

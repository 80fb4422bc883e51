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
}

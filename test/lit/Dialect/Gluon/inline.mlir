// RUN: tile-opt %s -gluon-inline | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Blocks that nothing reaches go; the layout of the load stays.
  // CHECK-LABEL: tt.func public @kernel
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: tt.return
  tt.func public @kernel(%m: !ttg.memdesc<512xf32, #shared, #smem, mutable>) -> tensor<512xf32, #blocked1> {
    %0 = tt.call @load(%m) : (!ttg.memdesc<512xf32, #shared, #smem, mutable>) -> tensor<512xf32, #blocked1>
    tt.return %0 : tensor<512xf32, #blocked1>
  }
  tt.func private @load(%m: !ttg.memdesc<512xf32, #shared, #smem, mutable>) -> tensor<512xf32, #blocked1> attributes {noinline = false} {
    %0 = ttg.local_load %m : !ttg.memdesc<512xf32, #shared, #smem, mutable> -> tensor<512xf32, #blocked>
    %1 = ttg.convert_layout %0 : tensor<512xf32, #blocked> -> tensor<512xf32, #blocked1>
    tt.return %1 : tensor<512xf32, #blocked1>
  ^bb1:  // no predecessors
    %2 = ub.poison : tensor<512xf32, #blocked1>
    tt.return %2 : tensor<512xf32, #blocked1>
  }
}

// Into partitions, whatever the callee has.
// CHECK-LABEL: module @partitions
module @partitions attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: tt.func public @kernel
  // CHECK-NOT: tt.call
  tt.func public @kernel(%bar: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %p: !tt.ptr<i32>) {
    ttg.warp_specialize(%bar, %p)
    default {
      tt.call @arrive(%bar, %p) : (!ttg.memdesc<1xi64, #shared, #smem, mutable>, !tt.ptr<i32>) -> ()
      ttg.warp_yield
    }
    partition0(%b: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %q: !tt.ptr<i32>) num_warps(4) {
      tt.call @arrive(%b, %q) : (!ttg.memdesc<1xi64, #shared, #smem, mutable>, !tt.ptr<i32>) -> ()
      ttg.warp_return
    } : (!ttg.memdesc<1xi64, #shared, #smem, mutable>, !tt.ptr<i32>) -> ()
    tt.return
  }
  tt.func private @arrive(%bar: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %p: !tt.ptr<i32>) {
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #gluon.auto_encoding>
    %1 = gluon.set_auto_layout %0 : tensor<128xi32, #gluon.auto_encoding> -> tensor<128xi32, #blocked>
    %2 = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #blocked>
    tt.store %2, %1 : tensor<128x!tt.ptr<i32>, #blocked>
    ttnvgpu.arrive_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    tt.return
  }
}

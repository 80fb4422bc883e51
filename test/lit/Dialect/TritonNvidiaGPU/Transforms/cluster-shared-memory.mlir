// RUN: tile-opt %s -triton-nvidia-gpu-cluster-shared-memory -split-input-file -verify-diagnostics | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// What blocks write to each other waits until all have begun; all wait for the end. The buffer is
// there from the beginning to the end.
// CHECK-LABEL: @exchange
// CHECK-NEXT: %[[BUF:.*]] = ttg.local_alloc : ()
// CHECK: scf.for
// CHECK-NOT: ttg.local_alloc
// CHECK: tt.return
tt.func public @exchange(%x: tensor<16x64xf32, #columns>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %buf = ttg.local_alloc %x : (tensor<16x64xf32, #columns>) -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
    ttnvgpu.cluster_barrier
    %y = ttg.local_load %buf : !ttg.memdesc<16x64xf32, #shared, #smem, mutable> -> tensor<16x64xf32, #rows>
  }
  tt.return
}

// CHECK-LABEL: @both_ends
// CHECK-NEXT: %[[BUF:.*]] = ttg.local_alloc : ()
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttg.local_store %{{.*}}, %[[BUF]]
// CHECK-NEXT: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttg.local_dealloc %[[BUF]]
// CHECK-NEXT: tt.return
tt.func public @both_ends(%x: tensor<16x64xf32, #columns>) {
  %buf = ttg.local_alloc : () -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  ttg.local_store %x, %buf : tensor<16x64xf32, #columns> -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  tt.return
}

// The program has them.
// CHECK-LABEL: @has_them
// CHECK-COUNT-2: ttnvgpu.cluster_barrier
// CHECK-NOT: ttnvgpu.cluster_barrier
// CHECK: tt.return
tt.func public @has_them(%x: tensor<16x64xf32, #columns>) {
  %buf = ttg.local_alloc : () -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  ttnvgpu.cluster_barrier
  ttg.local_store %x, %buf : tensor<16x64xf32, #columns> -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  ttnvgpu.cluster_barrier
  tt.return
}

// A block has its rows: nothing to do.
// CHECK-LABEL: @own
// CHECK-NEXT: ttg.local_alloc %{{.*}} :
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @own(%x: tensor<16x64xf32, #rows>) {
  %buf = ttg.local_alloc %x : (tensor<16x64xf32, #rows>) -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  %y = ttg.local_load %buf : !ttg.memdesc<16x64xf32, #shared, #smem, mutable> -> tensor<16x64xf32, #rows>
  tt.return
}

// By index, elements may be anywhere.
// CHECK-LABEL: @by_index
// CHECK: ttg.local_gather
// CHECK-NEXT: ttnvgpu.cluster_barrier
tt.func public @by_index(%x: tensor<16x64xf32, #rows>, %i: tensor<16x64xi32, #rows>) {
  %buf = ttg.local_alloc %x : (tensor<16x64xf32, #rows>) -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  ttnvgpu.cluster_barrier
  %y = ttg.local_gather %buf[%i] {axis = 0 : i32} : !ttg.memdesc<16x64xf32, #shared, #smem, mutable>, tensor<16x64xi32, #rows> -> tensor<16x64xf32, #rows>
  tt.return
}

// Each way through several blocks passes a barrier at the beginning and one at the end.
// CHECK-LABEL: @returns_early
// CHECK: ttnvgpu.cluster_barrier
// CHECK-NEXT: cf.cond_br
// CHECK: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttg.local_dealloc
// CHECK-NEXT: tt.return
// CHECK: ttg.local_store
// CHECK: ttnvgpu.cluster_barrier
// CHECK-NEXT: ttg.local_dealloc
// CHECK-NEXT: tt.return
tt.func public @returns_early(%x: tensor<16x64xf32, #columns>, %nothing: i1) {
  cf.cond_br %nothing, ^early, ^write
^early:
  tt.return
^write:
  %buf = ttg.local_alloc : () -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  ttg.local_store %x, %buf : tensor<16x64xf32, #columns> -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  cf.br ^end
^end:
  tt.return
}
}

// -----

#columns = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
tt.func private @called(%x: tensor<16x64xf32, #columns>, %buf: !ttg.memdesc<16x64xf32, #shared, #smem, mutable>) {
  // expected-error @+1 {{in a function that is not inlined}}
  ttg.local_store %x, %buf : tensor<16x64xf32, #columns> -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  tt.return
}
}

// -----

#columns = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// expected-error @+1 {{outside of partitions}}
tt.func public @given(%x: tensor<16x64xf32, #columns>, %buf: !ttg.memdesc<16x64xf32, #shared, #smem, mutable>) {
  ttg.local_store %x, %buf : tensor<16x64xf32, #columns> -> !ttg.memdesc<16x64xf32, #shared, #smem, mutable>
  tt.return
}
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// The other block may start the copy while this one still uses the first buffer.
// CHECK-LABEL: @copied_by_others
// CHECK-NEXT: %[[BUF:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<4096xf16
// CHECK: ttnvgpu.async_tma_copy_global_to_local %{{.*}} %[[BUF]],
// CHECK: ttg.local_dealloc %[[BUF]]
// CHECK-NEXT: tt.return
tt.func public @copied_by_others(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>, %x: i32, %p: i1) {
  %first = ttg.local_alloc : () -> !ttg.memdesc<4096xf16, #plain, #smem, mutable>
  ttg.local_dealloc %first : !ttg.memdesc<4096xf16, #plain, #smem, mutable>
  %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttnvgpu.async_tma_copy_global_to_local %desc[%x, %x] %buf, %bar, %p {multicast} : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<2xi64, #barrier, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttg.local_dealloc %buf : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return
}

// Each block copies for itself.
// CHECK-LABEL: @copied_by_itself
// CHECK-NEXT: ttg.local_alloc : () -> !ttg.memdesc<4096xf16
tt.func public @copied_by_itself(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>, %x: i32, %p: i1) {
  %first = ttg.local_alloc : () -> !ttg.memdesc<4096xf16, #plain, #smem, mutable>
  ttg.local_dealloc %first : !ttg.memdesc<4096xf16, #plain, #smem, mutable>
  %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttnvgpu.async_tma_copy_global_to_local %desc[%x, %x] %buf, %bar, %p : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<2xi64, #barrier, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return
}
}

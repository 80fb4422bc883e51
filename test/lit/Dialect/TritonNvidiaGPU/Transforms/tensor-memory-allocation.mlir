// RUN: tile-opt %s -split-input-file -allow-unregistered-dialect -triton-tensor-memory-allocation | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>

// Buffers in use at the same time lie beside each other, the next one where there
// is room again.
// CHECK: ttg.tensor_memory_size = 512 : i32
// CHECK-LABEL: @reuse
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @reuse(%x: tensor<128x128xf32, #rows>, %p: i1) -> (tensor<128x128xf32, #rows>, tensor<128x128xf32, #rows>) {
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<128x128xf32
    %a = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 128 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<128x4xi8
    %s = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 132 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<128x128xf32
    %b = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ttnvgpu.tmem_store %x, %a, %p : tensor<128x128xf32, #rows> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ttnvgpu.tmem_store %x, %b, %p : tensor<128x128xf32, #rows> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    %y = ttnvgpu.tmem_load %a : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32, #rows>
    "test.use"(%s) : (!ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>) -> ()
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32}
    %c = ttnvgpu.tmem_alloc %y : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>
    %z = ttnvgpu.tmem_load %b : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32, #rows>
    %w = ttnvgpu.tmem_load %c : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory> -> tensor<128x128xf32, #rows>
    tt.return %z, %w : tensor<128x128xf32, #rows>, tensor<128x128xf32, #rows>
  }
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#half = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 128, colStride = 1>

// Buffers of 64 lanes share columns.
// CHECK: ttg.tensor_memory_size = 256 : i32
// CHECK-LABEL: @halves
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @halves() {
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<64x128xf32
    %a = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<64x128xf32, #half, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 128 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<128x128xf32
    %b = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 16 : i32} : () -> !ttg.memdesc<64x128xf32
    %c = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<64x128xf32, #half, #ttnvgpu.tensor_memory, mutable>
    "test.use"(%a, %b, %c) : (!ttg.memdesc<64x128xf32, #half, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<64x128xf32, #half, #ttnvgpu.tensor_memory, mutable>) -> ()
    tt.return
  }
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = [[16, 0], [32, 0]], block = []}>
#half = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>

// The left operand is read until the wait, and lies in the lanes of the accumulator.
// CHECK: ttg.tensor_memory_size = 128 : i32
// CHECK-LABEL: @operand
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @operand(%x: tensor<64x64xbf16, #linear>, %b: !ttg.memdesc<64x64xbf16, #shared, #smem>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %true: i1, %c0: i32) -> tensor<64x64xf32, #linear> {
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32}
    %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<64x64xf32, #half, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 64 : i32, tensor_memory_row_offset = 0 : i32}
    %a = ttnvgpu.tmem_alloc %x : (tensor<64x64xbf16, #linear>) -> !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true, %bar[%true] {is_async} : !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>, !ttg.memdesc<64x64xbf16, #shared, #smem>, !ttg.memdesc<64x64xf32, #half, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // Before the wait, the columns of the operand are taken.
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 16 : i32}
    %e = ttnvgpu.tmem_alloc %x : (tensor<64x64xbf16, #linear>) -> !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 32 : i32, tensor_memory_row_offset = 16 : i32}
    %f = ttnvgpu.tmem_alloc %x : (tensor<64x64xbf16, #linear>) -> !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 64 : i32, tensor_memory_row_offset = 16 : i32}
    %g = ttnvgpu.tmem_alloc %x : (tensor<64x64xbf16, #linear>) -> !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>
    "test.use"(%e, %f, %g) : (!ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>, !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>, !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>) -> ()
    ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 16 : i32}
    %h = ttnvgpu.tmem_alloc %x : (tensor<64x64xbf16, #linear>) -> !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>
    %i = ttnvgpu.tmem_load %h : !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory> -> tensor<64x64xbf16, #linear>
    %r = ttnvgpu.tmem_load %d : !ttg.memdesc<64x64xf32, #half, #ttnvgpu.tensor_memory, mutable> -> tensor<64x64xf32, #linear>
    tt.return %r : tensor<64x64xf32, #linear>
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>

// A loop uses what comes from outside in every iteration; what is allocated inside
// lives in one. Views are uses of the whole buffer.
// CHECK: ttg.tensor_memory_size = 256 : i32
// CHECK-LABEL: @loop
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @loop(%x: tensor<128x128xf32, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 0 : i32
    %a = ttnvgpu.tmem_alloc %x : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %v = ttnvgpu.tmem_subslice %a {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory> -> !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, 128x128>
      "test.use"(%v) : (!ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, 128x128>) -> ()
      // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 128 : i32
      %b = ttnvgpu.tmem_alloc %x : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>
      "test.use"(%b) : (!ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>) -> ()
      // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 128 : i32
      %c = ttnvgpu.tmem_alloc %x : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>
      "test.use"(%c) : (!ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>) -> ()
    }
    tt.return
  }
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!buffer = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>

// Partitions run beside each other. In one of them, a buffer may take the place of another.
// CHECK: ttg.tensor_memory_size = 256 : i32
// CHECK-LABEL: @partitions
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @partitions() {
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32
    %shared = ttnvgpu.tmem_alloc : () -> !buffer
    ttg.warp_specialize(%shared)
    default {
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 64 : i32
      %a = ttnvgpu.tmem_alloc : () -> !buffer
      "test.use"(%a) : (!buffer) -> ()
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 64 : i32
      %b = ttnvgpu.tmem_alloc : () -> !buffer
      "test.use"(%b) : (!buffer) -> ()
      ttg.warp_yield
    }
    partition0(%arg: !buffer) num_warps(4) {
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 128 : i32
      %c = ttnvgpu.tmem_alloc : () -> !buffer
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 192 : i32
      %d = ttnvgpu.tmem_alloc : () -> !buffer
      "test.use"(%arg, %c, %d) : (!buffer, !buffer, !buffer) -> ()
      ttg.warp_return
    } : (!buffer) -> ()
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32
    %e = ttnvgpu.tmem_alloc : () -> !buffer
    "test.use"(%e) : (!buffer) -> ()
    tt.return
  }
}

// -----

#padded = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, fp4Padded = true>
#bytes = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>

// Two 4-bit numbers of a byte take a byte each.
// CHECK: ttg.tensor_memory_size = 64 : i32
// CHECK-LABEL: @padded
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @padded() {
    %a = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xi8, #padded, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 32 : i32
    %b = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xi8, #bytes, #ttnvgpu.tensor_memory, mutable>
    "test.use"(%a, %b) : (!ttg.memdesc<128x64xi8, #padded, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x64xi8, #bytes, #ttnvgpu.tensor_memory, mutable>) -> ()
    tt.return
  }
}

// -----

// CHECK: ttg.tensor_memory_size = 0 : i32
module {
  tt.func @nothing() {
    tt.return
  }
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = [[16, 0], [32, 0]], block = []}>
#half = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>

// The accumulator fills the upper halves beside another buffer, and the operand has
// to go there too, though the lower halves are free from a lower column on.
// CHECK-LABEL: @same_lanes
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @same_lanes(%x: tensor<64x64xbf16, #linear>, %b: !ttg.memdesc<64x64xbf16, #shared, #smem>, %true: i1) {
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : (tensor<64x64xbf16
    %z = ttnvgpu.tmem_alloc %x : (tensor<64x64xbf16, #linear>) -> !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 16 : i32}
    %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<64x64xf32, #half, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 64 : i32, tensor_memory_row_offset = 16 : i32} : (tensor<64x64xbf16
    %a = ttnvgpu.tmem_alloc %x : (tensor<64x64xbf16, #linear>) -> !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>, !ttg.memdesc<64x64xbf16, #shared, #smem>, !ttg.memdesc<64x64xf32, #half, #ttnvgpu.tensor_memory, mutable>
    "test.use"(%z) : (!ttg.memdesc<64x64xbf16, #half, #ttnvgpu.tensor_memory>) -> ()
    tt.return
  }
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>

// A copy runs until a wait at the barrier of its commit. Another barrier of the
// ring, and another phase of the barrier, say nothing of it.
// CHECK-LABEL: @copies
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @copies(%x: tensor<128x32xf32, #rows>, %s: !ttg.memdesc<128x32xf32, #shared, #smem>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32
    %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<128x32xf32, #shared, #smem>, !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ttnvgpu.tc_gen5_commit %bar : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.tmem_alloc %{{.*}} {tensor_memory_col_offset = 32 : i32
    %e = ttnvgpu.tmem_alloc %x : (tensor<128x32xf32, #rows>) -> !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory>
    "test.use"(%e) : (!ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory>) -> ()
    ttnvgpu.wait_barrier %bar, %c1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.tmem_alloc %{{.*}} {tensor_memory_col_offset = 0 : i32
    %f = ttnvgpu.tmem_alloc %x : (tensor<128x32xf32, #rows>) -> !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory>
    "test.use"(%f) : (!ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory>) -> ()
    tt.return
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>

// Where a loop is blocks, its last operand is read until the wait behind it. Then
// its columns, and those of the sum, are free.
// CHECK: ttg.tensor_memory_size = 128 : i32
// CHECK-LABEL: @blocks
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @blocks(%x: tensor<128x64xbf16, #rows>, %b: !ttg.memdesc<64x64xbf16, #shared, #smem>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %again: i1) -> tensor<128x64xf32, #rows> {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32
    %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, mutable>
    cf.br ^loop
  ^loop:
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 64 : i32
    %a = ttnvgpu.tmem_alloc %x : (tensor<128x64xbf16, #rows>) -> !ttg.memdesc<128x64xbf16, #tmem64, #ttnvgpu.tensor_memory>
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true, %bar[%true] {is_async} : !ttg.memdesc<128x64xbf16, #tmem64, #ttnvgpu.tensor_memory>, !ttg.memdesc<64x64xbf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    cf.cond_br %again, ^next, ^end
  ^next:
    ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    cf.br ^loop
  ^end:
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 96 : i32
    %e = ttnvgpu.tmem_alloc %x : (tensor<128x64xbf16, #rows>) -> !ttg.memdesc<128x64xbf16, #tmem64, #ttnvgpu.tensor_memory>
    "test.use"(%e) : (!ttg.memdesc<128x64xbf16, #tmem64, #ttnvgpu.tensor_memory>) -> ()
    ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 64 : i32
    %f = ttnvgpu.tmem_alloc %x : (tensor<128x64xbf16, #rows>) -> !ttg.memdesc<128x64xbf16, #tmem64, #ttnvgpu.tensor_memory>
    "test.use"(%f) : (!ttg.memdesc<128x64xbf16, #tmem64, #ttnvgpu.tensor_memory>) -> ()
    %r = ttnvgpu.tmem_load %d : !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, mutable> -> tensor<128x64xf32, #rows>
    // CHECK: ttnvgpu.tmem_alloc {{.*}} {tensor_memory_col_offset = 0 : i32
    %g = ttnvgpu.tmem_alloc %x : (tensor<128x64xbf16, #rows>) -> !ttg.memdesc<128x64xbf16, #tmem64, #ttnvgpu.tensor_memory>
    "test.use"(%g) : (!ttg.memdesc<128x64xbf16, #tmem64, #ttnvgpu.tensor_memory>) -> ()
    tt.return %r : tensor<128x64xf32, #rows>
  }
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!operand = !ttg.memdesc<128x64xf16, #shared, #smem>
!right = !ttg.memdesc<64x64xf16, #shared, #smem>
!barrier = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!buffer = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>

// Where groups of warps have blocks, a buffer has its columns until all groups
// are done. Later groups have them again. A dot that nobody in its group waits
// for has its columns to itself.
// CHECK: ttg.tensor_memory_size = 128 : i32
// CHECK-LABEL: @partitions_in_turn
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @partitions_in_turn(%x: !operand, %y: !right) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    ttg.warp_specialize()
    default {
      %bar = ttg.local_alloc : () -> !barrier
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 64 : i32
      %a = ttnvgpu.tmem_alloc : () -> !buffer
      ttnvgpu.tc_gen5_mma %x, %y, %a, %true, %true, %bar[%true] {is_async} : !operand, !right, !buffer, !barrier
      cf.br ^end
    ^end:
      ttnvgpu.wait_barrier %bar, %c0 : !barrier
      ttnvgpu.inval_barrier %bar : !barrier
      ttg.warp_yield
    } : () -> ()
    ttg.warp_specialize()
    default {
      %next = ttg.local_alloc : () -> !barrier
      %other = ttg.local_alloc : () -> !barrier
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 64 : i32
      %b = ttnvgpu.tmem_alloc : () -> !buffer
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32
      %c = ttnvgpu.tmem_alloc : () -> !buffer
      ttnvgpu.tc_gen5_mma %x, %y, %b, %true, %true, %next[%true] {is_async} : !operand, !right, !buffer, !barrier
      cf.br ^end
    ^end:
      ttnvgpu.wait_barrier %next, %c0 : !barrier
      ttnvgpu.inval_barrier %next : !barrier
      ttnvgpu.tc_gen5_mma %x, %y, %c, %true, %true, %other[%true] {is_async} : !operand, !right, !buffer, !barrier
      ttg.warp_yield
    } : () -> ()
    tt.return
  }
}

// -----

// Loops and branches of a partition are blocks. What it needs in one of its
// loops is free in the next one. What another partition needs is not.
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!buffer = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
// CHECK: ttg.tensor_memory_size = 128 : i32
// CHECK-LABEL: @blocks_of_partitions
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @blocks_of_partitions(%c: i1) {
    ttg.warp_specialize(%c)
    default {
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32
      %a = ttnvgpu.tmem_alloc : () -> !buffer
      cf.br ^first
    ^first:
      "test.use"(%a) : (!buffer) -> ()
      cf.cond_br %c, ^first, ^next
    ^next:
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32
      %b = ttnvgpu.tmem_alloc : () -> !buffer
      cf.br ^second
    ^second:
      "test.use"(%b) : (!buffer) -> ()
      cf.cond_br %c, ^second, ^end
    ^end:
      ttg.warp_yield
    }
    partition0(%again: i1) num_warps(4) {
      // CHECK: ttnvgpu.tmem_alloc {tensor_memory_col_offset = 64 : i32
      %d = ttnvgpu.tmem_alloc : () -> !buffer
      cf.br ^loop
    ^loop:
      "test.use"(%d) : (!buffer) -> ()
      cf.cond_br %again, ^loop, ^end
    ^end:
      ttg.warp_return
    } : (i1) -> ()
    tt.return
  }
}

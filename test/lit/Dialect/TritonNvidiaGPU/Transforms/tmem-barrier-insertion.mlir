// RUN: tile-opt %s -split-input-file -triton-tensor-memory-allocation -triton-nvidia-gpu-tmem-barrier-insertion | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {

// Four warps have a window each. The one thread of a product touches all of them.
// What follows the wait for it needs no barrier.
// CHECK-LABEL: @product
tt.func @product(%x: tensor<128x64xf32, #rows>, %a: !ttg.memdesc<128x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %done: !ttg.memdesc<1xi64, #bar, #smem, mutable>) -> tensor<128x64xf32, #rows> {
  %true = arith.constant true
  %c0 = arith.constant 0 : i32
  %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  // CHECK: tmem_store
  // CHECK-NEXT: tmem_load
  // CHECK-NEXT: tmem_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tc_gen5_mma
  // CHECK-NEXT: wait_barrier
  // CHECK-NEXT: tmem_load
  ttnvgpu.tmem_store %x, %d, %true : tensor<128x64xf32, #rows> -> !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  %y = ttnvgpu.tmem_load %d : !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x64xf32, #rows>
  ttnvgpu.tmem_store %y, %d, %true : tensor<128x64xf32, #rows> -> !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true, %done[%true] {is_async} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
  ttnvgpu.wait_barrier %done, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
  %z = ttnvgpu.tmem_load %d : !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x64xf32, #rows>
  tt.return %z : tensor<128x64xf32, #rows>
}

// The product of the next iteration writes what this one has loaded.
// CHECK-LABEL: @loop
tt.func @loop(%a: !ttg.memdesc<128x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %done: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %n: i32) {
  %true = arith.constant true
  %false = arith.constant false
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: tmem_alloc
  %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tc_gen5_mma
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttnvgpu.tc_gen5_mma %a, %b, %d, %false, %true, %done[%true] {is_async} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttnvgpu.wait_barrier %done, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: tmem_load
    // CHECK-NOT: barrier
    // CHECK: tt.return
    %z = ttnvgpu.tmem_load %d : !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x64xf32, #rows>
  }
  tt.return
}

}

// -----

#columns = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [0, 32]], block = []}>
#others = #ttg.linear<{register = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [0, 1]], block = []}>
#copies = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [0, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {

// Of eight warps, two share a window.
// CHECK-LABEL: @eight_warps
tt.func @eight_warps(%x: tensor<128x64xf32, #columns>, %c: tensor<128x64xf32, #copies>, %i: i32, %j: i32) {
  %true = arith.constant true
  %bufs = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<2x128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  %d = ttg.memdesc_index %bufs[%i] : !ttg.memdesc<2x128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  %e = ttg.memdesc_index %bufs[%j] : !ttg.memdesc<2x128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  // The same warps come back to their elements.
  // CHECK: tmem_store
  // CHECK-NEXT: tmem_load
  ttnvgpu.tmem_store %x, %d, %true : tensor<128x64xf32, #columns> -> !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  %y = ttnvgpu.tmem_load %e : !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x64xf32, #columns>
  // Others come to them.
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tmem_load
  %z = ttnvgpu.tmem_load %d : !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x64xf32, #others>
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tmem_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tmem_load
  ttnvgpu.tmem_store %c, %d, %true : tensor<128x64xf32, #copies> -> !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  %w = ttnvgpu.tmem_load %d : !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x64xf32, #copies>
  tt.return
}

}

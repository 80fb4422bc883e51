// RUN: tile-opt %s -allocate-shared-memory -insert-memory-barriers | filecheck %s

// Barriers between what threads do in tensor memory, and what one thread starts
// there for all of them.

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 16, colStride = 1>
#lanes = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// CHECK-LABEL: @stored_then_multiplied
tt.func @stored_then_multiplied(%p: i1) {
  %true = arith.constant true
  %zero = arith.constant dense<0.0> : tensor<128x16xf32, #lanes>
  %a = ttg.local_alloc : () -> !ttg.memdesc<128x16xf16, #a, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #a, #smem, mutable>
  %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  // CHECK: ttnvgpu.tmem_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma
  ttnvgpu.tmem_store %zero, %d, %true : tensor<128x16xf32, #lanes> -> !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %p {is_async} : !ttg.memdesc<128x16xf16, #a, #smem, mutable>, !ttg.memdesc<16x16xf16, #a, #smem, mutable>, !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  // What was started here is in order.
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma
  ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %p {is_async} : !ttg.memdesc<128x16xf16, #a, #smem, mutable>, !ttg.memdesc<16x16xf16, #a, #smem, mutable>, !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// A buffer that is not mutable gets its value where it is made.
// CHECK-LABEL: @made_then_multiplied
tt.func @made_then_multiplied(%x: tensor<128x16xf16, #lanes>, %p: i1) {
  %true = arith.constant true
  %b = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #a, #smem, mutable>
  %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  // CHECK: ttnvgpu.tmem_alloc %
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma
  %a = ttnvgpu.tmem_alloc %x : (tensor<128x16xf16, #lanes>) -> !ttg.memdesc<128x16xf16, #acc, #ttnvgpu.tensor_memory>
  ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %p {is_async} : !ttg.memdesc<128x16xf16, #acc, #ttnvgpu.tensor_memory>, !ttg.memdesc<16x16xf16, #a, #smem, mutable>, !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// The next iteration overwrites what other warps may still read. The end of the
// dot is told by the barrier object.
// CHECK-LABEL: @read_then_multiplied
tt.func @read_then_multiplied(%n: index, %out: tensor<128x16x!tt.ptr<f32>, #lanes>) {
  %true = arith.constant true
  %false = arith.constant false
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %phase = arith.constant 0 : i32
  %a = ttg.local_alloc : () -> !ttg.memdesc<128x16xf16, #a, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #a, #smem, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
  %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  // CHECK: scf.for
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma
  // CHECK-NEXT: ttnvgpu.wait_barrier
  // CHECK-NEXT: ttnvgpu.tmem_load
  scf.for %i = %c0 to %n step %c1 {
    ttnvgpu.tc_gen5_mma %a, %b, %d, %false, %true, %bar[%true] {is_async} : !ttg.memdesc<128x16xf16, #a, #smem, mutable>, !ttg.memdesc<16x16xf16, #a, #smem, mutable>, !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttnvgpu.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    %x = ttnvgpu.tmem_load %d : !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable> -> tensor<128x16xf32, #lanes>
    tt.store %out, %x : tensor<128x16x!tt.ptr<f32>, #lanes>
  }
  tt.return
}

// Four warps have parts of their own.
// CHECK-LABEL: @stored_then_read
tt.func @stored_then_read(%x: tensor<128x16xf32, #lanes>, %out: tensor<128x16x!tt.ptr<f32>, #lanes>) {
  %true = arith.constant true
  %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  // CHECK: ttnvgpu.tmem_store
  // CHECK-NEXT: ttnvgpu.tmem_load
  ttnvgpu.tmem_store %x, %d, %true : tensor<128x16xf32, #lanes> -> !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  %y = ttnvgpu.tmem_load %d : !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable> -> tensor<128x16xf32, #lanes>
  tt.store %out, %y : tensor<128x16x!tt.ptr<f32>, #lanes>
  tt.return
}
}

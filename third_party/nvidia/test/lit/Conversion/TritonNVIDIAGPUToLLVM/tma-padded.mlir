// RUN: tile-opt %s -split-input-file -verify-diagnostics -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

// A byte of the block is two elements of the map. Boxes have 128 of them.

#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// CHECK-LABEL: llvm.func internal @load
// CHECK-SAME: (%{{[^:]*}}: {{[^,]*}}, %[[X:[^:]*]]: i32, %[[Y:[^:]*]]: i32
tt.func private @load(%desc: !tt.tensordesc<tensor<64x128xi8, #tile>>, %x: i32, %y: i32, %p: i1) {
  %buffer = ttg.local_alloc : () -> !ttg.memdesc<64x128xi8, #tile, #smem, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
  // CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: %[[FIRST:.*]] = llvm.mul %[[Y]], %[[TWO]] : i32
  // CHECK: %[[PANEL:.*]] = llvm.mlir.constant(64 : i32)
  // CHECK: %[[NEXT:.*]] = llvm.add %[[Y]], %[[PANEL]] : i32
  // CHECK: %[[SECOND:.*]] = llvm.mul %[[NEXT]], %{{.*}} : i32
  // CHECK: cp.async.bulk.tensor.2d.{{.*}} cp.async.bulk.tensor.2d.
  // CHECK-SAME: %[[FIRST]]
  // CHECK-SAME: %[[SECOND]]
  ttnvgpu.async_tma_copy_global_to_local %desc[%x, %y] %buffer, %bar, %p : !tt.tensordesc<tensor<64x128xi8, #tile>>, !ttg.memdesc<1xi64, #bars, #smem, mutable> -> !ttg.memdesc<64x128xi8, #tile, #smem, mutable>
  tt.return
}
}

// -----

#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {
tt.func private @store(%desc: !tt.tensordesc<tensor<64x64xi8, #tile>>, %x: i32) {
  %buffer = ttg.local_alloc : () -> !ttg.memdesc<64x64xi8, #tile, #smem, mutable>
  // expected-error @below {{failed to legalize operation 'ttnvgpu.async_tma_copy_local_to_global'}}
  // expected-note @below {{padded 4-bit elements are loaded in blocks only}}
  ttnvgpu.async_tma_copy_local_to_global %desc[%x, %x] %buffer : !tt.tensordesc<tensor<64x64xi8, #tile>>, !ttg.memdesc<64x64xi8, #tile, #smem, mutable>
  ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
  tt.return
}
}

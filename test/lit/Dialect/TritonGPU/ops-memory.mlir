// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of the operations on shared memory and of asynchronous copies.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#sharedT = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#plain1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#plain2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#nvmmaT = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>
#paddedT = #ttg.padded_shared<[32:+4] {order = [0, 1], shape = [32, 32]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: @buffers
tt.func @buffers(%t: tensor<32x32xf16, #blocked>) {
  // CHECK: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>
  %0 = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>
  // CHECK: %[[B:.*]] = ttg.local_alloc %arg0 {alignment = 32 : i32} : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  %1 = ttg.local_alloc %t {alignment = 32 : i32} : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
  // CHECK: ttg.local_load %[[B]] : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  %2 = ttg.local_load %1 : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #blocked>
  // CHECK: ttg.local_dealloc %[[A]] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>
  ttg.local_dealloc %0 : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>
  // CHECK: ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
  %3 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
  tt.return
}

// CHECK-LABEL: @views
tt.func @views(%m: !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>, %i: i32, %t: tensor<32x32xf16, #blocked>,
               %n: !ttg.memdesc<2x16x32xf16, #nvmma, #smem>, %p: !ttg.memdesc<32x32xf16, #padded, #smem>,
               %q: !ttg.memdesc<128xf16, #plain1, #smem, mutable>) {
  // CHECK: %[[A:.*]] = ttg.memdesc_index %arg0[%arg1] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  // CHECK: ttg.local_store %arg2, %[[A]] : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  ttg.local_store %t, %0 : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  // CHECK: ttg.memdesc_subslice %[[A]][0, 16] : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32>
  %1 = ttg.memdesc_subslice %0[0, 16] : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32>
  // CHECK: ttg.memdesc_trans %[[A]] {order = array<i32: 1, 0>} : {{.*}} -> !ttg.memdesc<32x32xf16, #shared{{[0-9]*}}, #smem, mutable>
  %2 = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #sharedT, #smem, mutable>
  // CHECK: ttg.memdesc_trans %{{.*}} {order = array<i32: 1, 0>} : {{.*}} -> !ttg.memdesc<16x32xf16, #shared{{[0-9]*}}, #smem, mutable, 32x32>
  %3 = ttg.memdesc_trans %1 {order = array<i32: 1, 0>} : !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32> -> !ttg.memdesc<16x32xf16, #sharedT, #smem, mutable, 32x32>
  // The dimension that counts buffers stays in front.
  // CHECK: ttg.memdesc_trans %arg3 {order = array<i32: 0, 2, 1>} : {{.*}} -> !ttg.memdesc<2x32x16xf16, #shared{{[0-9]*}}, #smem>
  %4 = ttg.memdesc_trans %n {order = array<i32: 0, 2, 1>} : !ttg.memdesc<2x16x32xf16, #nvmma, #smem> -> !ttg.memdesc<2x32x16xf16, #nvmmaT, #smem>
  // CHECK: ttg.memdesc_trans %arg4 {order = array<i32: 1, 0>}
  %5 = ttg.memdesc_trans %p {order = array<i32: 1, 0>} : !ttg.memdesc<32x32xf16, #padded, #smem> -> !ttg.memdesc<32x32xf16, #paddedT, #smem>
  // CHECK: ttg.memdesc_reshape %arg5 : !ttg.memdesc<128xf16, #shared{{[0-9]*}}, #smem, mutable> -> !ttg.memdesc<8x16xf16, #shared{{[0-9]*}}, #smem, mutable>
  %6 = ttg.memdesc_reshape %q : !ttg.memdesc<128xf16, #plain1, #smem, mutable> -> !ttg.memdesc<8x16xf16, #plain2, #smem, mutable>
  // CHECK: ttg.memdesc_reinterpret %arg5 : !ttg.memdesc<128xf16, #shared{{[0-9]*}}, #smem, mutable> -> !ttg.memdesc<8x8xf32, #shared{{[0-9]*}}, #smem, mutable>
  %7 = ttg.memdesc_reinterpret %q : !ttg.memdesc<128xf16, #plain1, #smem, mutable> -> !ttg.memdesc<8x8xf32, #plain2, #smem, mutable>
  // What is read through this one does not change.
  // CHECK: ttg.memdesc_reinterpret %arg5 : {{.*}}, mutable> -> !ttg.memdesc<128xf16, #shared{{[0-9]*}}, #smem>
  %frozen = ttg.memdesc_reinterpret %q : !ttg.memdesc<128xf16, #plain1, #smem, mutable> -> !ttg.memdesc<128xf16, #plain1, #smem>
  tt.return
}

// CHECK-LABEL: @async
tt.func @async(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %m: !ttg.memdesc<32x32xf16, #shared, #smem, mutable>,
               %mask: tensor<32x32xi1, #blocked>, %other: tensor<32x32xf16, #blocked>) {
  // CHECK: %[[T:.*]] = ttg.async_copy_global_to_local %arg0, %arg1 : tensor<32x32x!tt.ptr<f16>, #blocked> -> <32x32xf16, #shared, #smem, mutable>
  %0 = ttg.async_copy_global_to_local %p, %m : tensor<32x32x!tt.ptr<f16>, #blocked> -> <32x32xf16, #shared, #smem, mutable>
  // CHECK: %[[U:.*]] = ttg.async_copy_global_to_local %arg0, %arg1 mask %arg2 other %arg3 cacheModifier = cg evictionPolicy = evict_first {contiguity = 8 : i32, isVolatile = true} : tensor<32x32x!tt.ptr<f16>, #blocked> -> <32x32xf16, #shared, #smem, mutable>
  %1 = ttg.async_copy_global_to_local %p, %m mask %mask other %other cacheModifier = cg evictionPolicy = evict_first {contiguity = 8 : i32, isVolatile = true} : tensor<32x32x!tt.ptr<f16>, #blocked> -> <32x32xf16, #shared, #smem, mutable>
  // CHECK: %[[G:.*]] = ttg.async_commit_group tokens %[[T]], %[[U]]
  %2 = ttg.async_commit_group tokens %0, %1
  // CHECK: %[[H:.*]] = ttg.async_commit_group
  %3 = ttg.async_commit_group
  // CHECK: %[[W:.*]] = ttg.async_wait %[[G]], %[[H]] {num = 2 : i32}
  %4 = ttg.async_wait %2, %3 {num = 2 : i32}
  // CHECK: ttg.async_wait {num = 0 : i32}
  %5 = ttg.async_wait {num = 0 : i32}
  // CHECK: ttg.local_load %arg1 token %[[W]] : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  %6 = ttg.local_load %m token %4 : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// CHECK-LABEL: @barriers
tt.func @barriers() {
  // CHECK: {{^ +ttg.barrier local$}}
  ttg.barrier local
  // CHECK: ttg.barrier global_read|global_write
  ttg.barrier global_read|global_write
  // CHECK: ttg.barrier local|tensor_read
  ttg.barrier tensor_read|local
  // CHECK: ttg.barrier all
  ttg.barrier all
  // CHECK: ttg.barrier none
  ttg.barrier none
  tt.return
}

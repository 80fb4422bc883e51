// RUN: tile-opt %s -tritongpu-coalesce-async-copy | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#vec4 = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#vec8 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
// CHECK-DAG: [[NARROW:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The swizzle cuts runs into groups of four.
  // CHECK-LABEL: @swizzle
  // CHECK-SAME: %[[P:[a-z0-9]*]]: tensor<64x32x!tt.ptr<f16>, #blocked
  tt.func @swizzle(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %mask: tensor<64x32xi1, #blocked> {tt.constancy = 8 : i32}, %m: !ttg.memdesc<64x32xf16, #vec4, #smem, mutable>) {
    // CHECK-DAG: [[Q:%.*]] = ttg.convert_layout %[[P]]
    // CHECK-DAG: [[K:%.*]] = ttg.convert_layout {{.*}} -> tensor<64x32xi1, [[NARROW]]>
    // CHECK: ttg.async_copy_global_to_local [[Q]], %{{.*}} mask [[K]] {contiguity = 8 : i32} : tensor<64x32x!tt.ptr<f16>, [[NARROW]]>
    %t = ttg.async_copy_global_to_local %p, %m mask %mask {contiguity = 8 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #vec4, #smem, mutable>
    tt.return
  }

  // Nothing is in the way of 16 bytes.
  // CHECK-LABEL: @fits
  tt.func @fits(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %m: !ttg.memdesc<64x32xf16, #vec8, #smem, mutable>) {
    // CHECK-NOT: convert_layout
    %t = ttg.async_copy_global_to_local %p, %m {contiguity = 8 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #vec8, #smem, mutable>
    // CHECK: tt.return
    tt.return
  }

  // The mask changes after four elements.
  // CHECK-LABEL: @mask
  tt.func @mask(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %mask: tensor<64x32xi1, #blocked> {tt.constancy = 4 : i32}, %m: !ttg.memdesc<64x32xf16, #vec8, #smem, mutable>) {
    // CHECK: ttg.async_copy_global_to_local {{.*}} : tensor<64x32x!tt.ptr<f16>, [[NARROW]]>
    %t = ttg.async_copy_global_to_local %p, %m mask %mask {contiguity = 8 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #vec8, #smem, mutable>
    tt.return
  }
}

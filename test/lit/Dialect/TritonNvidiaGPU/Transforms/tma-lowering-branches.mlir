// RUN: tile-opt %s -triton-nvidia-tma-lowering | filecheck %s

// Only the other branch writes where the store does. The wait until the copies
// have written is there, and all threads have to know.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @branches
  tt.func public @branches(%base: !tt.ptr<f16>, %rows: i32, %stride: i64, %n: i32, %inside: i1, %x: tensor<64x64xf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %desc = tt.make_tensor_descriptor %base, [%rows, %rows], [%stride, %one] : <f16>, <tensor<64x64xf16, #shared>>
    %all = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      // CHECK: scf.if
      scf.if %inside {
        // CHECK: %[[TOKEN:.*]] = ttnvgpu.async_tma_copy_local_to_global
        // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[TOKEN]] {pendings = 0 : i32}
        tt.descriptor_store %desc[%c0, %c0], %x : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
      } else {
        // CHECK: } else {
        // CHECK-NEXT: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
        // CHECK-NEXT: ttg.barrier global_read|global_write
        // CHECK-NEXT: tt.store
        tt.store %all, %x : tensor<64x64x!tt.ptr<f16>, #blocked>
      }
    }
    tt.return
  }
}

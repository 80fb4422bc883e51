// RUN: tile-opt %s -split-input-file -verify-diagnostics -triton-nvidia-gpu-derive-wait-counts

#A = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#smem = #ttg.shared_memory
!b = !ttg.memdesc<32x32xf16, #A, #smem, mutable>
!t = !ttg.async.token

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// Groups of loads say nothing of stores.
tt.func @store(%desc: !tt.tensordesc<tensor<32x32xf16, #A>>, %b: !b, %i: i32) {
  // expected-note @below {{the token is of this}}
  %t = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %b : !tt.tensordesc<tensor<32x32xf16, #A>>, !b -> !t
  // expected-error @below {{waits for other work than its token is of}}
  %w = ttg.async_wait %t {num = 0 : i32}
  tt.return
}
}

// -----

#A = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#smem = #ttg.shared_memory
!b = !ttg.memdesc<32x32xf16, #A, #smem, mutable>
!t = !ttg.async.token

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// On one of two paths.
tt.func @load(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %desc: !tt.tensordesc<tensor<32x32xf16, #A>>, %b: !b, %i: i32, %c: i1) {
  %s = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %b : !tt.tensordesc<tensor<32x32xf16, #A>>, !b -> !t
  // expected-note @below {{the token is of this}}
  %t = ttg.async_copy_global_to_local %p, %b : tensor<32x32x!tt.ptr<f16>, #blocked> -> !b
  %g = ttg.async_commit_group tokens %t
  %x = scf.if %c -> !t {
    scf.yield %s : !t
  } else {
    scf.yield %g : !t
  }
  // expected-error @below {{waits for other work than its token is of}}
  ttnvgpu.async_tma_store_wait %x {pendings = 0 : i32}
  tt.return
}
}

// RUN: tile-opt %s -split-input-file -verify-diagnostics -test-print-allocation

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#smem = #ttg.shared_memory
!b = !ttg.memdesc<32x32xf16, #A, #smem, mutable>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// The frame goes to others when the function returns.
tt.func private @store(%desc: !tt.tensordesc<tensor<32x32xf16, #A>>, %x: tensor<32x32xf16, #blocked>, %i: i32, %c: i1) {
  %a = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !b
  // expected-error @below {{expected a wait for this on every way to the end of the function}}
  ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %a : !tt.tensordesc<tensor<32x32xf16, #A>>, !b
  scf.if %c {
    ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
  }
  tt.return
}

tt.func @kernel(%desc: !tt.tensordesc<tensor<32x32xf16, #A>>, %x: tensor<32x32xf16, #blocked>, %i: i32, %c: i1) {
  tt.call @store(%desc, %x, %i, %c) : (!tt.tensordesc<tensor<32x32xf16, #A>>, tensor<32x32xf16, #blocked>, i32, i1) -> ()
  tt.return
}
}

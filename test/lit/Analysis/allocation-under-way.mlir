// RUN: tile-opt %s -verify-diagnostics -test-print-allocation

// A buffer lives until what reads or writes it is done, whoever waits for that.

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#N = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
!x = tensor<32x32xf16, #blocked>
!p = tensor<32x32x!tt.ptr<f16>, #blocked>
!b = !ttg.memdesc<32x32xf16, #A, #smem, mutable>
!t = tensor<64x64xf16, #blocked>
!n = !ttg.memdesc<64x64xf16, #N, #smem, mutable>
!d = tensor<64x64xf32, #mma>
!bar = !ttg.memdesc<1xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem, mutable>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// A wait for a token ends the life of what that stands for; later copies go on.
// expected-remark @below {{size = 4096}}
tt.func @token(%x: !x, %p: !p) {
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !b
  // expected-remark @below {{offset = 2048, size = 2048}}
  %b = ttg.local_alloc : () -> !b
  %t0 = ttg.async_copy_global_to_local %p, %a : !p -> !b
  %g0 = ttg.async_commit_group tokens %t0
  %t1 = ttg.async_copy_global_to_local %p, %b : !p -> !b
  %g1 = ttg.async_commit_group tokens %t1
  %w0 = ttg.async_wait %g0 {num = 1 : i32}
  // expected-remark @below {{offset = 0, size = 2048}}
  %c = ttg.local_alloc %x : (!x) -> !b
  %0 = ttg.local_load %c : !b -> !x
  %w1 = ttg.async_wait {num = 0 : i32}
  tt.return
}

// A wait that leaves more under way than was started since ends nothing,
// whatever token it takes.
// expected-remark @below {{size = 4096}}
tt.func @count(%x: !x, %p: !p) {
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !b
  %t0 = ttg.async_copy_global_to_local %p, %a : !p -> !b
  %g0 = ttg.async_commit_group tokens %t0
  %w0 = ttg.async_wait %g0 {num = 1 : i32}
  // expected-remark @below {{offset = 2048, size = 2048}}
  %c = ttg.local_alloc %x : (!x) -> !b
  %0 = ttg.local_load %c : !b -> !x
  tt.return
}

// The copy of the last iteration is under way behind the loop.
// expected-remark @below {{size = 4096}}
tt.func @loop(%desc: !tt.tensordesc<tensor<32x32xf16, #A>>, %x: !x, %i: i32, %lb: index, %ub: index, %st: index) {
  scf.for %n = %lb to %ub step %st {
    // expected-remark @below {{offset = 0, size = 2048}}
    %a = ttg.local_alloc %x : (!x) -> !b
    ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %a : !tt.tensordesc<tensor<32x32xf16, #A>>, !b
  }
  // expected-remark @below {{offset = 2048, size = 2048}}
  %c = ttg.local_alloc %x : (!x) -> !b
  %0 = ttg.local_load %c : !b -> !x
  ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
  tt.return
}

// Products read their operands until they are waited for.
// expected-remark @below {{size = 16384}}
tt.func @product(%x: !t, %y: !t, %zero: !d) -> (!d, !t) {
  // expected-remark @below {{offset = 0, size = 8192}}
  %a = ttg.local_alloc %x : (!t) -> !n
  %d = ttnvgpu.warp_group_dot %a, %a, %zero {inputPrecision = 0 : i32, isAsync = true} : !n * !n -> !d
  // expected-remark @below {{offset = 8192, size = 8192}}
  %b = ttg.local_alloc %y : (!t) -> !n
  %0 = ttg.local_load %b : !n -> !t
  %w = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : !d
  tt.return %w, %0 : !d, !t
}

// Of two products, the first is done.
// expected-remark @below {{size = 16384}}
tt.func @first_product(%x: !t, %y: !t, %zero: !d) -> (!d, !t) {
  // expected-remark @below {{offset = 0, size = 8192}}
  %a = ttg.local_alloc %x : (!t) -> !n
  // expected-remark @below {{offset = 8192, size = 8192}}
  %b = ttg.local_alloc %y : (!t) -> !n
  %d = ttnvgpu.warp_group_dot %a, %a, %zero {inputPrecision = 0 : i32, isAsync = true} : !n * !n -> !d
  %e = ttnvgpu.warp_group_dot %b, %b, %d {inputPrecision = 0 : i32, isAsync = true} : !n * !n -> !d
  %v = ttnvgpu.warp_group_dot_wait %e {pendings = 1 : i32} : !d
  // expected-remark @below {{offset = 0, size = 8192}}
  %c = ttg.local_alloc %y : (!t) -> !n
  %0 = ttg.local_load %c : !n -> !t
  %w = ttnvgpu.warp_group_dot_wait %v {pendings = 0 : i32} : !d
  tt.return %w, %0 : !d, !t
}
// What a copy writes is not given away before a wait at its barrier, though
// nobody reads it.
// expected-remark @below {{size = 16392}}
tt.func @at_barrier(%desc: !tt.tensordesc<tensor<64x64xf16, #N>>, %x: !t, %i: i32, %true: i1, %phase: i32) {
  // expected-remark @below {{offset = 0, size = 8192}}
  %a = ttg.local_alloc : () -> !n
  // expected-remark @below {{offset = 16384, size = 8}}
  %bar = ttg.local_alloc : () -> !bar
  ttnvgpu.init_barrier %bar, 1 : !bar
  ttnvgpu.async_tma_copy_global_to_local %desc[%i, %i] %a, %bar, %true : !tt.tensordesc<tensor<64x64xf16, #N>>, !bar -> !n
  // expected-remark @below {{offset = 8192, size = 8192}}
  %b = ttg.local_alloc %x : (!t) -> !n
  %0 = ttg.local_load %b : !n -> !t
  ttnvgpu.wait_barrier %bar, %phase : !bar
  // expected-remark @below {{offset = 0, size = 8192}}
  %c = ttg.local_alloc %x : (!t) -> !n
  %1 = ttg.local_load %c : !n -> !t
  ttnvgpu.inval_barrier %bar : !bar
  tt.return
}

// A loop copies for iterations that may not come. Behind it, where nobody waits
// any more, nothing is under way.
// expected-remark @below {{size = 8200}}
tt.func @behind_loop(%desc: !tt.tensordesc<tensor<64x64xf16, #N>>, %x: !t, %i: i32, %pred: i1, %phase: i32, %lb: index, %ub: index, %st: index) {
  // expected-remark @below {{offset = 0, size = 8192}}
  %a = ttg.local_alloc : () -> !n
  // expected-remark @below {{offset = 8192, size = 8}}
  %bar = ttg.local_alloc : () -> !bar
  ttnvgpu.init_barrier %bar, 1 : !bar
  scf.for %n = %lb to %ub step %st {
    ttnvgpu.wait_barrier %bar, %phase : !bar
    %0 = ttg.local_load %a : !n -> !t
    ttnvgpu.async_tma_copy_global_to_local %desc[%i, %i] %a, %bar, %pred : !tt.tensordesc<tensor<64x64xf16, #N>>, !bar -> !n
  }
  ttnvgpu.inval_barrier %bar : !bar
  // expected-remark @below {{offset = 0, size = 8192}}
  %c = ttg.local_alloc %x : (!t) -> !n
  %1 = ttg.local_load %c : !n -> !t
  tt.return
}
}

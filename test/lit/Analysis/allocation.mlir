// RUN: tile-opt %s -split-input-file -verify-diagnostics -test-print-allocation

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [0, 1]}>
#B = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {

// Two buffers that live together, and one that takes the place of the first.
// expected-remark @below {{size = 4096}}
tt.func @lifetimes(%x: tensor<32x32xf16, #blocked>) {
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  // expected-remark @below {{offset = 2048, size = 2048}}
  %b = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %0 = ttg.local_load %a : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  // expected-remark @below {{offset = 0, size = 2048}}
  %c = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %1 = ttg.local_load %b : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  %2 = ttg.local_load %c : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// An encoding that is made for a larger shape takes the memory of that one.
// expected-remark @below {{size = 128}}
tt.func @larger_encoding() {
  // expected-remark @below {{offset = 0, size = 128}}
  %a = ttg.local_alloc : () -> !ttg.memdesc<16x1xf32, #ttg.shared_linear<{offset = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0]]}, alignment = 16>, #smem, mutable>
  %v = ttg.local_load %a : !ttg.memdesc<16x1xf32, #ttg.shared_linear<{offset = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0]]}, alignment = 16>, #smem, mutable> -> tensor<16x1xf32, #blocked>
  tt.return
}

// A view keeps its buffer alive.
// expected-remark @below {{size = 6144}}
tt.func @views(%x: tensor<32x32xf16, #blocked>, %i: i32) {
  // expected-remark @below {{offset = 0, size = 4096}}
  %a = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #A, #smem, mutable>
  %v = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x32x32xf16, #A, #smem, mutable> -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  // expected-remark @below {{offset = 4096, size = 2048}}
  %b = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  ttg.local_store %x, %v : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %0 = ttg.local_load %b : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// A buffer lives while a copy into it may be under way, although nobody reads
// it: until a wait for all groups, on every way there. Waits that leave some
// under way, or come before the group is closed, do not end it.
// expected-remark @below {{size = 4096}}
tt.func @copies_that_nobody_reads(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %x: tensor<32x32xf16, #blocked>, %c: i1) {
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %t = ttg.async_copy_global_to_local %p, %a : tensor<32x32x!tt.ptr<f16>, #blocked> -> <32x32xf16, #A, #smem, mutable>
  // expected-remark @below {{offset = 2048, size = 2048}}
  %b = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %0 = ttg.local_load %b : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  %w0 = ttg.async_wait {num = 0 : i32}
  %g = ttg.async_commit_group
  %w1 = ttg.async_wait {num = 1 : i32}
  cf.cond_br %c, ^some, ^none
^some:
  // expected-remark @below {{offset = 2048, size = 2048}}
  %d = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %1 = ttg.local_load %d : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  %w2 = ttg.async_wait {num = 0 : i32}
  cf.br ^none
^none:
  // expected-remark @below {{offset = 2048, size = 2048}}
  %e = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %2 = ttg.local_load %e : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  %w3 = ttg.async_wait {num = 0 : i32}
  // expected-remark @below {{offset = 0, size = 2048}}
  %f = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %3 = ttg.local_load %f : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// A buffer that is copied to global memory lives until a wait for all of these
// copies.
// expected-remark @below {{size = 4096}}
tt.func @copies_to_global_memory(%desc: !tt.tensordesc<tensor<32x32xf16, #A>>, %x: tensor<32x32xf16, #blocked>, %i: i32) {
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %a : !tt.tensordesc<tensor<32x32xf16, #A>>, !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  ttnvgpu.async_tma_store_wait {pendings = 1 : i32}
  // expected-remark @below {{offset = 2048, size = 2048}}
  %b = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %0 = ttg.local_load %b : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
  // expected-remark @below {{offset = 0, size = 2048}}
  %c = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %1 = ttg.local_load %c : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// A buffer that a copy fills which arrives at a barrier lives until a wait at
// that barrier, although nobody reads it. Waits at other barriers, and waits
// that a predicate may switch off, do not end it.
// expected-remark @below {{size = 4112}}
tt.func @copies_that_arrive(%desc: !tt.tensordesc<tensor<32x32xf16, #A>>, %x: tensor<32x32xf16, #blocked>, %i: i32, %p: i1) {
  %true = arith.constant true
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @below {{offset = 4096, size = 16}}
  %bars = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #B, #smem, mutable>
  %bar = ttg.memdesc_index %bars[%c0] : !ttg.memdesc<2x1xi64, #B, #smem, mutable> -> !ttg.memdesc<1xi64, #B, #smem, mutable>
  %other = ttg.memdesc_index %bars[%c1] : !ttg.memdesc<2x1xi64, #B, #smem, mutable> -> !ttg.memdesc<1xi64, #B, #smem, mutable>
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  ttnvgpu.async_tma_copy_global_to_local %desc[%i, %i] %a, %bar, %true : !tt.tensordesc<tensor<32x32xf16, #A>>, !ttg.memdesc<1xi64, #B, #smem, mutable> -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  ttnvgpu.wait_barrier %other, %c0 : !ttg.memdesc<1xi64, #B, #smem, mutable>
  ttnvgpu.wait_barrier %bar, %c0, %p : !ttg.memdesc<1xi64, #B, #smem, mutable>
  // expected-remark @below {{offset = 2048, size = 2048}}
  %b = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %0 = ttg.local_load %b : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #B, #smem, mutable>
  // expected-remark @below {{offset = 0, size = 2048}}
  %c = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %1 = ttg.local_load %c : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  ttnvgpu.wait_barrier %bar, %c1 : !ttg.memdesc<1xi64, #B, #smem, mutable>
  tt.return
}

// Behind a loop nobody waits for the loads that it has started: their predicate
// switches off those. What comes there may take the place.
// expected-remark @below {{size = 4112}}
tt.func @copies_of_a_loop(%desc: !tt.tensordesc<tensor<32x32xf16, #A>>, %x: tensor<32x32xf16, #blocked>, %i: i32, %p: i1) {
  %c0 = arith.constant 0 : i32
  // expected-remark @below {{offset = 4096, size = 16}}
  %bars = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #B, #smem, mutable>
  // expected-remark @below {{offset = 0, size = 4096}}
  %a = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #A, #smem, mutable>
  cf.br ^loop(%c0 : i32)
^loop(%k: i32):
  %bar = ttg.memdesc_index %bars[%k] : !ttg.memdesc<2x1xi64, #B, #smem, mutable> -> !ttg.memdesc<1xi64, #B, #smem, mutable>
  ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #B, #smem, mutable>
  %v = ttg.memdesc_index %a[%k] : !ttg.memdesc<2x32x32xf16, #A, #smem, mutable> -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  ttnvgpu.async_tma_copy_global_to_local %desc[%i, %i] %v, %bar, %p : !tt.tensordesc<tensor<32x32xf16, #A>>, !ttg.memdesc<1xi64, #B, #smem, mutable> -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  cf.cond_br %p, ^loop(%i : i32), ^end
^end:
  // expected-remark @below {{offset = 0, size = 2048}}
  %c = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %1 = ttg.local_load %c : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// Around such a loop is another one, whose next iteration makes the buffers
// anew: a wait there is for other copies.
// expected-remark @below {{size = 4112}}
tt.func @copies_of_a_nest(%desc: !tt.tensordesc<tensor<32x32xf16, #A>>, %x: tensor<32x32xf16, #blocked>, %i: i32, %p: i1) {
  %c0 = arith.constant 0 : i32
  cf.br ^outer
^outer:
  // expected-remark @below {{offset = 4096, size = 16}}
  %bars = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #B, #smem, mutable>
  // expected-remark @below {{offset = 0, size = 4096}}
  %a = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #A, #smem, mutable>
  cf.br ^loop(%c0 : i32)
^loop(%k: i32):
  %bar = ttg.memdesc_index %bars[%k] : !ttg.memdesc<2x1xi64, #B, #smem, mutable> -> !ttg.memdesc<1xi64, #B, #smem, mutable>
  ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #B, #smem, mutable>
  %v = ttg.memdesc_index %a[%k] : !ttg.memdesc<2x32x32xf16, #A, #smem, mutable> -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  ttnvgpu.async_tma_copy_global_to_local %desc[%i, %i] %v, %bar, %p : !tt.tensordesc<tensor<32x32xf16, #A>>, !ttg.memdesc<1xi64, #B, #smem, mutable> -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  cf.cond_br %p, ^loop(%i : i32), ^end
^end:
  // expected-remark @below {{offset = 0, size = 2048}}
  %c = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %1 = ttg.local_load %c : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  cf.cond_br %p, ^outer, ^done
^done:
  tt.return
}

// What is used in a loop lives as long as the loop; scratch memory, as long as
// its operation.
// expected-remark @below {{size = 6144}}
tt.func @loop(%x: tensor<32x32xf16, #blocked>, %lb: index, %ub: index, %st: index) {
  // expected-remark @below {{offset = 4096, size = 2048}}
  %a = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  scf.for %i = %lb to %ub step %st {
    %0 = ttg.local_load %a : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
    // expected-remark @below {{offset = 0, size = 2048}}
    %b = ttg.local_alloc %0 : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
    %1 = ttg.local_load %b : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
    %e = arith.extf %1 : tensor<32x32xf16, #blocked> to tensor<32x32xf32, #blocked>
    // expected-remark @below {{scratch offset = 0, size = 4096}}
    %2 = ttg.convert_layout %e : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #blocked1>
  }
  tt.return
}

// Small scratch buffers keep apart: no barrier between the reductions.
// expected-remark @below {{size = 32}}
tt.func @reductions(%x: tensor<128xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) {
  // expected-remark @below {{scratch offset = 0, size = 16}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.maxnumf %a, %b : f32
    tt.reduce.return %m : f32
  }) : (tensor<128xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) -> f32
  // expected-remark @below {{scratch offset = 16, size = 16}}
  %1 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tt.reduce.return %m : f32
  }) : (tensor<128xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) -> f32
  tt.return
}

// expected-remark @below {{size = 2048}}
tt.func private @callee(%x: tensor<32x32xf16, #blocked>) {
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  %0 = ttg.local_load %a : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// The frame of a callee lies beside what lives across the call.
// expected-remark @below {{size = 4096}}
tt.func @caller(%x: tensor<32x32xf16, #blocked>) {
  // expected-remark @below {{offset = 0, size = 2048}}
  %a = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #A, #smem, mutable>
  // expected-remark @below {{call offset = 2048, size = 2048}}
  tt.call @callee(%x) : (tensor<32x32xf16, #blocked>) -> ()
  %0 = ttg.local_load %a : !ttg.memdesc<32x32xf16, #A, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {
// expected-error @below {{recursive functions cannot get shared memory}}
tt.func private @recursive() {
  tt.call @recursive() : () -> ()
  tt.return
}
}

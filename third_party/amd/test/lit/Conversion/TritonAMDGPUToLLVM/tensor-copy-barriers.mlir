// RUN: tile-opt %s -allocate-shared-memory -insert-memory-barriers | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  // The wait of an iteration tells other waves by a barrier, which also orders what they read before
  // the next copy. Between that copy and a load that has the token, there is none.
  // CHECK-LABEL: @ring
  // CHECK: scf.for
  // CHECK: amdg.async_tdm_wait
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NOT: ttg.barrier
  // CHECK: scf.yield
  tt.func public @ring(%d: !tt.tensordesc<tensor<64x32xf16, #shared>>, %n: i32, %zero: tensor<64x32xf16, #blocked>) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %ring = ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable>
    %first = ttg.memdesc_index %ring[%c0] : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %t0 = amdg.async_tdm_copy_global_to_local %d[%c0, %c0] into %first, %true : !tt.tensordesc<tensor<64x32xf16, #shared>> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%slot = %c0, %s = %zero, %started = %t0) -> (i32, tensor<64x32xf16, #blocked>, !ttg.async.token) : i32 {
      %w = amdg.async_tdm_wait %started {num = 0 : i32}
      %next = arith.xori %slot, %c1 : i32
      %into = ttg.memdesc_index %ring[%next] : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
      %t = amdg.async_tdm_copy_global_to_local %d[%k, %c0] into %into, %true : !tt.tensordesc<tensor<64x32xf16, #shared>> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
      %this = ttg.memdesc_index %ring[%slot] : !ttg.memdesc<2x64x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
      %x = ttg.local_load %this token %w : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> tensor<64x32xf16, #blocked>
      %y = arith.addf %s, %x : tensor<64x32xf16, #blocked>
      scf.yield %next, %y, %t : i32, tensor<64x32xf16, #blocked>, !ttg.async.token
    }
    tt.return %r#1 : tensor<64x32xf16, #blocked>
  }

  // What was read before is ordered by a barrier, and what was written before a store of the block.
  // CHECK-LABEL: @again
  // CHECK: ttg.local_load
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: amdg.async_tdm_copy_global_to_local
  // CHECK-NEXT: amdg.async_tdm_wait
  // CHECK-NEXT: ttg.barrier local
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: amdg.async_tdm_copy_local_to_global
  // CHECK-NEXT: amdg.async_tdm_intrinsic_wait
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tt.return
  tt.func public @again(%d: !tt.tensordesc<tensor<64x32xf16, #shared>>, %i: i32, %v: tensor<64x32xf16, #blocked>) -> tensor<64x32xf16, #blocked> {
    %true = arith.constant true
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %x = ttg.local_load %b : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> tensor<64x32xf16, #blocked>
    %t = amdg.async_tdm_copy_global_to_local %d[%i, %i] into %b, %true : !tt.tensordesc<tensor<64x32xf16, #shared>> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %w = amdg.async_tdm_wait %t {num = 0 : i32}
    ttg.local_store %v, %b : tensor<64x32xf16, #blocked> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    amdg.async_tdm_copy_local_to_global %d[%i, %i] from %b : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<64x32xf16, #shared>>
    %e = amdg.async_tdm_intrinsic_wait {count = 0 : i32}
    tt.return %x : tensor<64x32xf16, #blocked>
  }
}

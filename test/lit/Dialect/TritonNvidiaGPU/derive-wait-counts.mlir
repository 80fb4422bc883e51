// RUN: tile-opt %s -triton-nvidia-gpu-derive-wait-counts | filecheck %s

#A = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#smem = #ttg.shared_memory
!p = tensor<32x32x!tt.ptr<f16>, #blocked>
!b = !ttg.memdesc<32x32xf16, #A, #smem, mutable>
!desc = !tt.tensordesc<tensor<32x32xf16, #A>>
!t = !ttg.async.token

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// What the token stands for must be done; a program may wait for more.
// CHECK-LABEL: @stores
tt.func @stores(%desc: !desc, %b: !b, %i: i32) {
  %t = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %b : !desc, !b -> !t
  %u = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %b : !desc, !b -> !t
  // CHECK: ttnvgpu.async_tma_store_wait %{{.*}} {pendings = 1 : i32}
  ttnvgpu.async_tma_store_wait %t {pendings = 2 : i32}
  // CHECK: ttnvgpu.async_tma_store_wait %{{.*}} {pendings = 0 : i32}
  ttnvgpu.async_tma_store_wait %t {pendings = 0 : i32}
  tt.return
}

// Programs that count are right.
// CHECK-LABEL: @without_tokens
tt.func @without_tokens(%desc: !desc, %b: !b, %i: i32) {
  ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %b : !desc, !b
  // CHECK: ttnvgpu.async_tma_store_wait {pendings = 3 : i32}
  ttnvgpu.async_tma_store_wait {pendings = 3 : i32}
  tt.return
}

// The path with the fewest stores decides.
// CHECK-LABEL: @branch
tt.func @branch(%desc: !desc, %b: !b, %i: i32, %c: i1) {
  %t = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %b : !desc, !b -> !t
  cf.cond_br %c, ^store, ^join
^store:
  %u = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] %b : !desc, !b -> !t
  cf.br ^join
^join:
  // CHECK: ttnvgpu.async_tma_store_wait %{{.*}} {pendings = 0 : i32}
  ttnvgpu.async_tma_store_wait %t {pendings = 1 : i32}
  tt.return
}

// The copy of the iteration before the last one is done, the last one is not;
// what came before the loop is another group.
// CHECK-LABEL: @loop
tt.func @loop(%p: !p, %b: !b, %lb: index, %ub: index, %st: index) {
  %t0 = ttg.async_copy_global_to_local %p, %b : !p -> !b
  %g0 = ttg.async_commit_group tokens %t0
  %t1 = ttg.async_copy_global_to_local %p, %b : !p -> !b
  %g1 = ttg.async_commit_group tokens %t1
  %r:2 = scf.for %i = %lb to %ub step %st iter_args(%x = %g0, %y = %g1) -> (!t, !t) {
    // CHECK: ttg.async_wait %{{.*}} {num = 1 : i32}
    %w = ttg.async_wait %x {num = 7 : i32}
    %t = ttg.async_copy_global_to_local %p, %b : !p -> !b
    %g = ttg.async_commit_group tokens %t
    scf.yield %y, %g : !t, !t
  }
  tt.return
}

// Nobody knows when this was started.
// CHECK-LABEL: @argument
tt.func @argument(%t: !t) {
  // CHECK: ttg.async_wait %{{.*}} {num = 0 : i32}
  %w = ttg.async_wait %t {num = 2 : i32}
  tt.return
}
}

// RUN: tile-opt %s -tritonamdgpu-update-async-wait-count | filecheck %s
// RUN: tile-opt %s -tritonamdgpu-update-async-wait-count=gfx-arch=gfx950 -convert-scf-to-cf -insert-replica-barriers -allocate-shared-memory -insert-memory-barriers -convert-triton-amdgpu-to-llvm | filecheck %s -check-prefix=LLVM
// RUN: sed -e 's/gfx950/gfx1201/' -e 's/warp" = 64/warp" = 32/' -e 's/\[64\]/[32]/' %s | tile-opt -tritonamdgpu-update-async-wait-count | filecheck %s -check-prefix=REGISTERS

// Copies through registers are done at once.
// REGISTERS-NOT: amdg.async_wait

// What was started after the groups, one load of 16 bytes for each 1024 elements.
// CHECK-LABEL: @straight
// CHECK: amdg.buffer_load_to_local {{.*}} {amdg.direct_vector = 8 : i32}
// CHECK: amdg.async_wait %{{.*}} {num_inst = 3 : i32}
// CHECK: amdg.async_wait %{{.*}}, %{{.*}} {num_inst = 2 : i32}
// CHECK: amdg.async_wait %{{.*}} {num_inst = 0 : i32}

// vmcnt(3), and all ones for the other counters.
// LLVM-LABEL: llvm.func @straight
// LLVM: llvm.mlir.constant(3955 : i32)
// LLVM-NEXT: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"

// Without tokens: what the last groups have, and what is in none yet.
// CHECK-LABEL: @groups
// CHECK: amdg.async_wait {num_inst = 3 : i32}
// CHECK: amdg.async_wait {num_inst = 1 : i32}

// A copy that may go through registers counts as none, nor does one that may not happen.
// CHECK-LABEL: @not_counted
// CHECK: amdg.async_wait %{{.*}} {num_inst = 1 : i32}

// Tokens that loops hand on: by two iterations, where the first of them are from before the loop.
// CHECK-LABEL: @loop
// CHECK: scf.for
// CHECK: amdg.async_wait %{{.*}} {num_inst = 2 : i32}
// CHECK: amdg.buffer_load_to_local
// CHECK: scf.yield
// Behind it, one more copy is there than its last wait has seen.
// CHECK: amdg.async_wait %{{.*}}#0 {num_inst = 2 : i32}
// CHECK: amdg.async_wait %{{.*}}#1 {num_inst = 0 : i32}

// What cannot be traced.
// CHECK-LABEL: @unknown
// CHECK: amdg.async_wait %{{.*}} {num_inst = 0 : i32}

#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [2], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @straight(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
    %m2 = ttg.local_alloc : () -> !ttg.memdesc<2048xf16, #shared, #smem, mutable>
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %i2 = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #blocked>
    %t0 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %t1 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1
    %t2 = amdg.buffer_load_to_local %x[%i2] into %m2 : <f16>[tensor<2048xi32, #blocked>] -> <2048xf16, #shared, #smem, mutable>
    %g2 = ttg.async_commit_group tokens %t2
    %w0 = ttg.async_wait %g0 {num = 0 : i32}
    %w1 = ttg.async_wait %g0, %g1 {num = 0 : i32}
    %w2 = ttg.async_wait %g2 {num = 0 : i32}
    tt.return
  }

  tt.func public @groups(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %t0 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %t1 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %t2 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1, %t2
    %t3 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %w0 = ttg.async_wait {num = 1 : i32}
    %w1 = ttg.async_wait {num = 0 : i32}
    tt.return
  }

  tt.func public @not_counted(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %mask: tensor<1024xi1, #blocked>, %yes: i1) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %ones = arith.constant dense<1.0> : tensor<1024xf16, #blocked>
    %g0 = ttg.async_commit_group
    %t1 = amdg.buffer_load_to_local %x[%i] mask = %mask other = %ones into %m : <f16>[tensor<1024xi32, #blocked>] tensor<1024xf16, #blocked> -> <1024xf16, #shared, #smem, mutable>
    scf.if %yes {
      %t = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    }
    %t2 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %w = ttg.async_wait %g0 {num = 0 : i32}
    tt.return
  }

  tt.func public @loop(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<2048xf16, #shared, #smem, mutable>
    %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #blocked>
    %t0 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<2048xi32, #blocked>] -> <2048xf16, #shared, #smem, mutable>
    %g0 = ttg.async_commit_group tokens %t0
    %t1 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<2048xi32, #blocked>] -> <2048xf16, #shared, #smem, mutable>
    %g1 = ttg.async_commit_group tokens %t1
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %g0, %b = %g1) -> (!ttg.async.token, !ttg.async.token) : i32 {
      %w = ttg.async_wait %a {num = 0 : i32}
      %t2 = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<2048xi32, #blocked>] -> <2048xf16, #shared, #smem, mutable>
      %g2 = ttg.async_commit_group tokens %t2
      scf.yield %b, %g2 : !ttg.async.token, !ttg.async.token
    }
    %w0 = ttg.async_wait %r#0 {num = 0 : i32}
    %w1 = ttg.async_wait %r#1 {num = 0 : i32}
    tt.return
  }

  tt.func public @unknown(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %yes: i1) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %g0 = ttg.async_commit_group
    %g1 = ttg.async_commit_group
    %g = arith.select %yes, %g0, %g1 : !ttg.async.token
    %t = amdg.buffer_load_to_local %x[%i] into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %w = ttg.async_wait %g {num = 1 : i32}
    tt.return
  }
}

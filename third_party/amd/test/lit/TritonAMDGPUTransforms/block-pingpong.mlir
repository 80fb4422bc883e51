// RUN: tile-opt %s -split-input-file -tritonamdgpu-block-pingpong | filecheck %s
// RUN: tile-opt %s -split-input-file -tritonamdgpu-block-pingpong=num-stages=1 | filecheck %s -check-prefix=UNSTAGED

// UNSTAGED-NOT: rocdl

// A wave on each SIMD unit: it has the matrix unit to itself while it multiplies.
// CHECK-LABEL: @one_wave_a_unit
// CHECK-NOT: amdg.cond_barrier
// CHECK: scf.for
// CHECK: ttg.local_load %arg0
// CHECK-NEXT: ttg.local_load %arg1
// CHECK-NEXT: rocdl.s.setprio 1
// CHECK-NEXT: tt.dot
// CHECK-NEXT: rocdl.s.setprio 0
// CHECK: ttg.local_store
// CHECK: ttg.local_store
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @one_wave_a_unit(%A: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %B: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %at: tensor<64x64xi32, #blocked>, %zero: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %l = amdg.buffer_load %a[%at] : tensor<64x64xf16, #blocked>
      %m = amdg.buffer_load %b[%at] : tensor<64x64xf16, #blocked>
      %x = ttg.local_load %A : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
      %y = ttg.local_load %B : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
      %d = tt.dot %x, %y, %c : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<64x64xf32, #mma>
      ttg.local_store %l, %A : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttg.local_store %m, %B : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// Two waves on each unit, in two phases: all is read before the first half writes.
// CHECK-LABEL: @two_phases
// CHECK: ttg.barrier local
// CHECK: %[[WARP:.*]] = ttg.warp_id
// CHECK: %[[SECOND:.*]] = arith.cmpi uge, %[[WARP]]
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[WARP]]
// CHECK: amdg.cond_barrier %[[SECOND]]
// CHECK: scf.for
// CHECK: amdg.buffer_load
// CHECK: ttg.memdesc_subslice %arg0[0, 0]
// CHECK: ttg.memdesc_subslice %arg1[0, 0]
// CHECK: rocdl.sched.barrier 0
// CHECK: amdg.buffer_load
// CHECK: ttg.memdesc_subslice %arg0[0, 16]
// CHECK: ttg.memdesc_subslice %arg1[16, 0]
// CHECK: ttg.barrier local
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: rocdl.s.setprio 1
// CHECK-NEXT: %[[SUM:.*]] = tt.dot
// CHECK-NEXT: rocdl.s.setprio 0
// CHECK-NEXT: ttg.barrier local
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: ttg.barrier local
// CHECK: tt.dot %{{.*}}, %{{.*}}, %[[SUM]]
// CHECK: ttg.barrier local
// CHECK: scf.yield
// CHECK: amdg.cond_barrier %[[FIRST]]

// What else needs LDS would come to barriers of its own, and small products are not worth it.
// CHECK-LABEL: @stays
// CHECK-NOT: rocdl
// CHECK: tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 4], instrShape = [32, 32, 8], isTransposed = true}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @two_phases(%A: !ttg.memdesc<256x32xf16, #shared, #smem, mutable>, %B: !ttg.memdesc<32x256xf16, #shared, #smem, mutable>, %a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %at: tensor<256x32xi32, #blocked>, %bt: tensor<32x256xi32, #blocked>, %zero: tensor<256x256xf32, #mma>, %n: i32) -> tensor<256x256xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<256x256xf32, #mma>) : i32 {
      %l = amdg.buffer_load %a[%at] : tensor<256x32xf16, #blocked>
      %m = amdg.buffer_load %b[%bt] : tensor<32x256xf16, #blocked>
      %x = ttg.local_load %A : !ttg.memdesc<256x32xf16, #shared, #smem, mutable> -> tensor<256x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
      %y = ttg.local_load %B : !ttg.memdesc<32x256xf16, #shared, #smem, mutable> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
      %d = tt.dot %x, %y, %c : tensor<256x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<256x256xf32, #mma>
      ttg.local_store %l, %A : tensor<256x32xf16, #blocked> -> !ttg.memdesc<256x32xf16, #shared, #smem, mutable>
      ttg.local_store %m, %B : tensor<32x256xf16, #blocked> -> !ttg.memdesc<32x256xf16, #shared, #smem, mutable>
      scf.yield %d : tensor<256x256xf32, #mma>
    }
    tt.return %r : tensor<256x256xf32, #mma>
  }

  tt.func public @stays(%A: !ttg.memdesc<256x32xf16, #shared, #smem, mutable>, %B: !ttg.memdesc<32x256xf16, #shared, #smem, mutable>, %a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %at: tensor<256x32xi32, #blocked>, %bt: tensor<32x256xi32, #blocked>, %zero: tensor<256x256xf32, #mma>, %s: tensor<256x256xf32, #mma>, %n: i32) -> tensor<256x256xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<256x256xf32, #mma>) : i32 {
      %l = amdg.buffer_load %a[%at] : tensor<256x32xf16, #blocked>
      %m = amdg.buffer_load %b[%bt] : tensor<32x256xf16, #blocked>
      %x = ttg.local_load %A : !ttg.memdesc<256x32xf16, #shared, #smem, mutable> -> tensor<256x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
      %y = ttg.local_load %B : !ttg.memdesc<32x256xf16, #shared, #smem, mutable> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
      %d = tt.dot %x, %y, %c : tensor<256x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<256x256xf32, #mma>
      %e = arith.mulf %d, %s : tensor<256x256xf32, #mma>
      ttg.local_store %l, %A : tensor<256x32xf16, #blocked> -> !ttg.memdesc<256x32xf16, #shared, #smem, mutable>
      ttg.local_store %m, %B : tensor<32x256xf16, #blocked> -> !ttg.memdesc<32x256xf16, #shared, #smem, mutable>
      scf.yield %e : tensor<256x256xf32, #mma>
    }
    tt.return %r : tensor<256x256xf32, #mma>
  }
}

// -----

// Twice as much: four phases. The loads are in the first two, the stores in the last one.
// CHECK-LABEL: @four_phases
// CHECK: scf.for
// CHECK: amdg.buffer_load
// CHECK: tt.dot
// CHECK: amdg.buffer_load
// CHECK: ttg.memdesc_subslice %arg0[0, 16]
// CHECK: tt.dot
// CHECK: ttg.memdesc_subslice %arg0[0, 32]
// CHECK: ttg.memdesc_subslice %arg0[0, 48]
// CHECK: tt.dot
// CHECK: ttg.local_store
// CHECK: ttg.local_store
// CHECK: tt.dot
// CHECK: scf.yield
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 4], instrShape = [32, 32, 8], isTransposed = true}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @four_phases(%A: !ttg.memdesc<256x64xf16, #shared, #smem, mutable>, %B: !ttg.memdesc<64x256xf16, #shared, #smem, mutable>, %a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %at: tensor<256x64xi32, #blocked>, %bt: tensor<64x256xi32, #blocked>, %zero: tensor<256x256xf32, #mma>, %n: i32) -> tensor<256x256xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<256x256xf32, #mma>) : i32 {
      %l = amdg.buffer_load %a[%at] : tensor<256x64xf16, #blocked>
      %m = amdg.buffer_load %b[%bt] : tensor<64x256xf16, #blocked>
      %x = ttg.local_load %A : !ttg.memdesc<256x64xf16, #shared, #smem, mutable> -> tensor<256x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
      %y = ttg.local_load %B : !ttg.memdesc<64x256xf16, #shared, #smem, mutable> -> tensor<64x256xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
      %d = tt.dot %x, %y, %c : tensor<256x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<64x256xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<256x256xf32, #mma>
      ttg.local_store %l, %A : tensor<256x64xf16, #blocked> -> !ttg.memdesc<256x64xf16, #shared, #smem, mutable>
      ttg.local_store %m, %B : tensor<64x256xf16, #blocked> -> !ttg.memdesc<64x256xf16, #shared, #smem, mutable>
      scf.yield %d : tensor<256x256xf32, #mma>
    }
    tt.return %r : tensor<256x256xf32, #mma>
  }
}

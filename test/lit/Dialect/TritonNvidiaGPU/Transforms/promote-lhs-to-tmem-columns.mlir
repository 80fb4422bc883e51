// RUN: tile-opt %s -tritongpu-promote-lhs-to-tmem | filecheck %s

// Where columns do not suffice, an operand has those of a sum that it is
// computed from, and that nobody needs any more.
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#wide = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 256, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem>
!wide = !ttg.memdesc<128x256xf32, #wide, #ttnvgpu.tensor_memory, mutable>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // A branch gives the operands of two dots, each from its own sum.
  // CHECK-LABEL: @scores
  tt.func @scores(%q: !a, %b: !b, %c: i1, %n: i32) {
    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<128x64xf32, #linear>
    %0 = ttnvgpu.tmem_alloc : () -> !wide
    %d = ttnvgpu.tmem_alloc : () -> !d
    %e = ttnvgpu.tmem_alloc : () -> !d
    // CHECK: scf.for
    scf.for %i = %zero to %n step %one : i32 {
      // CHECK: [[S:%.*]] = ttnvgpu.tmem_alloc : ()
      // CHECK: [[T:%.*]] = ttnvgpu.tmem_alloc : ()
      %s = ttnvgpu.tmem_alloc : () -> !d
      %t = ttnvgpu.tmem_alloc : () -> !d
      ttnvgpu.tc_gen5_mma %q, %b, %s, %false, %true : !a, !b, !d
      ttnvgpu.tc_gen5_mma %q, %b, %t, %false, %true : !a, !b, !d
      %x = ttnvgpu.tmem_load %s : !d -> tensor<128x64xf32, #linear>
      %y = ttnvgpu.tmem_load %t : !d -> tensor<128x64xf32, #linear>
      %m:2 = scf.if %c -> (tensor<128x64xf32, #linear>, tensor<128x64xf32, #linear>) {
        scf.yield %none, %none : tensor<128x64xf32, #linear>, tensor<128x64xf32, #linear>
      } else {
        scf.yield %x, %y : tensor<128x64xf32, #linear>, tensor<128x64xf32, #linear>
      }
      %v = arith.truncf %m#1 : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
      %w = arith.truncf %m#0 : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
      // CHECK: [[V:%.*]] = ttg.memdesc_reinterpret [[T]] : !ttg.memdesc<128x64xf32, {{.*}}> -> !ttg.memdesc<128x64xf16, {{.*}}, mutable>
      // CHECK: ttnvgpu.tmem_store %{{.*}}, [[V]]
      // CHECK: ttnvgpu.tc_gen5_mma [[V]]
      %p = ttg.local_alloc %v : (tensor<128x64xf16, #linear>) -> !a
      ttnvgpu.tc_gen5_mma %p, %b, %d, %true, %true : !a, !b, !d
      // CHECK: [[W:%.*]] = ttg.memdesc_reinterpret [[S]]
      // CHECK: ttnvgpu.tc_gen5_mma [[W]]
      %r = ttg.local_alloc %w : (tensor<128x64xf16, #linear>) -> !a
      ttnvgpu.tc_gen5_mma %r, %b, %e, %true, %true : !a, !b, !d
    }
    tt.return
  }

  // What is read behind it keeps its columns, and so does what is another
  // operand already.
  // CHECK-LABEL: @needed
  tt.func @needed(%q: !a, %b: !b, %n: i32) -> tensor<128x64xf32, #linear> {
    %true = arith.constant true
    %false = arith.constant false
    %0 = ttnvgpu.tmem_alloc : () -> !wide
    %1 = ttnvgpu.tmem_alloc : () -> !d
    %d = ttnvgpu.tmem_alloc : () -> !d
    %s = ttnvgpu.tmem_alloc : () -> !d
    %t = ttnvgpu.tmem_alloc : () -> !d
    ttnvgpu.tc_gen5_mma %q, %b, %s, %false, %true : !a, !b, !d
    ttnvgpu.tc_gen5_mma %q, %b, %t, %false, %true : !a, !b, !d
    %x = ttnvgpu.tmem_load %s : !d -> tensor<128x64xf32, #linear>
    %y = ttnvgpu.tmem_load %t : !d -> tensor<128x64xf32, #linear>
    %v = arith.truncf %x : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
    // CHECK: ttg.local_alloc
    // CHECK-NOT: ttg.local_alloc
    %p = ttg.local_alloc %v : (tensor<128x64xf16, #linear>) -> !a
    ttnvgpu.tc_gen5_mma %p, %b, %d, %true, %true : !a, !b, !d
    %again = ttnvgpu.tmem_load %s : !d -> tensor<128x64xf32, #linear>
    %w = arith.truncf %y : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
    // CHECK: ttnvgpu.tmem_store
    %r = ttg.local_alloc %w : (tensor<128x64xf16, #linear>) -> !a
    ttnvgpu.tc_gen5_mma %r, %b, %d, %true, %true : !a, !b, !d
    %u = arith.negf %w : tensor<128x64xf16, #linear>
    // CHECK-NOT: ttnvgpu.tmem_store
    // CHECK: ttg.local_alloc
    %o = ttg.local_alloc %u : (tensor<128x64xf16, #linear>) -> !a
    ttnvgpu.tc_gen5_mma %o, %b, %d, %true, %true : !a, !b, !d
    tt.return %again : tensor<128x64xf32, #linear>
  }
}

// RUN: tile-opt %s -tritongpu-promote-lhs-to-tmem | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#wide = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 256, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // A thread stores the row that it has computed.
  // CHECK-LABEL: @computed
  tt.func @computed(%x: tensor<128x64xf32, #linear>, %b: !b, %d: !d) {
    %true = arith.constant true
    %p = arith.truncf %x : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
    // CHECK-NOT: ttg.convert_layout
    // CHECK: [[P:%.*]] = ttnvgpu.tmem_alloc %{{.*}} : (tensor<128x64xf16, #linear>) -> !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
    // CHECK: ttnvgpu.tc_gen5_mma [[P]], %arg1, %arg2
    %a = ttg.local_alloc %p : (tensor<128x64xf16, #linear>) -> !a
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    tt.return
  }

  // What a function is given is in registers.
  // CHECK-LABEL: @given
  tt.func private @given(%x: tensor<128x64xf16, #linear>, %b: !b, %d: !d) {
    %true = arith.constant true
    // CHECK: ttnvgpu.tmem_alloc %arg0
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #linear>) -> !a
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    tt.return
  }

  // Copies bring this one to shared memory.
  // CHECK-LABEL: @loaded
  tt.func @loaded(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %b: !b, %d: !d) {
    %true = arith.constant true
    // CHECK: ttg.local_alloc
    // CHECK-NOT: ttnvgpu.tmem_alloc
    // CHECK: ttnvgpu.tc_gen5_mma
    %x = tt.load %p : tensor<128x64x!tt.ptr<f16>, #blocked>
    %a = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !a
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    tt.return
  }

  // There are no columns left.
  // CHECK-LABEL: @full
  tt.func @full(%x: tensor<128x64xf32, #linear>, %b: !b, %d: !d) {
    %true = arith.constant true
    %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x256xf32, #wide, #ttnvgpu.tensor_memory, mutable>
    %1 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x256xf32, #wide, #ttnvgpu.tensor_memory, mutable>
    %p = arith.truncf %x : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
    // CHECK: ttg.local_alloc
    // CHECK: ttnvgpu.tc_gen5_mma
    %a = ttg.local_alloc %p : (tensor<128x64xf16, #linear>) -> !a
    ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    tt.return
  }

  // The columns of a branch are free as long as the branch has not begun.
  // CHECK-LABEL: @beside_a_branch
  tt.func @beside_a_branch(%x: tensor<128x64xf32, #linear>, %b: !b, %d: !d, %c: i1, %n: i32) {
    %true = arith.constant true
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // CHECK: scf.for
    scf.for %i = %zero to %n step %one : i32 {
      %p = arith.truncf %x : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
      // CHECK: [[P:%.*]] = ttnvgpu.tmem_alloc %{{.*}} : (tensor<128x64xf16, #linear>)
      // CHECK: ttnvgpu.tc_gen5_mma [[P]], %arg1, %arg2
      %a = ttg.local_alloc %p : (tensor<128x64xf16, #linear>) -> !a
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !a, !b, !d
    }
    // CHECK: scf.if
    scf.if %c {
      %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x256xf32, #wide, #ttnvgpu.tensor_memory, mutable>
      %1 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x256xf32, #wide, #ttnvgpu.tensor_memory, mutable>
      // Here they are in use.
      // CHECK: [[Q:%.*]] = ttg.local_alloc
      // CHECK: ttnvgpu.tc_gen5_mma [[Q]], %arg1, %arg2
      %q = arith.truncf %x : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
      %e = ttg.local_alloc %q : (tensor<128x64xf16, #linear>) -> !a
      ttnvgpu.tc_gen5_mma %e, %b, %d, %true, %true : !a, !b, !d
    }
    tt.return
  }
}

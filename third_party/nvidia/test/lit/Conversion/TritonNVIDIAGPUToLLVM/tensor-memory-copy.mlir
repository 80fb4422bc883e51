// RUN: tile-opt %s -split-input-file -verify-diagnostics -triton-tensor-memory-allocation -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#source = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#tiles = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [32, 0], [64, 0], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]]}, alignment = 16>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// 32 bytes of each row at a time: eight columns further, two units of 16 bytes
// in shared memory. The barrier hears of the end.
// CHECK-LABEL: llvm.func @matrix
tt.func @matrix(%s: !ttg.memdesc<128x32xf32, #source, #smem>, %d: !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %done: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
  // CHECK: inline_asm has_side_effects {{.*}}elect.sync
  // CHECK-SAME: add.s64 d0, $2, 2;
  // CHECK-SAME: tcgen05.fence::after_thread_sync;
  // CHECK-SAME: tcgen05.cp.cta_group::1.128x256b [$1], $2;
  // CHECK-SAME: tcgen05.cp.cta_group::1.128x256b [$1+8], d0;
  // CHECK-SAME: tcgen05.cp.cta_group::1.128x256b [$1+24], d2;
  // CHECK-SAME: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$3];
  ttnvgpu.tmem_copy %s, %d, %done : !ttg.memdesc<128x32xf32, #source, #smem>, !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
  tt.return
}

// Four scales of 128 rows at a time, in all four windows.
// CHECK-LABEL: llvm.func @scales
tt.func @scales(%s: !ttg.memdesc<128x8xi8, #tiles, #smem>, %d: !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
  // CHECK: tcgen05.cp.cta_group::1.32x128b.warpx4 [$1], $2;
  // CHECK-SAME: tcgen05.cp.cta_group::1.32x128b.warpx4 [$1+4], d0;
  ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<128x8xi8, #tiles, #smem>, !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {
tt.func @scales_by_rows(%s: !ttg.memdesc<128x4xi8, #rows, #smem>, %d: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+2 {{failed to legalize operation 'ttnvgpu.tmem_copy'}}
  // expected-note @+1 {{no matrix descriptor fits the layout of the source}}
  ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<128x4xi8, #rows, #smem>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

#source = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#apart = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {
tt.func @apart(%s: !ttg.memdesc<128x64xf16, #source, #smem>, %d: !ttg.memdesc<128x64xf16, #apart, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+2 {{failed to legalize operation 'ttnvgpu.tmem_copy'}}
  // expected-note @+1 {{an instruction writes at least 16 bytes of a lane, which are not side by side here}}
  ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<128x64xf16, #source, #smem>, !ttg.memdesc<128x64xf16, #apart, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

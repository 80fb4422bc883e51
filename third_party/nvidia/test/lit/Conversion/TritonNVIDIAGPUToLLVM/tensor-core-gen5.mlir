// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#a8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#b8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
#a4 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#b4 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#low = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
#left = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// One thread issues the dot. The first step along K takes the flag, the others add.
// CHECK-LABEL: llvm.func internal @steps
tt.func private @steps(%d: !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %use: i1, %pred: i1, %some: i1) {
  %true = arith.constant true
  %false = arith.constant false
  %a = ttg.local_alloc : () -> !ttg.memdesc<128x32xf16, #a, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #a, #smem, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred elected; @!$0 bra DONE; elect.sync _|elected, 0xffffffff; @!elected bra DONE;
  // CHECK-SAME: .reg .b64 d<2>
  // CHECK-SAME: mov.b32 i0, 134807568;
  // CHECK-SAME: add.s64 d0, $2, 2;\0A\09add.s64 d1, $3, 64;
  // CHECK-SAME: tcgen05.fence::after_thread_sync;\0A\09mov.pred p, $1;\0A\09
  // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [$4], $2, $3, i0, p;\0A\09setp.ne.b32 p, 1, 0;\0A\09
  // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16 [$4], d0, d1, i0, p;\0A\09
  // The barrier whose condition is false does not hear of it.
  // CHECK-SAME: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$5];\0A\09
  // CHECK-SAME: @$6 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$5];\0A\09}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %use, %pred, %bar[%true], %bar[%false], %bar[%some] {is_async} : !ttg.memdesc<128x32xf16, #a, #smem, mutable>, !ttg.memdesc<32x32xf16, #a, #smem, mutable>, !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bars, #smem, mutable>, !ttg.memdesc<1xi64, #bars, #smem, mutable>, !ttg.memdesc<1xi64, #bars, #smem, mutable>
  tt.return
}

// Four blocks of the accumulator: the odd one of 64 rows is 16 lanes further on.
// CHECK-LABEL: llvm.func @tiles
tt.func @tiles(%d: !ttg.memdesc<128x64xf32, #low, #ttnvgpu.tensor_memory, mutable>, %pred: i1) {
  %false = arith.constant false
  %a = ttg.local_alloc : () -> !ttg.memdesc<128x128xf8E5M2, #a8, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<128x64xf8E4M3FN, #b8, #smem, mutable>
  // CHECK: add.s64 d1, $1, 2;
  // CHECK-SAME: setp.ne.b32 p, 0, 0;\0A\09tcgen05.mma.cta_group::1.kind::f8f6f4 [$3], $1, $2, i0, p;
  // CHECK-SAME: \0A\09tcgen05.mma.cta_group::1.kind::f8f6f4 [$3+32], $1, d0, i0, p;\0A\09setp.ne.b32 p, 1, 0;
  // CHECK-SAME: setp.ne.b32 p, 0, 0;\0A\09tcgen05.mma.cta_group::1.kind::f8f6f4 [$3+1048576], d10, $2
  // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f8f6f4 [$3+1048608], d10, d0
  ttnvgpu.tc_gen5_mma %a, %b, %d, %false, %pred {is_async} : !ttg.memdesc<128x128xf8E5M2, #a8, #smem, mutable>, !ttg.memdesc<128x64xf8E4M3FN, #b8, #smem, mutable>, !ttg.memdesc<128x64xf32, #low, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// Blocks beside each other multiply one part of A, which is kept for that.
// CHECK-LABEL: llvm.func @beside
tt.func @beside(%d: !ttg.memdesc<128x128xf32, #acc, #ttnvgpu.tensor_memory, mutable>) {
  %true = arith.constant true
  %a = ttg.local_alloc : () -> !ttg.memdesc<128x32xf16, #a, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<32x128xf16, #a, #smem, mutable>
  // CHECK: tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [$3], $1,
  // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16.collector::a::use [$3+32], $1,
  // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16.collector::a::use [$3+64], $1,
  // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16.collector::a::lastuse [$3+96], $1,
  // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [$3], [[A:d[0-9]+]],
  // CHECK-SAME: tcgen05.mma.cta_group::1.kind::f16.collector::a::use [$3+32], [[A]],
  ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {is_async} : !ttg.memdesc<128x32xf16, #a, #smem, mutable>, !ttg.memdesc<32x128xf16, #a, #smem, mutable>, !ttg.memdesc<128x128xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// Sixteen 16-bit elements of A are eight columns.
// CHECK-LABEL: llvm.func @in_tensor_memory
tt.func @in_tensor_memory(%a: !ttg.memdesc<128x32xf16, #left, #ttnvgpu.tensor_memory, mutable>, %d: !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>) {
  %true = arith.constant true
  %b = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #a, #smem, mutable>
  // CHECK: tcgen05.mma.cta_group::1.kind::f16 [$3], [$1], $2, i0, p;\0A\09tcgen05.mma.cta_group::1.kind::f16 [$3], [$1+8], d0, i0, p;
  ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true {is_async} : !ttg.memdesc<128x32xf16, #left, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<32x32xf16, #a, #smem, mutable>, !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// The word of a step says which byte of a column has its scales.
// CHECK-LABEL: llvm.func @mxfp8
tt.func @mxfp8(%d: !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %sa: !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>, %sb: !ttg.memdesc<32x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
  %true = arith.constant true
  %a = ttg.local_alloc : () -> !ttg.memdesc<128x256xf8E4M3FN, #a8, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<256x32xf8E4M3FN, #b8, #smem, mutable>
  // CHECK: mov.b32 i0, 143130624;\0A\09mov.b32 i1, 680001552;\0A\09mov.b32 i2, 1216872480;\0A\09mov.b32 i3, 1753743408;
  // CHECK-SAME: tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [$5], $3, $4, i0, [$1], [$2], p;
  // CHECK-SAME: i3, [$1], [$2], p;
  // The fifth scale of 128 rows is four columns further on, that of 32 is in the next one.
  // CHECK-SAME: i0, [$1+4], [$2+1], p;
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %sa, %sb, %true, %true lhs = e4m3 rhs = e4m3 {is_async} : !ttg.memdesc<128x256xf8E4M3FN, #a8, #smem, mutable>, !ttg.memdesc<256x32xf8E4M3FN, #b8, #smem, mutable>, !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<32x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// Scales of e4m3 belong to 16 elements; a step takes the four of a column.
// CHECK-LABEL: llvm.func @nvfp4
tt.func @nvfp4(%d: !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %sa: !ttg.memdesc<128x8xf8E4M3FN, #scales, #ttnvgpu.tensor_memory, mutable>, %sb: !ttg.memdesc<32x8xf8E4M3FN, #scales, #ttnvgpu.tensor_memory, mutable>) {
  %true = arith.constant true
  %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xi8, #a4, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<64x32xi8, #b4, #smem, mutable>
  // CHECK: kind::mxf4nvf4.block_scale.block16 [$5], $3, $4, i0, [$1], [$2], p;
  // CHECK-SAME: kind::mxf4nvf4.block_scale.block16 [$5], d0, d1, i0, [$1+4], [$2+1], p;
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %sa, %sb, %true, %true lhs = e2m1 rhs = e2m1 {is_async} : !ttg.memdesc<128x64xi8, #a4, #smem, mutable>, !ttg.memdesc<64x32xi8, #b4, #smem, mutable>, !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x8xf8E4M3FN, #scales, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<32x8xf8E4M3FN, #scales, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// CHECK-LABEL: llvm.func internal @commit
tt.func private @commit(%pred: i1) {
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
  // CHECK: llvm.and %{{.*}}, %arg0 : i1
  // CHECK: elect.sync {{.*}}{ tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$1];
  ttnvgpu.tc_gen5_commit %bar, %pred : !ttg.memdesc<1xi64, #bars, #smem, mutable>
  tt.return
}
}

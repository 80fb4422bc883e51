// RUN: tile-opt %s -split-input-file -triton-tensor-memory-allocation -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#halves = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]], warp = [[16, 0], [32, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#apart = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 2>
#half = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
// CHECK: module attributes {{{.*}}ttg.shared = 4 : i32, {{.*}}ttnvgpu.tensor_memory_address = 0 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// One warp allocates for all buffers, and gives back at the end.
// CHECK-LABEL: llvm.func @move
tt.func @move(%x: tensor<128x32xf32, #rows>, %pred: i1) -> tensor<128x32xf32, #rows> {
  // CHECK: %[[FIRST:.*]] = llvm.icmp "ult"
  // CHECK: inline_asm has_side_effects {{.*}} "@$0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$1], 64; @$0 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", "b,r,~{memory}"
  // CHECK-NEXT: nvvm.barrier0
  // CHECK: %[[BASE:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: llvm.add %[[BASE]],
  %a = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<2x128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  %c1 = arith.constant 1 : i32
  %b = ttg.memdesc_index %a[%c1] : !ttg.memdesc<2x128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  // CHECK: "tcgen05.fence::after_thread_sync;"
  // CHECK: "@$33 tcgen05.st.sync.aligned.32x32b.x32.b32 [$0+0], {$1, {{.*}}, $32};"
  // CHECK: "tcgen05.wait::st.sync.aligned;"
  // CHECK-NOT: tcgen05.fence
  ttnvgpu.tmem_store %x, %b, %pred : tensor<128x32xf32, #rows> -> !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  // CHECK: "tcgen05.ld.sync.aligned.32x32b.x32.b32 {$0, {{.*}}, $31}, [$32+0];"
  // CHECK: "tcgen05.wait::ld.sync.aligned;", "=r,=r
  // CHECK: "tcgen05.fence::before_thread_sync;"
  %y = ttnvgpu.tmem_load %b : !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x32xf32, #rows>
  // CHECK: nvvm.barrier0
  // CHECK: "tcgen05.fence::after_thread_sync; @$0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 $1, 64;"
  // CHECK-NEXT: llvm.return
  // CHECK-NOT: tcgen05
  tt.return %y : tensor<128x32xf32, #rows>
}

// Halves with a column each travel two to a register.
// CHECK-LABEL: llvm.func @unpack
tt.func @unpack(%x: tensor<128x32xf16, #rows>) {
  // CHECK: "tcgen05.st.sync.aligned.32x32b.x16.unpack::16b.b32 [$0+0], {$1, {{.*}}, $16};"
  %a = ttnvgpu.tmem_alloc %x : (tensor<128x32xf16, #rows>) -> !ttg.memdesc<128x32xf16, #apart, #ttnvgpu.tensor_memory>
  tt.return
}

// Of 64 rows, a warp has 16, and half of its lanes has the other columns.
// CHECK-LABEL: llvm.func @half
tt.func @half(%x: tensor<64x32xf32, #halves>) {
  // CHECK: "tcgen05.st.sync.aligned.16x32bx2.x16.b32 [$0+0], 16, {$1, {{.*}}, $16};"
  %a = ttnvgpu.tmem_alloc %x : (tensor<64x32xf32, #halves>) -> !ttg.memdesc<64x32xf32, #half, #ttnvgpu.tensor_memory>
  tt.return
}

}

// -----

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:103"} {

// CHECK-LABEL: llvm.func @reduce
tt.func @reduce(%d: !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
  // CHECK: "tcgen05.ld.red.sync.aligned.32x32b.x32.min.abs.NaN.f32 {$0, {{.*}}, $31}, $32, [$33+0];"
  %y, %min = ttnvgpu.tmem_load %d {redOp = #ttnvgpu.redOp<min>, abs = true, NaN = true} : !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x32xf32, #rows>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  tt.return %min : tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
}

}

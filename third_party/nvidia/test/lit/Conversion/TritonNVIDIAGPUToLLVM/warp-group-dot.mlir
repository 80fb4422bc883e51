// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#turned1 = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {

// The accumulators go through the fence, the instructions and the wait, which
// are one piece of assembly. Descriptors of tiles are summed up before the fence.
// CHECK-LABEL: llvm.func @sum
tt.func @sum(%c: tensor<64x8xf32, #mma>) -> tensor<64x8xf32, #mma> {
  %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<32x8xf16, #turned, #smem, mutable>
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred p;\0A\09.reg .b64 d<2>;\0A\09add.s64 d0, $8, 2;\0A\09add.s64 d1, $9, 2;\0A\09
  // CHECK-SAME: wgmma.fence.sync.aligned;\0A\09setp.ne.b32 p, 1, 0;\0A\09
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, p, 1, 1, 0, 0;\0A\09
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, d0, d1, p, 1, 1, 0, 0;\0A\09
  // CHECK-SAME: wgmma.commit_group.sync.aligned;\0A\09wgmma.wait_group.sync.aligned 0;\0A\09}",
  // CHECK-SAME: "=&f,=&f,=&f,=&f,0,1,2,3,l,l"
  // CHECK-NOT: wgmma
  %d = ttnvgpu.warp_group_dot %a, %b, %c {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> * !ttg.memdesc<32x8xf16, #turned, #smem, mutable> -> tensor<64x8xf32, #mma>
  tt.return %d : tensor<64x8xf32, #mma>
}

// Zeros are not added: the first instruction overwrites. And no wait before the
// one that is there. The sum goes through empty assembly behind that, before
// which LLVM copies nothing.
// CHECK-LABEL: llvm.func @async
tt.func @async(%a: tensor<64x16xf16, #dot>) -> tensor<64x8xf32, #mma> {
  %b = ttg.local_alloc : () -> !ttg.memdesc<16x8xf16, #turned1, #smem, mutable>
  %zero = arith.constant dense<0.0> : tensor<64x8xf32, #mma>
  // CHECK: "{ .reg .pred p;\0A\09wgmma.fence.sync.aligned;\0A\09setp.ne.b32 p, 0, 0;\0A\09
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, {$5, $6, $7, $8}, $4, p, 1, 1, 0;\0A\09}", "=&f,=&f,=&f,=&f,l,r,r,r,r"
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  // CHECK-NOT: wait_group.sync.aligned 0
  // CHECK: "wgmma.wait_group.sync.aligned 1;", ""
  // CHECK-NEXT: llvm.inline_asm has_side_effects {{.*}} "", "=f,=f,=f,=f,0,1,2,3"
  %d = ttnvgpu.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32, isAsync = true} : tensor<64x16xf16, #dot> * !ttg.memdesc<16x8xf16, #turned1, #smem, mutable> -> tensor<64x8xf32, #mma>
  %h = ttnvgpu.warp_group_dot_wait %d {pendings = 1 : i32} : tensor<64x8xf32, #mma>
  %e = ttnvgpu.warp_group_dot_wait %h {pendings = 0 : i32} : tensor<64x8xf32, #mma>
  tt.return %e : tensor<64x8xf32, #mma>
}

// CHECK-LABEL: llvm.func @fence
tt.func @fence() {
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  ttnvgpu.fence_async_shared {bCluster = false}
  tt.return
}
}

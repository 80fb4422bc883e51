// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [1, 2], CTASplitNum = [1, 2], CTAOrder = [1, 0]}>
#copies = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CTAsPerCGA = [2], CTASplitNum = [1], CTAOrder = [0]}>
#half = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#all = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {

// A program is a cluster.
// CHECK-LABEL: llvm.func @program
tt.func @program() -> i32 {
  // CHECK: nvvm.read.ptx.sreg.clusterid.x
  // CHECK: nvvm.read.ptx.sreg.nclusterid.x
  %0 = tt.get_program_id x : i32
  %1 = tt.get_num_programs x : i32
  %2 = arith.addi %0, %1 : i32
  tt.return %2 : i32
}

// What is atomic in a program is so for all of its blocks.
// CHECK-LABEL: llvm.func @atomic
tt.func @atomic(%p: !tt.ptr<i32>, %x: i32) {
  // CHECK: red.relaxed.cluster.global.add.u32
  %0 = tt.atomic_rmw add, relaxed, cta, %p, %x : (!tt.ptr<i32>, i32) -> i32
  // CHECK: atom.acquire.cluster.global.cas.b32
  %1 = tt.atomic_cas acquire, cta, %p, %x, %x : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// No threads of one block share an element here, but both blocks hold all of
// them. The first block acts, and the other one reads its memory.
// CHECK-LABEL: llvm.func @old_values
tt.func @old_values(%p: tensor<128x!tt.ptr<i32>, #copies>, %v: tensor<128xi32, #copies>) -> tensor<128xi32, #copies> {
  // CHECK: atom.relaxed.gpu.global.add.u32
  // CHECK: llvm.store %{{.*}}, !llvm.ptr<3>
  // CHECK: nvvm.cluster.wait
  // CHECK: nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<7>
  // CHECK: nvvm.cluster.wait
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (tensor<128x!tt.ptr<i32>, #copies>, tensor<128xi32, #copies>) -> tensor<128xi32, #copies>
  tt.return %0 : tensor<128xi32, #copies>
}

// Written to this block's memory, read from that of any.
// CHECK-LABEL: llvm.func @convert
tt.func @convert(%x: tensor<32x32xf32, #rows>) {
  // CHECK: llvm.store %{{.*}}, !llvm.ptr<3>
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // CHECK: %[[PTR:.*]] = nvvm.mapa
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<7>
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  %0 = ttg.convert_layout %x : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  tt.return
}

// CHECK-LABEL: llvm.func @reduce
tt.func @reduce(%x: tensor<32x32xf32, #rows>) {
  // CHECK: nvvm.cluster.wait
  // CHECK: nvvm.mapa
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<7>
  // CHECK: nvvm.cluster.wait
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x32xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>
  // Inside blocks.
  // CHECK: nvvm.shfl.sync
  // CHECK-NOT: nvvm.cluster
  // CHECK: llvm.return
  %1 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x32xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  tt.return
}

// One thread of one block acts; all others read what it got.
// CHECK-LABEL: llvm.func @scalar_atomic
tt.func @scalar_atomic(%p: !tt.ptr<i32>, %v: i32) -> i32 {
  // CHECK: nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: atom.relaxed.gpu.global.add
  // CHECK: nvvm.cluster.wait
  // CHECK: nvvm.mapa
  // CHECK: nvvm.cluster.wait
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return %0 : i32
}

// Each block copies its half of the rows; of what both hold, each copies one
// half to both. Without `multicast`, each copies both halves for itself.
// CHECK-LABEL: llvm.func @copies
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.cluster.arrive {aligned}
// CHECK: nvvm.cluster.wait {aligned}
// CHECK: %[[HALF:.*]] = llvm.mlir.constant(64 : i32)
// CHECK-NEXT: %[[ROWS:.*]] = llvm.mul %{{.*}}, %[[HALF]]
// CHECK: %[[ROW:.*]] = llvm.add %arg1, %[[ROWS]]
// CHECK: llvm.inline_asm {{.*}}complete_tx::bytes [$2], [$1, {$4, $3}], [$5]; DONE:{{.*}} %[[ROW]],
// CHECK: complete_tx::bytes.multicast::cluster [$2], [$1, {$4, $3}], [$5], $6; DONE:
// CHECK: complete_tx::bytes [$2], [$1, {$4, $3}], [$5]; cp.async{{.*}} [$7], [$6, {$9, $8}], [$10]; DONE:
// CHECK: nvvm.cluster.arrive.relaxed
// CHECK: nvvm.cluster.wait
tt.func @copies(%desc: !tt.tensordesc<tensor<128x64xf16, #half>>, %i: i32) {
  %c0 = arith.constant 0 : i32
  %true = arith.constant true
  %mine = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #half, #smem, mutable>
  %ours = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #all, #smem, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.init_barrier %bar, 1 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.fence_mbarrier_init_release_cluster
  ttnvgpu.cluster_barrier
  ttnvgpu.barrier_expect %bar, 24576, %true : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.async_tma_copy_global_to_local %desc[%i, %c0] %mine, %bar, %true : !tt.tensordesc<tensor<128x64xf16, #half>>, !ttg.memdesc<2xi64, #barrier, #smem, mutable> -> !ttg.memdesc<128x64xf16, #half, #smem, mutable>
  ttnvgpu.async_tma_copy_global_to_local %desc[%i, %c0] %ours, %bar, %true {multicast} : !tt.tensordesc<tensor<128x64xf16, #half>>, !ttg.memdesc<2xi64, #barrier, #smem, mutable> -> !ttg.memdesc<128x64xf16, #all, #smem, mutable>
  ttnvgpu.async_tma_copy_global_to_local %desc[%i, %c0] %ours, %bar, %true : !tt.tensordesc<tensor<128x64xf16, #half>>, !ttg.memdesc<2xi64, #barrier, #smem, mutable> -> !ttg.memdesc<128x64xf16, #all, #smem, mutable>
  ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  ttnvgpu.cluster_arrive {relaxed = true}
  ttnvgpu.cluster_wait
  tt.return
}

// Columns of one block's registers lie in the memory of both.
// CHECK-LABEL: llvm.func @exchange
tt.func @exchange(%x: tensor<64x64xf16, #columns>, %i: tensor<64x64xi32, #columns>) {
  %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #half, #smem, mutable>
  // CHECK: nvvm.mapa
  // CHECK: llvm.store %{{.*}} : f16, !llvm.ptr<7>
  ttg.local_store %x, %buf : tensor<64x64xf16, #columns> -> !ttg.memdesc<64x64xf16, #half, #smem, mutable>
  // CHECK: nvvm.mapa
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<7> -> f16
  %y = ttg.local_load %buf : !ttg.memdesc<64x64xf16, #half, #smem, mutable> -> tensor<64x64xf16, #columns>
  // CHECK: nvvm.mapa
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<7> -> f16
  %z = ttg.local_gather %buf[%i] {axis = 0 : i32} : !ttg.memdesc<64x64xf16, #half, #smem, mutable>, tensor<64x64xi32, #columns> -> tensor<64x64xf16, #columns>
  // CHECK: nvvm.mapa
  // CHECK: llvm.store %{{.*}} : f16, !llvm.ptr<7>
  ttg.local_scatter %buf[%i], %x {axis = 0 : i32} : !ttg.memdesc<64x64xf16, #half, #smem, mutable>, tensor<64x64xi32, #columns>, tensor<64x64xf16, #columns>
  tt.return
}

// Pixels are copied by one block, channels by all.
// CHECK-LABEL: llvm.func @pixels
tt.func @pixels(%desc: !tt.tensordesc<tensor<64x128xf16, #all>>, %bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>, %x: i32, %r: i16, %pred: i1) {
  %buf = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #all, #smem, mutable>
  // CHECK: cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [${{[0-9]+}}], [${{[0-9]+}}, {${{[0-9]+}}, ${{[0-9]+}}, ${{[0-9]+}}, ${{[0-9]+}}}], [${{[0-9]+}}], {${{[0-9]+}}, ${{[0-9]+}}}, ${{[0-9]+}}
  ttnvgpu.async_tma_copy_global_to_local %desc[%x, %x, %x, %x] offsets = [%r, %r] %buf, %bar, %pred {multicast} : !tt.tensordesc<tensor<64x128xf16, #all>>, !ttg.memdesc<2xi64, #barrier, #smem, mutable> -> !ttg.memdesc<64x128xf16, #all, #smem, mutable>
  tt.return
}

// A block arrives at its own barrier, and at that of the other block.
// CHECK-LABEL: llvm.func @together
tt.func @together(%bar: !ttg.memdesc<2xi64, #barrier, #smem, mutable>, %phase: i32) {
  // CHECK: nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: %[[OTHERS:.*]] = llvm.mlir.constant(-2 : i32)
  // CHECK: %[[FIRST:.*]] = llvm.and %{{.*}}, %[[OTHERS]]
  // CHECK: llvm.add %[[FIRST]]
  // CHECK: mapa.shared::cluster.u32 there, $0, $2; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there], 1; mapa.shared::cluster.u32 there, $0, $3; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there], 1;
  ttnvgpu.arrive_barrier %bar, 1 {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  // Who waits sees what the other block has written.
  // CHECK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64
  ttnvgpu.wait_barrier %bar, %phase : !ttg.memdesc<2xi64, #barrier, #smem, mutable>
  tt.return
}
}

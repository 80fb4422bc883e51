// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

// Four neighbouring row numbers are in a thread. Lanes hold the same: the first one acts.

#rows = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {

// Rows are wider than a panel: two copies for four rows.
// CHECK-LABEL: llvm.func internal @gather
tt.func private @gather(%desc: !tt.tensordesc<tensor<1x128xf16, #tile>>, %rows: tensor<16xi32, #rows>, %y: i32, %p: i1) {
  %buffer = ttg.local_alloc : () -> !ttg.memdesc<16x128xf16, #tile, #smem, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
  // CHECK: llvm.and %{{.*}} : i32
  // CHECK: "{ @!$0 bra DONE; cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [$2], [$1, {$7, $6, $5, $4, $3}], [$8]; cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [$10], [$9, {$15, $14, $13, $12, $11}], [$16]; DONE: }"
  ttnvgpu.async_tma_gather %desc[%rows, %y] %buffer, %bar, %p : !tt.tensordesc<tensor<1x128xf16, #tile>>, tensor<16xi32, #rows>, i32, !ttg.memdesc<1xi64, #bars, #smem, mutable>, !ttg.memdesc<16x128xf16, #tile, #smem, mutable>, i1
  tt.return
}

// Threads that started no copy end an empty group.
// CHECK-LABEL: llvm.func internal @scatter
tt.func private @scatter(%desc: !tt.tensordesc<tensor<1x64xf16, #tile>>, %rows: tensor<16xi32, #rows>, %y: i32) {
  %buffer = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #tile, #smem, mutable>
  // CHECK: "{ @!$0 bra DONE; cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [$1, {$7, $6, $5, $4, $3}], [$2]; DONE: }"
  // CHECK: "cp.async.bulk.commit_group;"
  ttnvgpu.async_tma_scatter %desc[%rows, %y] %buffer : !tt.tensordesc<tensor<1x64xf16, #tile>>, tensor<16xi32, #rows>, i32, !ttg.memdesc<16x64xf16, #tile, #smem, mutable>
  ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
  tt.return
}
}

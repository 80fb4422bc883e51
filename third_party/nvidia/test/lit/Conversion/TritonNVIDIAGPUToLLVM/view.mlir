// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 0, parent = #blocked}>
#half = #ttg.slice<{dim = 1, parent = #blocked1}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// The thread's columns: four times the low two bits of its index.
// CHECK-LABEL: llvm.func @make_range
tt.func @make_range() {
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[THREE:.*]] = llvm.mlir.constant(3 : i32)
  // CHECK: %[[LOW:.*]] = llvm.and %[[TID]], %[[THREE]]
  // CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: llvm.shl %[[LOW]], %[[TWO]]
  %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #row>
  tt.return
}

// Nothing happens at run time.
// CHECK-LABEL: llvm.func @renames
tt.func @renames(%s: f32, %p: !tt.ptr<f32>) -> f32 {
  // CHECK-NEXT: llvm.return
  %0 = tt.splat %s : f32 -> tensor<16xf32, #row>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<16xf32, #row> -> tensor<1x16xf32, #blocked>
  %2 = tt.broadcast %1 : tensor<1x16xf32, #blocked> -> tensor<32x16xf32, #blocked>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<32x16xf32, #blocked> -> tensor<16x32xf32, #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>>
  tt.return %s : f32
}

// CHECK-LABEL: llvm.func @join_split
tt.func @join_split(%a: tensor<128xf32, #half>, %b: tensor<128xf32, #half>) {
  // CHECK: llvm.fadd
  // CHECK-NOT: llvm.fadd
  // CHECK: llvm.return
  %0 = tt.join %a, %b : tensor<128xf32, #half> -> tensor<128x2xf32, #blocked1>
  %x, %y = tt.split %0 : tensor<128x2xf32, #blocked1> -> tensor<128xf32, #half>
  %1 = arith.addf %x, %y : tensor<128xf32, #half>
  tt.return
}
}

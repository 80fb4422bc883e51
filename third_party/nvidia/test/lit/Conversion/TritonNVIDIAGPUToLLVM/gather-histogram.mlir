// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80"} {

// Cleared, counted, read: two barriers.
// CHECK-LABEL: llvm.func @histogram
tt.func @histogram(%x: tensor<128xi32, #blocked>) {
  // CHECK: "@$2 st.shared.b32 [$0], $1;"
  // CHECK: nvvm.barrier0
  // CHECK: llvm.icmp "ult"
  // CHECK: "@$2 red.shared.add.u32 [$0], $1;"
  // CHECK: nvvm.barrier0
  // CHECK: llvm.load
  %0 = tt.histogram %x : tensor<128xi32, #blocked> -> tensor<64xi32, #blocked>
  tt.return
}

// CHECK-LABEL: llvm.func @gather
tt.func @gather(%x: tensor<128xf32, #blocked>, %i: tensor<128xi32, #blocked>) {
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<128xf32, #blocked>, tensor<128xi32, #blocked>) -> tensor<128xf32, #blocked>
  tt.return
}

// Rows that warps have for themselves: the lane that holds the element.
// CHECK-LABEL: llvm.func @gather_in_warp
tt.func @gather_in_warp(%x: tensor<4x32xf32, #rows>, %i: tensor<4x32xi32, #rows>) {
  // CHECK-NOT: nvvm.barrier0
  // CHECK: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: llvm.return
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4x32xf32, #rows>, tensor<4x32xi32, #rows>) -> tensor<4x32xf32, #rows>
  tt.return
}
}

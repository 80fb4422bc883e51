// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80"} {

// Lanes in five steps, one exchange with the neighbour; warps through shared
// memory with one barrier, where the last lane stores. Nothing is computed of
// where values come from: of a segment of 2, 4, ... lanes, whose number is the
// bits 30, 28, ... of a lane's (30 << 8 | 31 = 7711), from the last of its
// first half.
// CHECK-LABEL: llvm.func @block
tt.func @block(%x: tensor<512xi32, #blocked>) {
  // CHECK: [[SOURCE:%.*]] = llvm.mlir.constant(0 : i32)
  // CHECK-NEXT: [[ALL:%.*]] = llvm.mlir.constant(-1 : i32)
  // CHECK-NEXT: [[PAIRS:%.*]] = llvm.mlir.constant(7711 : i32)
  // CHECK-NEXT: nvvm.shfl.sync idx [[ALL]], %{{.*}}, [[SOURCE]], [[PAIRS]] :
  // CHECK: llvm.mlir.constant(7199 : i32)
  // CHECK-NEXT: nvvm.shfl.sync idx
  // CHECK-COUNT-3: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl.sync idx
  // CHECK: nvvm.shfl.sync up
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK: [[LANES:%.*]] = llvm.mlir.constant(31 : i32)
  // CHECK-NEXT: llvm.xor %{{.*}}, [[LANES]] :
  // CHECK: st.shared.b32
  // CHECK: nvvm.barrier0
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-NOT: nvvm.barrier0
  // CHECK: llvm.return
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %1 = arith.addi %a, %b : i32
    tt.scan.return %1 : i32
  }) : (tensor<512xi32, #blocked>) -> tensor<512xi32, #blocked>
  tt.return
}

// Inside a warp no shared memory is needed; and where a thread has one element of a row, the
// lanes' five steps give its result.
// CHECK-LABEL: llvm.func @warp
tt.func @warp(%x: tensor<4x32xf32, #rows>) {
  // CHECK-COUNT-5: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl.sync
  // CHECK-NOT: nvvm.barrier0
  // CHECK: llvm.return
  %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tt.scan.return %1 : f32
  }) : (tensor<4x32xf32, #rows>) -> tensor<4x32xf32, #rows>
  tt.return
}
}

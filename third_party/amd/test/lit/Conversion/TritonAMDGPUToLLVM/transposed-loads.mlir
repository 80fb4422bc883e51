// RUN: tile-opt %s -split-input-file -tile-amd-llir | filecheck %s

// Memory has B in rows along N, and lanes want neighbours along K.
// CHECK-LABEL: @across
// CHECK: llvm.call_intrinsic "llvm.amdgcn.ds.read.tr16.b64"
// CHECK-NOT: llvm.load

// What lies along K is read in wide pieces.
// CHECK-LABEL: @along
// CHECK-NOT: ds.read.tr
// CHECK: llvm.load {{.*}} -> vector<4xi32>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [32, 32, 16], isTransposed = true}>
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @across(%m: !ttg.memdesc<16x32xf16, #rows, #smem, mutable>) -> tensor<16x32xf16, #b> {
    %0 = ttg.local_load %m : !ttg.memdesc<16x32xf16, #rows, #smem, mutable> -> tensor<16x32xf16, #b>
    tt.return %0 : tensor<16x32xf16, #b>
  }
  tt.func @along(%m: !ttg.memdesc<16x32xf16, #columns, #smem, mutable>) -> tensor<16x32xf16, #b> {
    %0 = ttg.local_load %m : !ttg.memdesc<16x32xf16, #columns, #smem, mutable> -> tensor<16x32xf16, #b>
    tt.return %0 : tensor<16x32xf16, #b>
  }
}

// -----

// Elements of 8 bits; gfx942 has no such loads.
// CHECK-LABEL: @bytes
// CHECK: llvm.call_intrinsic "llvm.amdgcn.ds.read.tr8.b64"
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [32, 32, 64], isTransposed = true}>
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @bytes(%m: !ttg.memdesc<64x32xi8, #rows, #smem, mutable>) -> tensor<64x32xi8, #b> {
    %0 = ttg.local_load %m : !ttg.memdesc<64x32xi8, #rows, #smem, mutable> -> tensor<64x32xi8, #b>
    tt.return %0 : tensor<64x32xi8, #b>
  }
}

// -----

// CHECK-LABEL: @other_target
// CHECK-NOT: ds.read.tr
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = true}>
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @other_target(%m: !ttg.memdesc<16x32xf16, #rows, #smem, mutable>) -> tensor<16x32xf16, #b> {
    %0 = ttg.local_load %m : !ttg.memdesc<16x32xf16, #rows, #smem, mutable> -> tensor<16x32xf16, #b>
    tt.return %0 : tensor<16x32xf16, #b>
  }
}

// -----

// gfx1250 has them of 16 bytes, and of 8 where elements have 8 bits. Lanes 0 to 7 give eight rows, of
// 32 elements; lane 8 goes on in the first one.
// CHECK-LABEL: @wider
// CHECK-DAG: %[[ROWS:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-DAG: %[[ELEMENTS_LOG2:.*]] = llvm.mlir.constant(5 : i32)
// CHECK-DAG: %[[NEXT:.*]] = llvm.mlir.constant(8 : i32)
// CHECK: %[[LANE:.*]] = llvm.call_intrinsic "llvm.amdgcn.workitem.id.x"
// CHECK: %[[ROW:.*]] = llvm.and %[[LANE]], %[[ROWS]]
// CHECK: llvm.shl %[[ROW]], %[[ELEMENTS_LOG2]]
// CHECK: llvm.and %[[LANE]], %[[NEXT]]
// CHECK: llvm.call_intrinsic "llvm.amdgcn.ds.load.tr16.b128"({{.*}}) : (!llvm.ptr<3>) -> vector<8xi16>
// CHECK-NOT: llvm.load
// CHECK-LABEL: @wider_bytes
// CHECK: llvm.call_intrinsic "llvm.amdgcn.ds.load.tr8.b64"({{.*}}) : (!llvm.ptr<3>) -> vector<2xi32>
// CHECK-NOT: llvm.load
#mma = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [1, 1], instrShape = [16, 16, 32]}>
#bytes = #ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [1, 1], instrShape = [16, 16, 64]}>
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
#b8 = #ttg.dot_op<{opIdx = 1, parent = #bytes, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @wider(%m: !ttg.memdesc<32x32xf16, #rows, #smem, mutable>) -> tensor<32x32xf16, #b> {
    %0 = ttg.local_load %m : !ttg.memdesc<32x32xf16, #rows, #smem, mutable> -> tensor<32x32xf16, #b>
    tt.return %0 : tensor<32x32xf16, #b>
  }
  tt.func @wider_bytes(%m: !ttg.memdesc<64x32xi8, #rows, #smem, mutable>) -> tensor<64x32xi8, #b8> {
    %0 = ttg.local_load %m : !ttg.memdesc<64x32xi8, #rows, #smem, mutable> -> tensor<64x32xi8, #b8>
    tt.return %0 : tensor<64x32xi8, #b8>
  }
}

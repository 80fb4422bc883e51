// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {

// Results of products go to shared memory as matrices, transposed as well.
// CHECK-LABEL: llvm.func @stmatrix
tt.func @stmatrix(%x: tensor<64x32xf16, #mma>) {
  // CHECK: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<row>{{.*}} : !llvm.ptr<3>, i32, i32, i32, i32
  // CHECK: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<col>{{.*}} : !llvm.ptr<3>, i32, i32, i32, i32
  %a = ttg.local_alloc %x : (tensor<64x32xf16, #mma>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
  %b = ttg.local_alloc %x : (tensor<64x32xf16, #mma>) -> !ttg.memdesc<64x32xf16, #columns, #smem>
  %0 = ttg.local_load %a : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #wide>
  %1 = ttg.local_load %b : !ttg.memdesc<64x32xf16, #columns, #smem> -> tensor<64x32xf16, #wide>
  tt.return
}

// Conversions between layouts as well: vectors on one side, matrices on the
// other.
// CHECK-LABEL: llvm.func @matrices_convert
tt.func @matrices_convert(%x: tensor<64x32xf16, #mma>) {
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK: nvvm.ldmatrix {{.*}}num = 4
  %0 = ttg.convert_layout %x : tensor<64x32xf16, #mma> -> tensor<64x32xf16, #wide>
  tt.return
}

// Atomic additions of vectors.
// CHECK-LABEL: llvm.func @vector_atomics
tt.func @vector_atomics(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %v: tensor<512xf32, #blocked>, %w: tensor<512xbf16, #blocked>) {
  // CHECK: "red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};"
  // CHECK: "red.relaxed.gpu.global.add.noftz.v2.bf16x2 [$0], {$1, $2};"
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %xp, %v : (tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xf32, #blocked>) -> tensor<512xf32, #blocked>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<512x!tt.ptr<bf16>, #blocked>
  %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<bf16>, #blocked>, tensor<512xi32, #blocked>
  %1 = tt.atomic_rmw fadd, relaxed, gpu, %yp, %w : (tensor<512x!tt.ptr<bf16>, #blocked>, tensor<512xbf16, #blocked>) -> tensor<512xbf16, #blocked>
  tt.return
}

// Eight numbers of four bits: their magnitudes from a table, and their signs.
// CHECK-LABEL: llvm.func @fp4
tt.func @fp4(%x: tensor<64x16xi8, #wide>) {
  // CHECK: llvm.mlir.constant(1044133888 : i32)
  // CHECK: nvvm.prmt <default>
  // CHECK: llvm.bitcast %{{.*}} : i32 to vector<2xf16>
  %0 = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<64x16xi8, #wide> -> tensor<64x32xf16, #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>>
  tt.return
}

// CHECK-LABEL: llvm.func @fp8
tt.func @fp8(%x: tensor<64x32xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, %y: tensor<32x8xf8E5M2, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, %z: tensor<64x8xf32, #mma>) {
  // CHECK: "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  %0 = tt.dot %x, %y, %z : tensor<64x32xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x8xf8E5M2, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<64x8xf32, #mma>
  tt.return
}
}

// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// CHECK: llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK-LABEL: llvm.func @round_trip
tt.func @round_trip(%x: tensor<32x32xf16, #blocked>) {
  // CHECK: llvm.mlir.addressof @global_smem
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  %a = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %0 = ttg.local_load %a : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #blocked>
  tt.return
}

// The operand of an mma comes through ldmatrix; transposed, too.
// CHECK-LABEL: llvm.func @matrices
tt.func @matrices(%a: !ttg.memdesc<64x32xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<32x32xf16, #shared, #smem, mutable>) {
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
  %0 = ttg.local_load %a : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  %1 = ttg.local_load %b : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  tt.return
}

// Of the 8 bytes that each lane has of a row, those of two neighbouring rows
// lie in the same banks. Half of the lanes store another column first.
// CHECK-LABEL: llvm.func @rows_of_results
tt.func @rows_of_results(%x: tensor<64x32xf32, #mma>, %a: !ttg.memdesc<64x32xf32, #rows, #smem, mutable>) {
  // CHECK: %[[COLUMN:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: %[[BIT:.*]] = llvm.and %{{.*}}, %[[COLUMN]]
  // CHECK: %[[ODD:.*]] = llvm.icmp "ne" %[[BIT]]
  // CHECK-COUNT-16: llvm.select %[[ODD]]
  // CHECK-NOT: llvm.select
  // CHECK-COUNT-8: llvm.store %{{.*}} : vector<2xi32>, !llvm.ptr<3>
  ttg.local_store %x, %a : tensor<64x32xf32, #mma> -> !ttg.memdesc<64x32xf32, #rows, #smem, mutable>
  tt.return
}

// CHECK-LABEL: llvm.func @views
tt.func @views(%i: i32, %x: tensor<32x32xf16, #blocked>) {
  // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(2048 : i32)
  // CHECK: %[[AT:.*]] = llvm.mul %{{.*}}, %[[BYTES]]
  // CHECK: llvm.getelementptr %{{.*}}[%[[AT]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  // CHECK: llvm.store %{{.*}} : vector<4xi32>, !llvm.ptr<3>
  %a = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>
  %v = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  ttg.local_store %x, %v : tensor<32x32xf16, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  tt.return
}

// CHECK-LABEL: llvm.func @async
tt.func @async(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %m: i1) {
  // CHECK: llvm.inline_asm {{.*}}selp.b32 $0, 16, 0, $1;
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}}
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK: nvvm.barrier0
  %a = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %mask = tt.splat %m : i1 -> tensor<32x32xi1, #blocked>
  %0 = ttg.async_copy_global_to_local %p, %a mask %mask {contiguity = 8 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
  %1 = ttg.async_commit_group tokens %0
  %2 = ttg.async_wait %1 {num = 0 : i32}
  tt.return
}
}

// RUN: tile-opt %s -split-input-file -convert-triton-gpu-to-llvm | filecheck %s

// Text with places and without barriers: the pass puts the barriers in.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.shared = 512 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @buffer
  // CHECK: llvm.store
  // CHECK: nvvm.barrier
  // CHECK: llvm.load
  tt.func @buffer(%x: tensor<128xf32, #blocked>) -> tensor<128xf32, #blocked> {
    %buf = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<128xf32, #blocked>) -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    %y = ttg.local_load %buf : !ttg.memdesc<128xf32, #shared, #smem, mutable> -> tensor<128xf32, #blocked>
    tt.return %y : tensor<128xf32, #blocked>
  }
}

// -----

// The size follows from the places.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// CHECK: module attributes {{.*}}ttg.shared = 1280 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @behind
  tt.func @behind() {
    %buf = ttg.local_alloc {allocation.offset = 1024 : i32} : () -> !ttg.memdesc<64xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

// The address of tensor memory comes behind all buffers.
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
// CHECK: module attributes {{.*}}ttg.shared = 44 : i32{{.*}}ttnvgpu.tensor_memory_address = 40 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.shared = 40 : i32, ttg.tensor_memory_size = 128 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @tensor_memory
  // CHECK: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32
  tt.func public @tensor_memory() {
    %0 = ttnvgpu.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }
}

// -----

// Functions that are lowered already stay.
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @lowered
  // CHECK: llvm.return
  llvm.func @lowered() {
    llvm.return
  }
}

// -----

// Triton's IR may declare shared memory: there is one declaration.
#x = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK: llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64}
  // CHECK-NOT: llvm.mlir.global
  // CHECK-LABEL: llvm.func @declared
  llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  tt.func public @declared(%v: tensor<128xf32, #x>) {
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    ttg.local_store %v, %a : tensor<128xf32, #x> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    tt.return
  }
}

// Passes ask the machine's model: here the models of test/lib/Target.

// RUN: tile-opt %S/../../../Corpus/gemm.ttir -convert-triton-to-tritongpu='target=test:wave64' \
// RUN:     -tritongpu-coalesce -tritongpu-f32-dot-tc -tritongpu-remove-layout-conversions \
// RUN:     -tritongpu-optimize-thread-locality -tritongpu-accelerate-matmul \
// RUN:     -tritongpu-remove-layout-conversions -tritongpu-optimize-dot-operands -canonicalize \
// RUN:     -triton-loop-aware-cse -tritongpu-fuse-nested-loops -triton-licm \
// RUN:     -tritongpu-combine-tensor-select-and-if -tritongpu-assign-latencies -tritongpu-schedule-loops \
// RUN:     -tritongpu-pipeline -tritongpu-coalesce-async-copy -tritongpu-remove-layout-conversions \
// RUN:     -tritongpu-reduce-data-duplication -tritongpu-reorder-instructions -cse -canonicalize \
// RUN:     -tritongpu-optimize-accumulator-init -tritongpu-legalize-collectives \
// RUN:   | filecheck %s -check-prefix WAVE64
// WAVE64: #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8]
// WAVE64: "ttg.threads-per-warp" = 64
// WAVE64: ttg.async_copy_global_to_local {{.*}}#blocked
// WAVE64: ttg.local_load {{.*}} -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
// WAVE64: tt.dot {{.*}} -> tensor<128x128xf32, #mma>

// RUN: tile-opt %s -split-input-file -tritongpu-accelerate-matmul | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "test:wave64", "ttg.threads-per-warp" = 64 : i32} {
  // The next smaller instruction fits.
  // CHECK: #mma = #ttg.amd_mfma<{{.*}}instrShape = [16, 16, 16]
  // CHECK-LABEL: @small
  tt.func @small(%a: tensor<16x16xf16, #a>, %b: tensor<16x64xf16, #b>, %c: tensor<16x64xf32, #blocked>) -> tensor<16x64xf32, #blocked> {
    // CHECK: tt.dot {{.*}} -> tensor<16x64xf32, #mma>
    %d = tt.dot %a, %b, %c : tensor<16x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<16x64xf32, #blocked>
    tt.return %d : tensor<16x64xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "test:shared", "ttg.threads-per-warp" = 32 : i32} {
  // Operands go to shared memory, and four warps stay together along M.
  // CHECK: #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 16, 16]}>
  // CHECK-LABEL: @group
  tt.func @group(%a: tensor<64x32xf16, #a>, %b: tensor<32x128xf16, #b>, %c: tensor<64x128xf32, #blocked>) -> tensor<64x128xf32, #blocked> {
    // CHECK-DAG: [[A:%.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x32xf16, #shared, #smem>
    // CHECK-DAG: [[B:%.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<32x128xf16, #shared, #smem>
    // CHECK-DAG: [[C:%.*]] = ttg.convert_layout %{{.*}} -> tensor<64x128xf32, #mma>
    // CHECK: [[D:%.*]] = ttnvgpu.warp_group_dot [[A]], [[B]], [[C]]
    // CHECK: ttg.convert_layout [[D]] {{.*}} -> tensor<64x128xf32, #blocked>
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<64x128xf32, #blocked>
    tt.return %d : tensor<64x128xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [2, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "test:shared", "ttg.threads-per-warp" = 32 : i32} {
  // Two warps are no group.
  // CHECK-LABEL: @too_few_warps
  tt.func @too_few_warps(%a: tensor<64x32xf16, #a>, %b: tensor<32x128xf16, #b>, %c: tensor<64x128xf32, #blocked>) -> tensor<64x128xf32, #blocked> {
    // CHECK: tt.dot {{.*}} -> tensor<64x128xf32, #blocked>
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<64x128xf32, #blocked>
    tt.return %d : tensor<64x128xf32, #blocked>
  }
}

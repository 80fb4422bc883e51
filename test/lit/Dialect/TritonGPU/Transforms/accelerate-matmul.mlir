// RUN: tile-opt %s -split-input-file -tritongpu-accelerate-matmul | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Warps make a square of a square.
  // CHECK: #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
  // CHECK-LABEL: @square
  tt.func @square(%a: tensor<128x32xf16, #a>, %b: tensor<32x128xf16, #b>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    // CHECK-DAG: [[A:%.*]] = ttg.convert_layout %{{.*}} -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    // CHECK-DAG: [[B:%.*]] = ttg.convert_layout %{{.*}} -> tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    // CHECK-DAG: [[C:%.*]] = ttg.convert_layout %{{.*}} -> tensor<128x128xf32, #mma>
    // CHECK: [[D:%.*]] = tt.dot [[A]], [[B]], [[C]]
    // CHECK: ttg.convert_layout [[D]] : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #blocked>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // In a chain they stack up, as far as the rows go.
  // CHECK: #mma = #ttg.nvidia_mma<{{.*}}warpsPerCTA = [4, 2]
  // CHECK-NOT: #mma1
  // CHECK-LABEL: @chain
  tt.func @chain(%a: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %h = arith.truncf %d : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %p = ttg.convert_layout %h : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %e = tt.dot %p, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %e : tensor<64x64xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // An operand that is loaded as bytes comes four to a register; the other one
  // has to agree.
  // CHECK-LABEL: @mixed
  tt.func @mixed(%p: tensor<64x64x!tt.ptr<i8>, #b>, %a: tensor<64x64xf16, #a>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %v = tt.load %p : tensor<64x64x!tt.ptr<i8>, #b>
    %b = arith.sitofp %v : tensor<64x64xi8, #b> to tensor<64x64xf16, #b>
    // CHECK: tt.dot {{.*}} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @fp8_on_fp16
  tt.func @fp8_on_fp16(%a: tensor<64x64xf8E5M2, #a>, %b: tensor<64x64xf8E5M2, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    // CHECK-COUNT-2: tt.fp_to_fp {{.*}} -> tensor<64x64xf16
    // CHECK: tt.dot {{.*}} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
    %d = tt.dot %a, %b, %c : tensor<64x64xf8E5M2, #a> * tensor<64x64xf8E5M2, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }

  // Full precision was asked for, which tensor cores do not have.
  // CHECK-LABEL: @ieee
  tt.func @ieee(%a: tensor<64x64xf32, #a>, %b: tensor<64x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> (tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>) {
    // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #blocked>
    %d = tt.dot %a, %b, %c : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
    // CHECK: tt.dot {{.*}}, inputPrecision = tf32 : {{.*}}kWidth = 1{{.*}} -> tensor<64x64xf32, #mma>
    %e = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d, %e : tensor<64x64xf32, #blocked>, tensor<64x64xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 2, 2], threadsPerWarp = [1, 2, 16], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Warps share out a batch first.
  // CHECK: #mma = #ttg.nvidia_mma<{{.*}}warpsPerCTA = [2, 1, 2], instrShape = [1, 16, 8]}>
  // CHECK-LABEL: @batch
  tt.func @batch(%a: tensor<2x32x32xf16, #a>, %b: tensor<2x32x32xf16, #b>, %c: tensor<2x32x32xf32, #blocked>) -> tensor<2x32x32xf32, #blocked> {
    // CHECK: tt.dot {{.*}} -> tensor<2x32x32xf32, #mma>
    %d = tt.dot %a, %b, %c : tensor<2x32x32xf16, #a> * tensor<2x32x32xf16, #b> -> tensor<2x32x32xf32, #blocked>
    tt.return %d : tensor<2x32x32xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:75", "ttg.threads-per-warp" = 32 : i32} {
  // Before Ampere there is no such instruction.
  // CHECK-LABEL: @old_target
  tt.func @old_target(%a: tensor<16x16xf16, #a>, %b: tensor<16x16xf16, #b>, %c: tensor<16x16xf32, #blocked>) -> tensor<16x16xf32, #blocked> {
    // CHECK-NOT: convert_layout
    // CHECK: tt.dot {{.*}} -> tensor<16x16xf32, #blocked>
    %d = tt.dot %a, %b, %c : tensor<16x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<16x16xf32, #blocked>
    tt.return %d : tensor<16x16xf32, #blocked>
  }
}

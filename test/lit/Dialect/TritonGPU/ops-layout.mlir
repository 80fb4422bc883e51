// RUN: tile-opt %s -split-input-file | filecheck %s
// RUN: tile-opt %s -split-input-file -mlir-print-op-generic | tile-opt -split-input-file | filecheck %s

// Round trips of the operations on layouts of tensors, and of the inference of
// layouts through operations of the tt dialect.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#unpacked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @convert
  tt.func @convert(%t: tensor<64x64xf16, #blocked>, %p: tensor<64x64x!tt.ptr<f32>, #blocked>) {
    // CHECK: ttg.convert_layout %arg0 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
    %0 = ttg.convert_layout %t : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
    // CHECK: ttg.convert_layout %{{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    %1 = ttg.convert_layout %0 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    // CHECK: ttg.convert_layout %arg1 : tensor<64x64x!tt.ptr<f32>, #blocked> -> tensor<64x64x!tt.ptr<f32>, #mma>
    %2 = ttg.convert_layout %p : tensor<64x64x!tt.ptr<f32>, #blocked> -> tensor<64x64x!tt.ptr<f32>, #mma>
    tt.return
  }

  // CHECK-LABEL: @fp4
  tt.func @fp4(%a: tensor<32x32xi8, #blocked>,
               %b: tensor<32x32xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>,
               %c: tensor<64xi8, #ttg.slice<{dim = 0, parent = #blocked}>>, %d: tensor<64xi8>) {
    // CHECK: ttg.fp4_to_fp %arg0 {axis = 1 : i32} : tensor<32x32xi8, #blocked> -> tensor<32x64xf16, #blocked1>
    %0 = ttg.fp4_to_fp %a {axis = 1 : i32} : tensor<32x32xi8, #blocked> -> tensor<32x64xf16, #unpacked>
    // Along the contracted dimension the registers of an operand hold more.
    // CHECK: ttg.fp4_to_fp %arg1 {axis = 0 : i32} : {{.*}} -> tensor<64x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
    %1 = ttg.fp4_to_fp %b {axis = 0 : i32} : tensor<32x32xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
    // CHECK: ttg.fp4_to_fp %arg2
    %2 = ttg.fp4_to_fp %c {axis = 0 : i32} : tensor<64xi8, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<128xf16, #ttg.slice<{dim = 0, parent = #unpacked}>>
    // CHECK: ttg.fp4_to_fp %arg3 {axis = 0 : i32} : tensor<64xi8> -> tensor<128xf16>
    %3 = ttg.fp4_to_fp %d {axis = 0 : i32} : tensor<64xi8> -> tensor<128xf16>
    tt.return
  }
}

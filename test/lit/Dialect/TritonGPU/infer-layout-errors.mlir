// RUN: tile-opt %s -split-input-file -verify-diagnostics

// Layouts that do not follow from those of the operands.

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @f(%a: tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a source with a slice encoding along dimension 1, found one along dimension 0}}
  %0 = tt.expand_dims %a {axis = 1 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<32x1xf32, #blocked>
  tt.return
}

// -----

#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @f(%a: tensor<32xf32, #line>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a slice encoding along dimension 1, found}}
  %0 = tt.expand_dims %a {axis = 1 : i32} : tensor<32xf32, #line> -> tensor<32x1xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @f(%a: tensor<32x2xf32, #blocked>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{the two elements along the last dimension lie in different threads or are held twice}}
  %0, %1 = tt.split %a : tensor<32x2xf32, #blocked> -> tensor<32xf32, #line>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
tt.func @f(%a: tensor<64x16xf16, #mma>, %b: tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %c: tensor<64x8xf32, #mma>) {
  // expected-error @+1 {{expected the left operand to have a dot_op encoding with opIdx = 0}}
  %0 = tt.dot %a, %b, %c : tensor<64x16xf16, #mma> * tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x8xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
tt.func @f(%a: tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, %b: tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %c: tensor<64x8xf32, #mma>) {
  // expected-error @+1 {{operands have different kWidth: 4 and 2}}
  %0 = tt.dot %a, %b, %c : tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x8xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#mma1 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
tt.func @f(%a: tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %b: tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, %c: tensor<64x8xf32, #mma1>) {
  // expected-error @+1 {{expected the parent of both operands to be the encoding of the result}}
  %0 = tt.dot %a, %b, %c : tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<16x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x8xf32, #mma1>
  tt.return
}

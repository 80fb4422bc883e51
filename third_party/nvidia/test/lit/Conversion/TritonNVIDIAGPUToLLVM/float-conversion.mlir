// RUN: tile-opt %s -split-input-file -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80"} {

// Two at once.
// CHECK-LABEL: llvm.func @pairs
tt.func @pairs(%x: tensor<256xf32, #blocked>) {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rn"
  // CHECK-NOT: llvm.nvvm.ff2f16x2
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rz"
  // CHECK: llvm.return
  %0 = arith.truncf %x : tensor<256xf32, #blocked> to tensor<256xf16, #blocked>
  %1 = tt.fp_to_fp %x, rounding = rtz : tensor<256xf32, #blocked> -> tensor<256xbf16, #blocked>
  tt.return
}

// No instructions for 8-bit floats here: integer arithmetic.
// CHECK-LABEL: llvm.func @software
tt.func @software(%x: tensor<128xf8E5M2, #blocked>) {
  // CHECK-NOT: llvm.call_intrinsic
  // CHECK: %[[EIGHT:.*]] = llvm.mlir.constant(8 : i16)
  // CHECK: llvm.shl %{{.*}}, %[[EIGHT]]
  // CHECK: llvm.bitcast %{{.*}} : i16 to f16
  // CHECK: llvm.fpext
  // CHECK-NOT: llvm.call_intrinsic
  // CHECK: llvm.return
  %0 = tt.fp_to_fp %x : tensor<128xf8E5M2, #blocked> -> tensor<128xf32, #blocked>
  tt.return
}
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: llvm.func @native
tt.func @native(%x: tensor<256xf32, #blocked>, %y: tensor<256xf8E5M2, #blocked>) {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.e5m2x2.to.f16x2.rn"
  %0 = tt.fp_to_fp %x, rounding = rtne : tensor<256xf32, #blocked> -> tensor<256xf8E4M3FN, #blocked>
  %1 = tt.fp_to_fp %y : tensor<256xf8E5M2, #blocked> -> tensor<256xf16, #blocked>
  tt.return
}
}

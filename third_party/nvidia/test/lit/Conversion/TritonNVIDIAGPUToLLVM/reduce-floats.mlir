// RUN: sed s/TARGET/cuda:100/ %s | tile-opt -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s
// RUN: sed s/TARGET/cuda:110/ %s | tile-opt -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s --check-prefix=NONE

// The greatest float of a warp in one instruction, where the machine has it.
// NONE-NOT: nvvm.redux

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #rows}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "TARGET"} {

// CHECK-LABEL: llvm.func @any_nan
tt.func @any_nan(%x: tensor<4x128xf32, #rows>) {
  // CHECK: nvvm.redux.sync fmax %{{.*}} {nan = true}
  // CHECK-NOT: nvvm.shfl
  // CHECK: llvm.return
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.maximumf %a, %b : f32
    tt.reduce.return %1 : f32
  }) : (tensor<4x128xf32, #rows>) -> tensor<4xf32, #row>
  tt.return
}

// CHECK-LABEL: llvm.func @numbers
tt.func @numbers(%x: tensor<4x128xf32, #rows>) {
  // CHECK: nvvm.redux.sync fmin %{{[^{]*$}}
  // CHECK-NOT: nvvm.shfl
  // CHECK: llvm.return
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.minnumf %a, %b : f32
    tt.reduce.return %1 : f32
  }) : (tensor<4x128xf32, #rows>) -> tensor<4xf32, #row>
  tt.return
}

// CHECK-LABEL: llvm.func @halves
tt.func @halves(%x: tensor<4x128xf16, #rows>) {
  // CHECK-NOT: nvvm.redux
  // CHECK: nvvm.shfl
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f16, %b: f16):
    %1 = arith.maxnumf %a, %b : f16
    tt.reduce.return %1 : f16
  }) : (tensor<4x128xf16, #rows>) -> tensor<4xf16, #row>
  tt.return
}
}

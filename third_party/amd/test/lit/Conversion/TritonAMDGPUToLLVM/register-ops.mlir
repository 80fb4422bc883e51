// RUN: tile-opt %s -tile-amd-llir | filecheck %s

#tall = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // A thread has two rows; of each, the last four of eight elements: registers 4 to 7 and 12 to 15.
  // CHECK-LABEL: @slice
  // CHECK-NOT: amdgcn
  // CHECK-COUNT-8: llvm.insertvalue
  tt.func @slice(%x: tensor<512x8xf16, #tall>) -> tensor<512x4xf16, #tall> {
    %0 = amdg.extract_slice %x [0, 4] : tensor<512x8xf16, #tall> to tensor<512x4xf16, #tall>
    tt.return %0 : tensor<512x4xf16, #tall>
  }

  // The first row comes before the second; turned, the first column before the others.
  // CHECK-LABEL: @transpose
  // CHECK: %[[SECOND:.*]] = llvm.extractvalue %arg0[1]
  // CHECK: %[[FIFTH:.*]] = llvm.extractvalue %arg0[4]
  // CHECK: llvm.insertvalue %[[FIFTH]], %{{.*}}[1]
  // CHECK: llvm.insertvalue %[[SECOND]], %{{.*}}[2]
  tt.func @transpose(%x: tensor<512x4xf16, #tall>) -> tensor<512x4xf16, #turned> {
    %0 = amdg.in_thread_transpose %x : tensor<512x4xf16, #tall> -> tensor<512x4xf16, #turned>
    tt.return %0 : tensor<512x4xf16, #turned>
  }

  // CHECK-LABEL: @concat
  // CHECK-NOT: amdgcn
  // CHECK-COUNT-16: llvm.insertvalue
  tt.func @concat(%x: tensor<512x4xf16, #tall>, %y: tensor<512x4xf16, #tall>) -> tensor<512x8xf16, #tall> {
    %0 = amdg.concat %x, %y : tensor<512x4xf16, #tall>, tensor<512x4xf16, #tall> -> tensor<512x8xf16, #tall>
    tt.return %0 : tensor<512x8xf16, #tall>
  }
}

// RUN: tile-opt %s -tritonamdgpu-hoist-layout-conversions | filecheck %s
// RUN: tile-opt %s -pass-pipeline='any(tt.func(tritonamdgpu-hoist-layout-conversions))' | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // The left operand is the same in both loops, the right one in the inner loop.
  // CHECK-LABEL: @two_loops
  // CHECK: %[[X:.*]] = ttg.convert_layout %arg0 {{.*}}opIdx = 0
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: %[[Y:.*]] = ttg.convert_layout {{.*}}opIdx = 1
  // CHECK-NEXT: scf.for
  // CHECK: tt.dot %[[X]], %[[Y]]
  tt.func @two_loops(%x: tensor<64x64xf16, #blocked>, %y: tensor<64x64xf16, #blocked>, %z: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z, %v = %y) -> (tensor<64x64xf32, #mma>, tensor<64x64xf16, #blocked>)  : i32 {
      %s = scf.for %j = %c0 to %n step %c1 iter_args(%inner = %sum) -> (tensor<64x64xf32, #mma>)  : i32 {
        %a = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
        %b = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
        %d = tt.dot %a, %b, %inner : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      %next = arith.addf %v, %v : tensor<64x64xf16, #blocked>
      scf.yield %s, %next : tensor<64x64xf32, #mma>, tensor<64x64xf16, #blocked>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // What the loop computes stays, and so does what is no operand.
  // CHECK-LABEL: @stays
  // CHECK: scf.for
  // CHECK: ttg.convert_layout
  tt.func @stays(%x: tensor<64x64xf32, #blocked>, %z: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> (tensor<64x64xf32, #mma>)  : i32 {
      %a = ttg.convert_layout %x : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #mma>
      %d = arith.addf %a, %sum : tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// RUN: tile-opt %s -version-padded-loops-nv | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Where the padding is zero, no select stands between the copy and the dot.
  // CHECK-LABEL: @padded
  // CHECK-SAME: %[[NAN:[a-z0-9]+]]: i1
  // CHECK: %[[OTHER:.*]] = arith.select %[[NAN]]
  // CHECK: %[[SUM:.*]] = scf.if %[[NAN]] -> (tensor<64x64xf32, #mma>) {
  // CHECK: scf.for
  // CHECK: tt.load %{{.*}}, %{{.*}}, %[[OTHER]]
  // CHECK: tt.dot
  // CHECK: {tt.num_stages = 1 : i32}
  // CHECK: } else {
  // CHECK: scf.for
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf16, #blocked>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %[[ZERO]]
  // CHECK: tt.dot
  // CHECK: tt.return %[[SUM]]
  tt.func @padded(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %mask: tensor<64x32xi1, #blocked>, %y: tensor<32x64xf16, #b>, %nan: i1, %n: i32) -> tensor<64x64xf32, #mma> {
    %nans = arith.constant dense<0x7E00> : tensor<64x32xf16, #blocked>
    %zeros = arith.constant dense<0.000000e+00> : tensor<64x32xf16, #blocked>
    %none = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %other = arith.select %nan, %nans, %zeros : tensor<64x32xf16, #blocked>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p, %mask, %other : tensor<64x32x!tt.ptr<f16>, #blocked>
      %a = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
      %d = tt.dot %a, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %sum : tensor<64x64xf32, #mma>
  }

  // What is known at compile time stays as it is. So does a loop without dots.
  // CHECK-LABEL: @known
  // CHECK-NOT: scf.if
  // CHECK: tt.return
  tt.func @known(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %mask: tensor<64x32xi1, #blocked>, %y: tensor<32x64xf16, #b>, %nan: i1, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>) {
    %nans = arith.constant dense<0x7E00> : tensor<64x32xf16, #blocked>
    %zeros = arith.constant dense<0.000000e+00> : tensor<64x32xf16, #blocked>
    %none = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %other = arith.select %nan, %nans, %zeros : tensor<64x32xf16, #blocked>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p, %mask, %nans : tensor<64x32x!tt.ptr<f16>, #blocked>
      %a = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
      %d = tt.dot %a, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    %all = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<64x32xf16, #blocked>) : i32 {
      %x = tt.load %p, %mask, %other : tensor<64x32x!tt.ptr<f16>, #blocked>
      %s = arith.addf %acc, %x : tensor<64x32xf16, #blocked>
      scf.yield %s : tensor<64x32xf16, #blocked>
    }
    tt.return %sum, %all : tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>
  }
}

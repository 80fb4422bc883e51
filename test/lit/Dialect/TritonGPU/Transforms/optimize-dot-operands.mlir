// RUN: tile-opt %s -split-input-file -tritongpu-optimize-dot-operands | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Arithmetic happens in the registers of the product.
  // CHECK-LABEL: @arithmetic
  tt.func @arithmetic(%p: tensor<64x64x!tt.ptr<f16>, #blocked>) -> tensor<64x64xf16, #a> {
    %two = arith.constant dense<2.0> : tensor<64x64xf16, #blocked>
    // CHECK: [[V:%.*]] = tt.load
    %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
    // CHECK: [[C:%.*]] = ttg.convert_layout [[V]]
    // CHECK: [[M:%.*]] = arith.mulf [[C]], %{{.*}} : tensor<64x64xf16, #ttg.dot_op
    %m = arith.mulf %v, %two : tensor<64x64xf16, #blocked>
    // CHECK: [[N:%.*]] = arith.negf [[M]] : tensor<64x64xf16, #ttg.dot_op
    %n = arith.negf %m : tensor<64x64xf16, #blocked>
    %c = ttg.convert_layout %n : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    // CHECK: tt.return [[N]]
    tt.return %c : tensor<64x64xf16, #a>
  }

  // Others need the intermediate result, or there is more than one load.
  // CHECK-LABEL: @more_than_a_chain
  tt.func @more_than_a_chain(%p: tensor<64x64x!tt.ptr<f16>, #blocked>) -> (tensor<64x64xf16, #blocked>, tensor<64x64xf16, #a>, tensor<64x64xf16, #a>) {
    %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
    %w = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
    // CHECK: arith.negf {{.*}} : tensor<64x64xf16, #blocked>
    %n = arith.negf %v : tensor<64x64xf16, #blocked>
    // CHECK: ttg.convert_layout
    %c = ttg.convert_layout %n : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    // CHECK: arith.addf {{.*}} : tensor<64x64xf16, #blocked>
    %s = arith.addf %w, %n : tensor<64x64xf16, #blocked>
    // CHECK: ttg.convert_layout
    %d = ttg.convert_layout %s : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    tt.return %n, %c, %d : tensor<64x64xf16, #blocked>, tensor<64x64xf16, #a>, tensor<64x64xf16, #a>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blockedT = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The buffer is written in the order of the load and read transposed.
  // CHECK-DAG: [[W:#shared[0-9]*]] = #ttg.swizzled_shared<{{.*}}order = [1, 0]}>
  // CHECK-DAG: [[R:#shared[0-9]*]] = #ttg.swizzled_shared<{{.*}}order = [0, 1]}>
  // CHECK-LABEL: @transposition
  tt.func @transposition(%p: tensor<64x64x!tt.ptr<f16>, #blocked>) -> tensor<64x64xf16, #b> {
    // CHECK: [[V:%.*]] = tt.load
    %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
    // CHECK: [[M:%.*]] = ttg.local_alloc [[V]] : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, [[W]], #smem>
    // CHECK: [[T:%.*]] = ttg.memdesc_trans [[M]] {order = array<i32: 1, 0>} : {{.*}} -> !ttg.memdesc<64x64xf16, [[R]], #smem>
    // CHECK: ttg.local_load [[T]] : {{.*}} -> tensor<64x64xf16, #ttg.dot_op
    // CHECK-NOT: tt.trans
    %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #blockedT>
    %c = ttg.convert_layout %t : tensor<64x64xf16, #blockedT> -> tensor<64x64xf16, #b>
    tt.return %c : tensor<64x64xf16, #b>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#blockedT = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 2], instrShape = [16, 8]}>
#wide = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 8]}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#all = #ttg.dot_op<{opIdx = 1, parent = #wide, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // What the loop loads has a buffer already. The dot reads that, and a thread
  // does as much arithmetic as before.
  // CHECK-LABEL: @arithmetic_before_transposition
  tt.func @arithmetic_before_transposition(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %scale: tensor<64x1xf16, #blocked>, %init: tensor<64x64xf16, #b>, %n: i32) -> tensor<64x64xf16, #b> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %by = tt.broadcast %scale : tensor<64x1xf16, #blocked> -> tensor<64x64xf16, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (tensor<64x64xf16, #b>) : i32 {
      // CHECK: [[V:%.*]] = tt.load
      // CHECK: [[C:%.*]] = ttg.convert_layout [[V]] : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, [[READ:#.*]]>
      // CHECK: [[M:%.*]] = arith.mulf [[C]], %{{.*}} : tensor<64x64xf16, [[READ]]>
      // CHECK: tt.trans [[M]] {{.*}} -> tensor<64x64xf16, #ttg.dot_op
      // CHECK-NOT: ttg.local_alloc
      %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %m = arith.mulf %v, %by : tensor<64x64xf16, #blocked>
      %t = tt.trans %m {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #blockedT>
      %c = ttg.convert_layout %t : tensor<64x64xf16, #blockedT> -> tensor<64x64xf16, #b>
      %next = arith.addf %sum, %c : tensor<64x64xf16, #b>
      scf.yield %next : tensor<64x64xf16, #b>
    }
    tt.return %r : tensor<64x64xf16, #b>
  }

  // Here both warps would do all of the arithmetic.
  // CHECK-LABEL: @twice_the_arithmetic
  tt.func @twice_the_arithmetic(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %init: tensor<64x64xf16, #all>, %n: i32) -> tensor<64x64xf16, #all> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (tensor<64x64xf16, #all>) : i32 {
      // CHECK: [[M:%.*]] = arith.negf {{.*}} : tensor<64x64xf16, #blocked>
      // CHECK: ttg.local_alloc [[M]]
      %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %m = arith.negf %v : tensor<64x64xf16, #blocked>
      %t = tt.trans %m {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #blockedT>
      %c = ttg.convert_layout %t : tensor<64x64xf16, #blockedT> -> tensor<64x64xf16, #all>
      %next = arith.addf %sum, %c : tensor<64x64xf16, #all>
      scf.yield %next : tensor<64x64xf16, #all>
    }
    tt.return %r : tensor<64x64xf16, #all>
  }
}

// RUN: tile-opt %s -split-input-file -tritongpu-f32-dot-tc | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @tf32x3
  // CHECK-SAME: %[[A:[a-z0-9]*]]: {{.*}}, %[[B:[a-z0-9]*]]: {{.*}}, %[[C:[a-z0-9]*]]:
  tt.func @tf32x3(%a: tensor<16x16xf32, #a>, %b: tensor<16x16xf32, #b>, %c: tensor<16x16xf32, #blocked>) -> tensor<16x16xf32, #blocked> {
    // CHECK: [[AI:%.*]] = tt.bitcast %[[A]] {{.*}} -> tensor<16x16xi32
    // CHECK: [[MASK:%.*]] = arith.constant dense<-8192> : tensor<16x16xi32
    // CHECK: [[AM:%.*]] = arith.andi [[AI]], [[MASK]]
    // CHECK: [[A0:%.*]] = tt.bitcast [[AM]]
    // CHECK: [[A1:%.*]] = arith.subf %[[A]], [[A0]]
    // CHECK: [[B1:%.*]] = arith.subf %[[B]], [[B0:%.*]] :
    // CHECK: [[ZERO:%.*]] = arith.constant dense<0.000000e+00>
    // CHECK: [[D0:%.*]] = tt.dot [[A1]], [[B0]], [[ZERO]], inputPrecision = tf32
    // CHECK: [[D1:%.*]] = tt.dot [[A0]], [[B1]], [[D0]], inputPrecision = tf32
    // CHECK: [[NAN:%.*]] = arith.cmpf uno, [[D1]], [[D1]]
    // CHECK: [[S:%.*]] = arith.select [[NAN]], [[ZERO]], [[D1]]
    // CHECK: [[SC:%.*]] = arith.addf [[S]], %[[C]]
    // CHECK: [[D:%.*]] = tt.dot [[A0]], [[B0]], [[SC]], inputPrecision = tf32
    // CHECK: tt.return [[D]]
    %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<16x16xf32, #a> * tensor<16x16xf32, #b> -> tensor<16x16xf32, #blocked>
    tt.return %d : tensor<16x16xf32, #blocked>
  }

  // CHECK-LABEL: @bf16x3
  tt.func @bf16x3(%a: tensor<16x16xf32, #a>, %b: tensor<16x16xf32, #b>, %c: tensor<16x16xf32, #blocked>) -> tensor<16x16xf32, #blocked> {
    // CHECK-COUNT-3: tt.dot {{.*}} : tensor<16x16xbf16
    // CHECK-NOT: tt.dot
    // CHECK: tt.return
    %d = tt.dot %a, %b, %c, inputPrecision = bf16x3 : tensor<16x16xf32, #a> * tensor<16x16xf32, #b> -> tensor<16x16xf32, #blocked>
    tt.return %d : tensor<16x16xf32, #blocked>
  }

  // CHECK-LABEL: @bf16x6
  tt.func @bf16x6(%a: tensor<16x16xf32, #a>, %b: tensor<16x16xf32, #b>, %c: tensor<16x16xf32, #blocked>) -> tensor<16x16xf32, #blocked> {
    // CHECK-COUNT-6: tt.dot {{.*}} : tensor<16x16xbf16
    // CHECK-NOT: tt.dot
    // CHECK: tt.return
    %d = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<16x16xf32, #a> * tensor<16x16xf32, #b> -> tensor<16x16xf32, #blocked>
    tt.return %d : tensor<16x16xf32, #blocked>
  }

  // CHECK-LABEL: @others
  tt.func @others(%a: tensor<16x16xf32, #a>, %b: tensor<16x16xf32, #b>, %c: tensor<16x16xf32, #blocked>) -> tensor<16x16xf32, #blocked> {
    // CHECK-COUNT-1: tt.dot
    // CHECK-NOT: tt.dot
    // CHECK: tt.return
    %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x16xf32, #a> * tensor<16x16xf32, #b> -> tensor<16x16xf32, #blocked>
    tt.return %d : tensor<16x16xf32, #blocked>
  }
}

// -----

// An instruction for whole fp32 has been chosen.
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 4], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @chosen
  tt.func @chosen(%a: tensor<16x16xf32, #a>, %b: tensor<16x16xf32, #b>, %c: tensor<16x16xf32, #mma>) -> tensor<16x16xf32, #mma> {
    // CHECK-COUNT-1: tt.dot {{.*}} inputPrecision = tf32x3
    // CHECK-NOT: tt.dot
    // CHECK: tt.return
    %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<16x16xf32, #a> * tensor<16x16xf32, #b> -> tensor<16x16xf32, #mma>
    tt.return %d : tensor<16x16xf32, #mma>
  }
}

// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#mma8 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 32]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#f8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#f8t = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
#f8n = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#f8nt = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @wgmma
  // CHECK-SAME: (%[[A:.*]]: !ttg.memdesc<128x64xf16, {{.*}}>, %[[B:.*]]: !ttg.memdesc<64x128xf16, {{.*}}>, %[[C:.*]]: tensor<128x128xf32, #mma>, %[[USE:.*]]: i1, %[[REG:.*]]: tensor<128x64xf16
  tt.func @wgmma(%a: !ttg.memdesc<128x64xf16, #f16, #smem, mutable>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>,
                 %c: tensor<128x128xf32, #mma>, %use: i1,
                 %reg: tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>)
      -> (tensor<128x128xf32, #mma>, tensor<128x128xf32, #mma>) {
    // CHECK: %[[D0:.*]] = ttnvgpu.warp_group_dot %[[A]], %[[B]], %[[C]] {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<128x64xf16, #{{.*}}, #smem, mutable> * !ttg.memdesc<64x128xf16, #{{.*}}, #smem> -> tensor<128x128xf32, #mma>
    %0 = ttnvgpu.warp_group_dot %a, %b, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<128x64xf16, #f16, #smem, mutable> * !ttg.memdesc<64x128xf16, #f16, #smem> -> tensor<128x128xf32, #mma>
    // CHECK: %[[D1:.*]] = ttnvgpu.warp_group_dot %[[REG]], %[[B]], %[[C]], %[[USE]] : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc
    %1 = ttnvgpu.warp_group_dot %reg, %b, %c, %use {inputPrecision = 2 : i32, isAsync = false} : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x128xf16, #f16, #smem> -> tensor<128x128xf32, #mma>
    // CHECK: %{{.*}}:3 = ttnvgpu.warp_group_dot_wait %[[D0]], %[[D1]], %[[A]] {pendings = 0 : i32} : tensor<128x128xf32, #mma>, tensor<128x128xf32, #mma>, !ttg.memdesc<128x64xf16
    %2:3 = ttnvgpu.warp_group_dot_wait %0, %1, %a {pendings = 0 : i32} : tensor<128x128xf32, #mma>, tensor<128x128xf32, #mma>, !ttg.memdesc<128x64xf16, #f16, #smem, mutable>
    tt.return %2#0, %2#1 : tensor<128x128xf32, #mma>, tensor<128x128xf32, #mma>
  }

  // CHECK-LABEL: @wgmma_fp8
  tt.func @wgmma_fp8(%a: !ttg.memdesc<128x64xf8E4M3FN, #f8n, #smem>, %b: !ttg.memdesc<64x128xf8E5M2, #f8nt, #smem>,
                     %c: tensor<128x128xf32, #mma8>) -> tensor<128x128xf32, #mma8> {
    // CHECK: ttnvgpu.warp_group_dot {{.*}} {inputPrecision = 0 : i32, maxNumImpreciseAcc = 32 : i32} :
    %0 = ttnvgpu.warp_group_dot %a, %b, %c {inputPrecision = 0 : i32, maxNumImpreciseAcc = 32 : i32} : !ttg.memdesc<128x64xf8E4M3FN, #f8n, #smem> * !ttg.memdesc<64x128xf8E5M2, #f8nt, #smem> -> tensor<128x128xf32, #mma8>
    tt.return %0 : tensor<128x128xf32, #mma8>
  }

  // CHECK-LABEL: @tcgen5
  // CHECK-SAME: (%[[A:[^:]*]]: {{.*}}, %[[B:[^:]*]]: {{.*}}, %[[D:[^:]*]]: {{.*}}, %[[BAR:[^:]*]]: {{.*}}, %[[USE:[^:]*]]: i1, %[[PRED:[^:]*]]: i1, %[[T:[^:]*]]: !ttg.async.token, %[[TA:[^:]*]]: !ttg.memdesc<128x64xf16, #tmem
  tt.func @tcgen5(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>,
                  %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>,
                  %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %use: i1, %pred: i1, %t: !ttg.async.token,
                  %ta: !ttg.memdesc<128x64xf16, #tmem64, #ttnvgpu.tensor_memory>) {
    // CHECK: ttnvgpu.tc_gen5_mma %[[A]], %[[B]], %[[D]], %[[USE]], %[[PRED]] : !ttg.memdesc<128x64xf16, #{{.*}}, #smem>, !ttg.memdesc<64x128xf16, #{{.*}}, #smem>, !ttg.memdesc<128x128xf32, #tmem{{.*}}, #ttnvgpu.tensor_memory, mutable>
    ttnvgpu.tc_gen5_mma %a, %b, %d, %use, %pred : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tc_gen5_mma %[[TA]], %[[B]], %[[D]], %[[USE]], %[[PRED]], %[[BAR]][%[[PRED]]], %[[BAR]][%[[USE]]] {is_async} : {{.*}}, !ttg.memdesc<1xi64, {{.*}}>, !ttg.memdesc<1xi64, {{.*}}>
    ttnvgpu.tc_gen5_mma %ta, %b, %d, %use, %pred, %bar[%pred], %bar[%use] {is_async} : !ttg.memdesc<128x64xf16, #tmem64, #ttnvgpu.tensor_memory>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: %[[T1:.*]] = ttnvgpu.tc_gen5_mma %[[A]], %[[B]], %[[D]][%[[T]]], %[[USE]], %[[PRED]] :
    %1 = ttnvgpu.tc_gen5_mma %a, %b, %d[%t], %use, %pred : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: %{{.*}} = ttnvgpu.tc_gen5_mma %[[A]], %[[B]], %[[D]][], %[[USE]], %[[PRED]] :
    %2 = ttnvgpu.tc_gen5_mma %a, %b, %d[], %use, %pred : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    // CHECK: ttnvgpu.tc_gen5_commit %[[BAR]] : !ttg.memdesc<1xi64
    ttnvgpu.tc_gen5_commit %bar : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.tc_gen5_commit %[[BAR]], %[[PRED]] {two_ctas} : !ttg.memdesc<1xi64
    ttnvgpu.tc_gen5_commit %bar, %pred {two_ctas} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttnvgpu.tc_gen5_commit %[[BAR]], %[[PRED]] descs %[[A]], %[[B]] : !ttg.memdesc<1xi64{{.*}}>, !ttg.memdesc<128x64xf16{{.*}}>, !ttg.memdesc<64x128xf16
    ttnvgpu.tc_gen5_commit %bar, %pred descs %a, %b : !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>
    tt.return
  }

  // CHECK-LABEL: @tcgen5_scaled
  tt.func @tcgen5_scaled(%a: !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, %b: !ttg.memdesc<128x128xf8E5M2, #f8t, #smem>,
                         %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>,
                         %as: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>,
                         %bs: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>,
                         %a4: !ttg.memdesc<128x64xi8, #f8n, #smem>, %b4: !ttg.memdesc<64x128xi8, #f8nt, #smem>,
                         %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %use: i1, %pred: i1, %t: !ttg.async.token) {
    // CHECK: ttnvgpu.tc_gen5_mma_scaled %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} lhs = e4m3 rhs = e5m2 : {{.*}}, !ttg.memdesc<128x4xi8, #tmem_scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<128x4xi8, #tmem_scales, #ttnvgpu.tensor_memory>
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %as, %bs, %use, %pred lhs = e4m3 rhs = e5m2 : !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, !ttg.memdesc<128x128xf8E5M2, #f8t, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>
    // CHECK: %{{.*}} = ttnvgpu.tc_gen5_mma_scaled %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} lhs = e2m1 rhs = e2m1, %{{.*}}[%{{.*}}] {is_async} : {{.*}}, !ttg.memdesc<1xi64
    %0 = ttnvgpu.tc_gen5_mma_scaled %a4, %b4, %d[%t], %as, %bs, %use, %pred lhs = e2m1 rhs = e2m1, %bar[%pred] {is_async} : !ttg.memdesc<128x64xi8, #f8n, #smem>, !ttg.memdesc<64x128xi8, #f8nt, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }

  // Bytes without a sign, in Triton's spelling too.
  // CHECK-LABEL: @unsigned
  tt.func @unsigned(%a: !ttg.memdesc<128x128xi8, #f8, #smem>, %d: !ttg.memdesc<128x128xi32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
    // CHECK: ttnvgpu.tc_gen5_mma {{.*}} {is_unsigned} :
    ttng.tc_gen5_mma %a, %a, %d, %p, %p {is_unsigned} : !ttg.memdesc<128x128xi8, #f8, #smem>, !ttg.memdesc<128x128xi8, #f8, #smem>, !ttg.memdesc<128x128xi32, #tmem, #ttng.tensor_memory, mutable>
    // CHECK: ttnvgpu.tc_gen5_mma {{.*}} {b_is_unsigned} :
    ttnvgpu.tc_gen5_mma %a, %a, %d, %p, %p {b_is_unsigned} : !ttg.memdesc<128x128xi8, #f8, #smem>, !ttg.memdesc<128x128xi8, #f8, #smem>, !ttg.memdesc<128x128xi32, #tmem, #ttnvgpu.tensor_memory, mutable>
    tt.return
  }
}

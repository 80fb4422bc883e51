// RUN: tile-opt %s -split-input-file -tritongpu-prefetch | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#sa = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#sb = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @matmul
  // CHECK-SAME: %[[RINGA:[^:]*]]: !ttg.memdesc<2x64x32xf16, {{.*}}, %[[RINGB:[^:]*]]: !ttg.memdesc<2x32x64xf16
  // CHECK-SAME: %[[T0:[^:]*]]: !ttg.async.token, %[[T1:[^:]*]]: !ttg.async.token
  tt.func @matmul(%ringA: !ttg.memdesc<2x64x32xf16, #sa, #smem, mutable>, %ringB: !ttg.memdesc<2x32x64xf16, #sb, #smem, mutable>, %t0: !ttg.async.token, %t1: !ttg.async.token, %ptrs: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: %[[W0:.*]] = ttg.async_wait %[[T0]]
    // CHECK: %[[E0:.*]] = arith.xori %c0_i32, %c1_i32
    // CHECK: %[[SLOTA0:.*]] = ttg.memdesc_index %[[RINGA]][%[[E0]]]
    // CHECK: %[[FIRSTA0:.*]] = ttg.memdesc_subslice %[[SLOTA0]][0, 0] : {{.*}} -> !ttg.memdesc<64x16xf16, #shared, #smem, mutable, 64x32>
    // CHECK: %[[A0:.*]] = ttg.local_load %[[FIRSTA0]] token %[[W0]]
    // CHECK: %[[B0:.*]] = ttg.local_load %{{.*}} token %[[W0]] : !ttg.memdesc<16x64xf16, {{.*}}, 32x64>
    // CHECK: scf.for {{.*}} iter_args(%[[ACC:[^ ]*]] = %{{[^,]*}}, %[[X:[^ ]*]] = %c0_i32, %[[T:[^ ]*]] = %[[T0]], %[[U:[^ ]*]] = %[[T1]], %[[A:[^ ]*]] = %[[A0]], %[[B:[^ ]*]] = %[[B0]], %[[W:[^ ]*]] = %[[W0]])
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %x = %c0, %t = %t0, %u = %t1) -> (tensor<64x64xf32, #mma>, i32, !ttg.async.token, !ttg.async.token) : i32 {
      %e = arith.xori %x, %c1 : i32
      // CHECK: %[[E:.*]] = arith.xori %[[X]], %c1_i32
      // CHECK-NOT: ttg.async_wait
      %w = ttg.async_wait %t {num = 0 : i32}
      %slotA = ttg.memdesc_index %ringA[%e] : !ttg.memdesc<2x64x32xf16, #sa, #smem, mutable> -> !ttg.memdesc<64x32xf16, #sa, #smem, mutable>
      %a = ttg.local_load %slotA token %w : !ttg.memdesc<64x32xf16, #sa, #smem, mutable> -> tensor<64x32xf16, #a>
      %slotB = ttg.memdesc_index %ringB[%e] : !ttg.memdesc<2x32x64xf16, #sb, #smem, mutable> -> !ttg.memdesc<32x64xf16, #sb, #smem, mutable>
      %b = ttg.local_load %slotB token %w : !ttg.memdesc<32x64xf16, #sb, #smem, mutable> -> tensor<32x64xf16, #b>
      // CHECK: ttg.memdesc_subslice %{{.*}}[0, 16]
      // CHECK: %[[A1:.*]] = ttg.local_load %{{.*}} token %[[W]]
      // CHECK: ttg.memdesc_subslice %{{.*}}[16, 0]
      // CHECK: %[[B1:.*]] = ttg.local_load %{{.*}} token %[[W]]
      // CHECK: %[[D0:.*]] = tt.dot %[[A]], %[[B]], %[[ACC]]
      // CHECK: %[[W1:.*]] = ttg.async_wait %[[U]] {num = 0 : i32}
      // CHECK: %[[D:.*]] = tt.dot %[[A1]], %[[B1]], %[[D0]]
      %d = tt.dot %a, %b, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      // CHECK: ttg.async_copy_global_to_local
      // CHECK: %[[T2:.*]] = ttg.async_commit_group
      %c = ttg.async_copy_global_to_local %ptrs, %slotA : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #sa, #smem, mutable>
      %v = ttg.async_commit_group tokens %c
      // CHECK: %[[E1:.*]] = arith.xori %[[E]], %c1_i32
      // CHECK: ttg.memdesc_index %[[RINGA]][%[[E1]]]
      // CHECK: %[[A2:.*]] = ttg.local_load %{{.*}} token %[[W1]]
      // CHECK: %[[B2:.*]] = ttg.local_load %{{.*}} token %[[W1]]
      // CHECK: scf.yield %[[D]], %[[E]], %[[U]], %[[T2]], %[[A2]], %[[B2]], %[[W1]]
      scf.yield %d, %e, %u, %v : tensor<64x64xf32, #mma>, i32, !ttg.async.token, !ttg.async.token
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // With two stages the buffers of the next iteration are not on their way yet.
  // CHECK-LABEL: @one_buffer
  // CHECK: scf.for
  // CHECK-NEXT: ttg.async_wait
  // CHECK-NOT: ttg.memdesc_subslice
  tt.func @one_buffer(%bufA: !ttg.memdesc<64x32xf16, #sa, #smem, mutable>, %bufB: !ttg.memdesc<32x64xf16, #sb, #smem, mutable>, %t0: !ttg.async.token, %ptrs: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %t = %t0) -> (tensor<64x64xf32, #mma>, !ttg.async.token) : i32 {
      %w = ttg.async_wait %t {num = 0 : i32}
      %a = ttg.local_load %bufA token %w : !ttg.memdesc<64x32xf16, #sa, #smem, mutable> -> tensor<64x32xf16, #a>
      %b = ttg.local_load %bufB token %w : !ttg.memdesc<32x64xf16, #sb, #smem, mutable> -> tensor<32x64xf16, #b>
      %d = tt.dot %a, %b, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      %c = ttg.async_copy_global_to_local %ptrs, %bufA : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #sa, #smem, mutable>
      %v = ttg.async_commit_group tokens %c
      scf.yield %d, %v : tensor<64x64xf32, #mma>, !ttg.async.token
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#sa = #ttg.swizzled_shared<{vec = 16, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Slices are as deep as a tile of the layout; conversions are cut too, and
  // what is carried are the narrow elements.
  // CHECK-LABEL: @converted
  // CHECK: iter_args({{.*}}) -> (tensor<64x64xf32, #mma>, i32, !ttg.async.token, !ttg.async.token, tensor<64x32xi8, {{.*}}>, tensor<32x64xi8, {{.*}}>, !ttg.async.token)
  // CHECK: arith.sitofp %{{.*}} : tensor<64x32xi8
  // CHECK: tt.dot
  // CHECK-SAME: tensor<64x32xf16
  // CHECK: ttg.async_wait
  // CHECK: arith.sitofp %{{.*}} : tensor<64x32xi8
  // CHECK: tt.dot
  // CHECK-NOT: tt.dot
  tt.func @converted(%ringA: !ttg.memdesc<2x64x64xi8, #sa, #smem, mutable>, %ringB: !ttg.memdesc<2x64x64xi8, #sa, #smem, mutable>, %t0: !ttg.async.token, %t1: !ttg.async.token, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %x = %c0, %t = %t0, %u = %t1) -> (tensor<64x64xf32, #mma>, i32, !ttg.async.token, !ttg.async.token) : i32 {
      %e = arith.xori %x, %c1 : i32
      %w = ttg.async_wait %t {num = 0 : i32}
      %slotA = ttg.memdesc_index %ringA[%e] : !ttg.memdesc<2x64x64xi8, #sa, #smem, mutable> -> !ttg.memdesc<64x64xi8, #sa, #smem, mutable>
      %a = ttg.local_load %slotA token %w : !ttg.memdesc<64x64xi8, #sa, #smem, mutable> -> tensor<64x64xi8, #a>
      %slotB = ttg.memdesc_index %ringB[%e] : !ttg.memdesc<2x64x64xi8, #sa, #smem, mutable> -> !ttg.memdesc<64x64xi8, #sa, #smem, mutable>
      %b = ttg.local_load %slotB token %w : !ttg.memdesc<64x64xi8, #sa, #smem, mutable> -> tensor<64x64xi8, #b>
      %fa = arith.sitofp %a : tensor<64x64xi8, #a> to tensor<64x64xf16, #a>
      %fb = arith.sitofp %b : tensor<64x64xi8, #b> to tensor<64x64xf16, #b>
      %d = tt.dot %fa, %fb, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %v = ttg.async_commit_group
      scf.yield %d, %e, %u, %v : tensor<64x64xf32, #mma>, i32, !ttg.async.token, !ttg.async.token
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#sa = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#sb = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // What the iteration itself puts into a buffer is not there one earlier.
  // CHECK-LABEL: @stored
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttg.local_load
  // CHECK-NOT: ttg.memdesc_subslice
  tt.func @stored(%y: tensor<64x32xf16, #blocked>, %ringA: !ttg.memdesc<2x64x32xf16, #sa, #smem, mutable>, %ringB: !ttg.memdesc<2x32x64xf16, #sb, #smem, mutable>, %t0: !ttg.async.token, %t1: !ttg.async.token, %ptrs: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %x = %c0, %t = %t0, %u = %t1) -> (tensor<64x64xf32, #mma>, i32, !ttg.async.token, !ttg.async.token) : i32 {
      %e = arith.xori %x, %c1 : i32
      %w = ttg.async_wait %t {num = 0 : i32}
      %slotA = ttg.memdesc_index %ringA[%e] : !ttg.memdesc<2x64x32xf16, #sa, #smem, mutable> -> !ttg.memdesc<64x32xf16, #sa, #smem, mutable>
      ttg.local_store %y, %slotA : tensor<64x32xf16, #blocked> -> !ttg.memdesc<64x32xf16, #sa, #smem, mutable>
      %a = ttg.local_load %slotA token %w : !ttg.memdesc<64x32xf16, #sa, #smem, mutable> -> tensor<64x32xf16, #a>
      %slotB = ttg.memdesc_index %ringB[%e] : !ttg.memdesc<2x32x64xf16, #sb, #smem, mutable> -> !ttg.memdesc<32x64xf16, #sb, #smem, mutable>
      %b = ttg.local_load %slotB token %w : !ttg.memdesc<32x64xf16, #sb, #smem, mutable> -> tensor<32x64xf16, #b>
      %d = tt.dot %a, %b, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      %c = ttg.async_copy_global_to_local %ptrs, %slotA : tensor<64x32x!tt.ptr<f16>, #blocked> -> <64x32xf16, #sa, #smem, mutable>
      %v = ttg.async_commit_group tokens %c
      scf.yield %d, %e, %u, %v : tensor<64x64xf32, #mma>, i32, !ttg.async.token, !ttg.async.token
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}

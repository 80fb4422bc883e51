// RUN: tile-opt %s -split-input-file -roll-fma-dots | filecheck %s

// 16,384 multiply-adds of each thread become 1,024 in a loop. What brought the
// operands into place goes.

#sum = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#a = #ttg.dot_op<{opIdx = 0, parent = #sum}>
#b = #ttg.dot_op<{opIdx = 1, parent = #sum}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @large
tt.func @large(%x: tensor<128x64xf32, #rows>, %y: tensor<64x64xf32, #rows>, %c: tensor<128x64xf32, #sum>) -> tensor<128x64xf32, #sum> {
  // CHECK-NEXT: %[[CUT:.*]] = tt.reshape %{{.*}} -> tensor<128x16x4xf32,
  // CHECK-NEXT: %[[FIRST:.*]] = tt.trans %[[CUT]] {order = array<i32: 1, 0, 2>} {{.*}} -> tensor<16x128x4xf32,
  // CHECK-NEXT: %[[ROWS:.*]] = tt.reshape %[[FIRST]] {{.*}} -> tensor<2048x4xf32,
  // CHECK-NEXT: %[[A:.*]] = ttg.local_alloc %[[ROWS]]
  // CHECK-NEXT: %[[AS:.*]] = ttg.memdesc_reinterpret %[[A]] {{.*}} -> !ttg.memdesc<16x128x4xf32,
  // CHECK-NEXT: %[[B:.*]] = ttg.local_alloc %{{.*}} : (tensor<64x64xf32,
  // CHECK-NEXT: %[[BS:.*]] = ttg.memdesc_reinterpret %[[B]] {{.*}} -> !ttg.memdesc<16x4x64xf32,
  // CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %{{.*}} to %c16_i32 step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
  // CHECK-NEXT: %[[AI:.*]] = ttg.memdesc_index %[[AS]][%[[I]]]
  // CHECK-NEXT: %[[AV:.*]] = ttg.local_load %[[AI]] {{.*}} -> tensor<128x4xf32, #ttg.dot_op<{opIdx = 0
  // CHECK-NEXT: %[[BI:.*]] = ttg.memdesc_index %[[BS]][%[[I]]]
  // CHECK-NEXT: %[[BV:.*]] = ttg.local_load %[[BI]] {{.*}} -> tensor<4x64xf32, #ttg.dot_op<{opIdx = 1
  // CHECK-NEXT: %[[NEXT:.*]] = tt.dot %[[AV]], %[[BV]], %[[ACC]] :
  // CHECK-NEXT: scf.yield %[[NEXT]]
  // CHECK-NEXT: }
  // CHECK-NEXT: tt.return %[[SUM]]
  %xs = ttg.local_alloc %x : (tensor<128x64xf32, #rows>) -> !ttg.memdesc<128x64xf32, #shared, #smem>
  %ys = ttg.local_alloc %y : (tensor<64x64xf32, #rows>) -> !ttg.memdesc<64x64xf32, #shared, #smem>
  %a = ttg.local_load %xs : !ttg.memdesc<128x64xf32, #shared, #smem> -> tensor<128x64xf32, #a>
  %b = ttg.local_load %ys : !ttg.memdesc<64x64xf32, #shared, #smem> -> tensor<64x64xf32, #b>
  ttg.local_dealloc %xs : !ttg.memdesc<128x64xf32, #shared, #smem>
  %d = tt.dot %a, %b, %c : tensor<128x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<128x64xf32, #sum>
  tt.return %d : tensor<128x64xf32, #sum>
}

// 4,096 of them stay in straight line.

// CHECK-LABEL: @at_the_limit
tt.func @at_the_limit(%a: tensor<64x32xf32, #a>, %b: tensor<32x64xf32, #b>, %c: tensor<64x64xf32, #sum>) -> tensor<64x64xf32, #sum> {
  // CHECK-NEXT: tt.dot
  %d = tt.dot %a, %b, %c : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #sum>
  tt.return %d : tensor<64x64xf32, #sum>
}

// All dots of a function count. The largest is rolled first, and then there are
// few enough.

// CHECK-LABEL: @two
tt.func @two(%a: tensor<64x32xf32, #a>, %b: tensor<32x64xf32, #b>, %s: tensor<64x2xf32, #a>, %t: tensor<2x64xf32, #b>, %c: tensor<64x64xf32, #sum>) -> tensor<64x64xf32, #sum> {
  // CHECK-NOT: scf.for
  // CHECK: tt.dot {{.*}} tensor<64x2xf32
  // CHECK: scf.for
  // CHECK: tt.dot {{.*}} tensor<64x8xf32
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: tt.return
  %d = tt.dot %s, %t, %c : tensor<64x2xf32, #a> * tensor<2x64xf32, #b> -> tensor<64x64xf32, #sum>
  %e = tt.dot %a, %b, %d : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #sum>
  tt.return %e : tensor<64x64xf32, #sum>
}

// Two dots of one left operand share its slices.

// CHECK-LABEL: @shared
tt.func @shared(%x: tensor<128x64xf32, #rows>, %b: tensor<64x64xf32, #b>, %e: tensor<64x64xf32, #b>, %c: tensor<128x64xf32, #sum>) -> tensor<128x64xf32, #sum> {
  // CHECK: %[[X:.*]] = ttg.local_alloc %{{.*}} : (tensor<2048x4xf32,
  // CHECK-NEXT: %[[XS:.*]] = ttg.memdesc_reinterpret %[[X]]
  // CHECK-NOT: tensor<2048x4xf32
  // CHECK-COUNT-2: ttg.memdesc_index %[[XS]]
  // CHECK-NOT: tensor<2048x4xf32
  // CHECK: tt.return
  %xs = ttg.local_alloc %x : (tensor<128x64xf32, #rows>) -> !ttg.memdesc<128x64xf32, #shared, #smem>
  %a = ttg.local_load %xs : !ttg.memdesc<128x64xf32, #shared, #smem> -> tensor<128x64xf32, #a>
  %d = tt.dot %a, %b, %c : tensor<128x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<128x64xf32, #sum>
  %f = tt.dot %a, %e, %d : tensor<128x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<128x64xf32, #sum>
  tt.return %f : tensor<128x64xf32, #sum>
}

// A ring stays. Its elements are read once by each thread, and converted slice
// by slice.

// CHECK-LABEL: @ring
tt.func @ring(%ring: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %b: tensor<64x64xf32, #b>, %c: tensor<128x64xf32, #sum>, %token: !ttg.async.token) -> tensor<128x64xf32, #sum> {
  // CHECK-NEXT: %[[X:.*]] = ttg.local_load %{{.*}} token %{{.*}} -> tensor<128x64xf16, #[[LAYOUT:blocked[0-9]*]]>
  // CHECK-NEXT: tt.reshape %[[X]]
  // CHECK: scf.for
  // CHECK: %[[SLICE:.*]] = ttg.local_load {{.*}} -> tensor<128x4xf16,
  // CHECK: arith.extf %{{.*}} : tensor<128x4xf16, {{.*}}> to tensor<128x4xf32,
  %x = ttg.local_load %ring token %token : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #a>
  %a = arith.extf %x : tensor<128x64xf16, #a> to tensor<128x64xf32, #a>
  %d = tt.dot %a, %b, %c : tensor<128x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<128x64xf32, #sum>
  tt.return %d : tensor<128x64xf32, #sum>
}
}

// -----

// The operands take 80 KiB of the 64 that a block may have.

#sum = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #sum}>
#b = #ttg.dot_op<{opIdx = 1, parent = #sum}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:75", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @too_much
tt.func @too_much(%a: tensor<64x256xf32, #a>, %b: tensor<256x16xf32, #b>, %c: tensor<64x16xf32, #sum>) -> tensor<64x16xf32, #sum> {
  // CHECK-NEXT: tt.dot
  %d = tt.dot %a, %b, %c : tensor<64x256xf32, #a> * tensor<256x16xf32, #b> -> tensor<64x16xf32, #sum>
  tt.return %d : tensor<64x16xf32, #sum>
}
}

// -----

// Dots of a matrix instruction do not count.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @instruction
tt.func @instruction(%a: tensor<128x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
  // CHECK-NEXT: tt.dot
  %d = tt.dot %a, %b, %c : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
  tt.return %d : tensor<128x64xf32, #mma>
}
}

// -----

// Without layouts nothing is known of what a thread multiplies.

// CHECK-LABEL: tt.func @no_layouts
// CHECK-NOT: scf.for
tt.func @no_layouts(%a: tensor<128x64xf32>, %b: tensor<64x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = tt.dot %a, %b, %c : tensor<128x64xf32> * tensor<64x128xf32> -> tensor<128x128xf32>
  tt.return %0 : tensor<128x128xf32>
}

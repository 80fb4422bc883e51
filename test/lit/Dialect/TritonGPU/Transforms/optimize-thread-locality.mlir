// RUN: tile-opt %s -tritongpu-optimize-thread-locality -split-input-file | filecheck %s

// The exchange between threads leaves the loop. A thread owns 4 neighbours of a
// row, twice; 16 threads share the row.

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#slice = #ttg.slice<{dim = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: @sum
  tt.func @sum(%p: tensor<64x128x!tt.ptr<f32>, #blocked>, %n: i32, %init: tensor<64xf32, #slice>) -> tensor<64xf32, #slice> {
    // CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<64x16xf32
    // CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%[[ARG:.*]] = %[[ZERO]]) -> (tensor<64x16xf32
    // CHECK: %[[X:.*]] = tt.load
    // CHECK: %[[V:.*]] = tt.reshape %[[X]] : tensor<64x128xf32, #blocked> -> tensor<64x2x16x4xf32
    // CHECK: %[[R:.*]] = "tt.reduce"(%[[V]]) <{axis = 3 : i32}>
    // CHECK: -> tensor<64x2x16xf32
    // CHECK: %[[S:.*]] = "tt.reduce"(%[[R]]) <{axis = 1 : i32}>
    // CHECK: -> tensor<64x16xf32
    // CHECK: %[[U:.*]] = arith.addf %[[ARG]], %[[S]] : tensor<64x16xf32
    // CHECK: scf.yield %[[U]]
    // CHECK: %[[T:.*]] = "tt.reduce"(%[[L]]) <{axis = 1 : i32}>
    // CHECK: %[[C:.*]] = ttg.convert_layout %[[T]] : {{.*}} -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    // CHECK: %[[F:.*]] = arith.addf %arg2, %[[C]]
    // CHECK: tt.return %[[F]]
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<64xf32, #slice> : i32 {
      %x = tt.load %p : tensor<64x128x!tt.ptr<f32>, #blocked>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %ss = arith.addf %a, %b : f32
        tt.reduce.return %ss : f32
      }) : (tensor<64x128xf32, #blocked>) -> tensor<64xf32, #slice>
      %na = arith.addf %acc, %s : tensor<64xf32, #slice>
      scf.yield %na : tensor<64xf32, #slice>
    }
    tt.return %r : tensor<64xf32, #slice>
  }

  // The running maximum, with the operands the other way round, and a user that
  // reduces the result of the loop.

  // CHECK-LABEL: @max
  tt.func @max(%p: tensor<64x128x!tt.ptr<i32>, #blocked>, %n: i32, %init: tensor<64xi32, #slice>) -> i32 {
    // CHECK: arith.constant dense<-2147483648> : tensor<64x16xi32
    // CHECK: scf.for
    // CHECK: arith.maxsi %{{.*}}, %{{.*}} : tensor<64x16xi32
    // CHECK: scf.yield
    // CHECK: "tt.reduce"
    // CHECK: %[[F:.*]] = arith.maxsi %arg2, 
    // CHECK: "tt.reduce"(%[[F]]) <{axis = 0 : i32}>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<64xi32, #slice> : i32 {
      %x = tt.load %p : tensor<64x128x!tt.ptr<i32>, #blocked>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: i32, %b: i32):
        %ss = arith.maxsi %a, %b : i32
        tt.reduce.return %ss : i32
      }) : (tensor<64x128xi32, #blocked>) -> tensor<64xi32, #slice>
      %na = arith.maxsi %s, %acc : tensor<64xi32, #slice>
      scf.yield %na : tensor<64xi32, #slice>
    }
    %all = "tt.reduce"(%r) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %ss = arith.maxsi %a, %b : i32
      tt.reduce.return %ss : i32
    }) : (tensor<64xi32, #slice>) -> i32
    tt.return %all : i32
  }

  // The running value is looked at in the loop, or another operation updates it.

  // CHECK-LABEL: @kept
  tt.func @kept(%p: tensor<64x128x!tt.ptr<f32>, #blocked>, %n: i32, %init: tensor<64xf32, #slice>) -> (tensor<64xf32, #slice>, tensor<64xf32, #slice>) {
    // CHECK-NOT: tt.reshape
    // CHECK: tt.return
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %acc2 = %init) -> (tensor<64xf32, #slice>, tensor<64xf32, #slice>) : i32 {
      %x = tt.load %p : tensor<64x128x!tt.ptr<f32>, #blocked>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %ss = arith.addf %a, %b : f32
        tt.reduce.return %ss : f32
      }) : (tensor<64x128xf32, #blocked>) -> tensor<64xf32, #slice>
      %na = arith.addf %acc, %s : tensor<64xf32, #slice>
      tt.print "acc" {hex = false, isSigned = array<i32: 0>} : %acc : tensor<64xf32, #slice>
      %t = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %ss = arith.addf %a, %b : f32
        tt.reduce.return %ss : f32
      }) : (tensor<64x128xf32, #blocked>) -> tensor<64xf32, #slice>
      %nb = arith.mulf %acc2, %t : tensor<64xf32, #slice>
      scf.yield %na, %nb : tensor<64xf32, #slice>, tensor<64xf32, #slice>
    }
    tt.return %r#0, %r#1 : tensor<64xf32, #slice>, tensor<64xf32, #slice>
  }
}

// -----

// Sums that are scaled before each addition: threads scale their parts, of
// which each starts from its share.

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#slice = #ttg.slice<{dim = 1, parent = #mma}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: @scaled
  // CHECK-SAME: (%[[X:[^:]*]]: tensor<64x64xf32, {{.*}}>, %[[F:[^:]*]]: {{.*}}, %{{.*}}: i32, %[[INIT:[^:]*]]:
  tt.func @scaled(%x: tensor<64x64xf32, #mma>, %factor: tensor<64xf32, #slice>, %n: i32, %init: tensor<64xf32, #slice>) -> tensor<64xf32, #slice> {
    // CHECK: %[[QUARTER:.*]] = arith.constant dense<2.500000e-01> : tensor<64xf32
    // CHECK: %[[SHARE:.*]] = arith.mulf %[[INIT]], %[[QUARTER]]
    // CHECK: %[[C:.*]] = ttg.convert_layout %[[SHARE]]
    // CHECK: %[[E:.*]] = tt.expand_dims %[[C]] {axis = 1 : i32}
    // CHECK: %[[SHARES:.*]] = tt.broadcast %[[E]] : {{.*}} -> tensor<64x4xf32
    // CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%[[ARG:.*]] = %[[SHARES]]) -> (tensor<64x4xf32
    // CHECK: tt.reshape %[[X]] : {{.*}} -> tensor<64x8x4x2xf32
    // CHECK: %[[R:.*]] = "tt.reduce"({{.*}}) <{axis = 1 : i32}>
    // CHECK: -> tensor<64x4xf32
    // CHECK: ttg.convert_layout %[[F]]
    // CHECK: %[[FACTORS:.*]] = tt.broadcast {{.*}} -> tensor<64x4xf32
    // CHECK: %[[S:.*]] = arith.mulf %[[ARG]], %[[FACTORS]]
    // CHECK: %[[U:.*]] = arith.addf %[[S]], %[[R]]
    // CHECK: scf.yield %[[U]]
    // CHECK: %[[T:.*]] = "tt.reduce"(%[[L]]) <{axis = 1 : i32}>
    // CHECK: %[[RESULT:.*]] = ttg.convert_layout %[[T]] : {{.*}} -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
    // CHECK: tt.return %[[RESULT]]
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<64xf32, #slice> : i32 {
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %ss = arith.addf %a, %b : f32
        tt.reduce.return %ss : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #slice>
      %scaled = arith.mulf %acc, %factor : tensor<64xf32, #slice>
      %na = arith.addf %scaled, %s : tensor<64xf32, #slice>
      scf.yield %na : tensor<64xf32, #slice>
    }
    tt.return %r : tensor<64xf32, #slice>
  }

  // Maxima are not linear, shares of small numbers not exact.
  // CHECK-LABEL: @not_scaled
  tt.func @not_scaled(%x: tensor<64x64xf32, #mma>, %h: tensor<64x64xf16, #mma>, %factor: tensor<64xf32, #slice>, %narrow: tensor<64xf16, #slice>, %n: i32) -> (tensor<64xf32, #slice>, tensor<64xf16, #slice>) {
    // CHECK-NOT: tt.reshape
    // CHECK: tt.return
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%top = %factor, %acc = %narrow) -> (tensor<64xf32, #slice>, tensor<64xf16, #slice>) : i32 {
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %ss = arith.maxnumf %a, %b : f32
        tt.reduce.return %ss : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #slice>
      %scaled = arith.mulf %top, %factor : tensor<64xf32, #slice>
      %na = arith.maxnumf %scaled, %m : tensor<64xf32, #slice>
      %s = "tt.reduce"(%h) <{axis = 1 : i32}> ({
      ^bb0(%a: f16, %b: f16):
        %ss = arith.addf %a, %b : f16
        tt.reduce.return %ss : f16
      }) : (tensor<64x64xf16, #mma>) -> tensor<64xf16, #slice>
      %smaller = arith.mulf %acc, %narrow : tensor<64xf16, #slice>
      %nb = arith.addf %smaller, %s : tensor<64xf16, #slice>
      scf.yield %na, %nb : tensor<64xf32, #slice>, tensor<64xf16, #slice>
    }
    tt.return %r#0, %r#1 : tensor<64xf32, #slice>, tensor<64xf16, #slice>
  }
}

// -----

// One warp holds the dimension that the indices refer to.

// CHECK-DAG: #[[ROW:.*]] = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[COL:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK-DAG: #[[SHORT:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: @gather
  tt.func @gather(%a: tensor<32x64xf32, #blocked>, %i: tensor<32x64xi32, #blocked>, %b: tensor<8x64xf32, #blocked>, %l: tensor<256xf32, #line>, %k: tensor<256xi32, #line>)
      -> (tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>, tensor<256xf32, #line>) {
    // CHECK: %[[S:.*]] = ttg.convert_layout %arg0 : {{.*}} -> tensor<32x64xf32, #[[ROW]]>
    // CHECK: %[[I:.*]] = ttg.convert_layout %arg1 : {{.*}} -> tensor<32x64xi32, #[[ROW]]>
    // CHECK: %[[G:.*]] = tt.gather %[[S]][%[[I]]] {axis = 1 : i32, efficient_layout}
    // CHECK: ttg.convert_layout %[[G]] : {{.*}} -> tensor<32x64xf32, #blocked>
    %0 = tt.gather %a[%i] {axis = 1 : i32} : (tensor<32x64xf32, #blocked>, tensor<32x64xi32, #blocked>) -> tensor<32x64xf32, #blocked>
    // CHECK: tt.gather {{.*}} {axis = 0 : i32, efficient_layout} : {{.*}} -> tensor<32x64xf32, #[[COL]]>
    %1 = tt.gather %a[%i] {axis = 0 : i32} : (tensor<32x64xf32, #blocked>, tensor<32x64xi32, #blocked>) -> tensor<32x64xf32, #blocked>
    // CHECK: tt.gather {{.*}} {axis = 0 : i32, efficient_layout} : {{.*}} -> tensor<32x64xf32, #[[SHORT]]>
    %2 = tt.gather %b[%i] {axis = 0 : i32} : (tensor<8x64xf32, #blocked>, tensor<32x64xi32, #blocked>) -> tensor<32x64xf32, #blocked>
    // CHECK: tt.gather {{.*}} {axis = 0 : i32, efficient_layout} : (tensor<256xf32, #[[LINE:.*]]>, tensor<256xi32
    %3 = tt.gather %l[%k] {axis = 0 : i32} : (tensor<256xf32, #line>, tensor<256xi32, #line>) -> tensor<256xf32, #line>
    tt.return %0, %1, %2, %3 : tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>, tensor<256xf32, #line>
  }
}

// -----

// Threads combine what they have of both tensors, and exchange once.

#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#two = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: @two_tensors
  tt.func @two_tensors(%x: tensor<512xf32, #four>, %y: tensor<256xf32, #two>) -> f32 {
    // CHECK: tt.reshape %arg0 : {{.*}} -> tensor<128x4xf32
    // CHECK: %[[X:.*]] = "tt.reduce"
    // CHECK: -> tensor<128xf32
    // CHECK: tt.reshape %arg1 : {{.*}} -> tensor<128x2xf32
    // CHECK: %[[Y:.*]] = "tt.reduce"
    // CHECK: -> tensor<128xf32
    // CHECK: %[[Z:.*]] = ttg.convert_layout %[[Y]]
    // CHECK: %[[BOTH:.*]] = arith.maxnumf %[[X]], %[[Z]] : tensor<128xf32
    // CHECK: %[[ALL:.*]] = "tt.reduce"(%[[BOTH]])
    // CHECK: -> f32
    // CHECK: tt.return %[[ALL]]
    %a = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%0: f32, %1: f32):
      %2 = arith.maxnumf %0, %1 : f32
      tt.reduce.return %2 : f32
    }) : (tensor<512xf32, #four>) -> f32
    %b = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%0: f32, %1: f32):
      %2 = arith.maxnumf %0, %1 : f32
      tt.reduce.return %2 : f32
    }) : (tensor<256xf32, #two>) -> f32
    %r = arith.maxnumf %a, %b : f32
    tt.return %r : f32
  }

  // A sum of maxima is no such thing. Of 64 elements, two warps have each.
  // CHECK-LABEL: @others
  tt.func @others(%x: tensor<512xf32, #four>, %y: tensor<64xf32, #one>) -> f32 {
    // CHECK-NOT: tt.reshape
    %a = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%0: f32, %1: f32):
      %2 = arith.maxnumf %0, %1 : f32
      tt.reduce.return %2 : f32
    }) : (tensor<512xf32, #four>) -> f32
    %b = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      tt.reduce.return %2 : f32
    }) : (tensor<64xf32, #one>) -> f32
    %c = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      tt.reduce.return %2 : f32
    }) : (tensor<512xf32, #four>) -> f32
    %r = arith.addf %b, %c : f32
    %s = arith.addf %r, %a : f32
    tt.return %s : f32
  }
}

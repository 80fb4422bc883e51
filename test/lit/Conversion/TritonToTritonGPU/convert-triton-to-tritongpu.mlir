// RUN: tile-opt %s -split-input-file -convert-triton-to-tritongpu='target=cuda:90 num-warps=4' | filecheck %s
// RUN: tile-opt %s -split-input-file -convert-triton-to-tritongpu='target=hip:gfx942 num-warps=2 threads-per-warp=64 num-ctas=2' | filecheck %s --check-prefix=OTHER

// The machine goes on the module; threads spread over the fastest dimension
// first, one element each.
// CHECK-DAG: [[B1:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[B2:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}
// OTHER-DAG: #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [2], order = [0], CGALayout = {{\[\[1\]\]}}}>
// OTHER: module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32}
module {
  // CHECK-LABEL: @elementwise
  // CHECK-SAME: %{{.*}}: tensor<16x64xf32, [[B2]]>) -> tensor<16x64xf32, [[B2]]>
  tt.func @elementwise(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
    // CHECK: arith.constant dense<1.000000e+00> : tensor<16x64xf32, [[B2]]>
    %cst = arith.constant dense<1.0> : tensor<16x64xf32>
    // CHECK: tt.make_range {{.*}} : tensor<128xi32, [[B1]]>
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    // CHECK: arith.addf {{.*}} : tensor<16x64xf32, [[B2]]>
    %y = arith.addf %x, %cst : tensor<16x64xf32>
    // CHECK: tt.return {{.*}} : tensor<16x64xf32, [[B2]]>
    tt.return %y : tensor<16x64xf32>
  }
}

// -----

// CHECK-DAG: [[B1:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-LABEL: @shapes
tt.func @shapes() {
  // CHECK: [[R:%.*]] = tt.make_range
  %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK: [[S:%.*]] = ttg.convert_layout [[R]] : tensor<16xi32, [[B1]]> -> tensor<16xi32, #ttg.slice<{dim = 1, parent = [[COL:#blocked[0-9]*]]}>>
  // CHECK: [[E:%.*]] = tt.expand_dims [[S]] {{.*}} -> tensor<16x1xi32, [[COL]]>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // The smaller operand is converted, not the larger result.
  // CHECK: [[C:%.*]] = ttg.convert_layout [[E]] : tensor<16x1xi32, [[COL]]> -> tensor<16x1xi32, [[BIG:#blocked[0-9]*]]>
  // CHECK: tt.broadcast [[C]] : tensor<16x1xi32, [[BIG]]> -> tensor<16x64xi32, [[BIG]]>
  %2 = tt.broadcast %1 : tensor<16x1xi32> -> tensor<16x64xi32>
  // CHECK: [[T:%.*]] = tt.trans {{.*}} : tensor<16x64xi32, [[BIG]]> -> tensor<64x16xi32, [[TR:#blocked[0-9]*]]>
  // CHECK: ttg.convert_layout [[T]] : tensor<64x16xi32, [[TR]]>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<16x64xi32> -> tensor<64x16xi32>
  // CHECK: tt.reshape {{.*}} -> tensor<1024xi32
  %4 = tt.reshape %3 : tensor<64x16xi32> -> tensor<1024xi32>
  tt.return
}

// -----

// CHECK-LABEL: @reduce
tt.func @reduce(%x: tensor<16x64xf32>) -> (tensor<16xf32>, f32) {
  // CHECK: [[R:%.*]] = "tt.reduce"
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  // CHECK: (tensor<16x64xf32, [[B:#blocked[0-9]*]]>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = [[B]]}>>
  }) : (tensor<16x64xf32>) -> tensor<16xf32>
  // CHECK: [[C:%.*]] = ttg.convert_layout [[R]]
  // CHECK: "tt.reduce"([[C]])
  %1 = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<16xf32>) -> f32
  tt.return %0, %1 : tensor<16xf32>, f32
}

// -----

// CHECK-DAG: [[DOT:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @dot
tt.func @dot(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK-DAG: [[A:%.*]] = ttg.convert_layout {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = [[DOT]]}>>
  // CHECK-DAG: [[B:%.*]] = ttg.convert_layout {{.*}} -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = [[DOT]]}>>
  // CHECK-DAG: [[C:%.*]] = ttg.convert_layout {{.*}} -> tensor<64x64xf32, [[DOT]]>
  // CHECK: [[D:%.*]] = tt.dot [[A]], [[B]], [[C]]
  // CHECK: ttg.convert_layout [[D]]
  %d = tt.dot %a, %b, %c : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  tt.return %d : tensor<64x64xf32>
}

// -----

// Both halves of a pair sit in one thread before a split and after a join.
// CHECK-DAG: [[PAIR:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [1, 32, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// CHECK-LABEL: @pairs
tt.func @pairs(%x: tensor<32x32x2xf32>) -> tensor<32x32x2xf32> {
  // CHECK: [[C:%.*]] = ttg.convert_layout {{.*}} -> tensor<32x32x2xf32, [[PAIR]]>
  // CHECK: tt.split [[C]]
  %l, %r = tt.split %x : tensor<32x32x2xf32> -> tensor<32x32xf32>
  // CHECK: [[J:%.*]] = tt.join {{.*}} -> tensor<32x32x2xf32, [[PAIR]]>
  // CHECK: ttg.convert_layout [[J]]
  %j = tt.join %r, %l : tensor<32x32xf32> -> tensor<32x32x2xf32>
  tt.return %j : tensor<32x32x2xf32>
}

// -----

// A thread gets the elements it had of both operands.
// CHECK-DAG: [[CAT:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-LABEL: @cat
tt.func @cat(%x: tensor<256xf32>) -> tensor<512xf32> {
  // CHECK: tt.cat {{.*}} -> tensor<512xf32, [[CAT]]>
  %c = tt.cat %x, %x : tensor<256xf32> -> tensor<512xf32>
  tt.return %c : tensor<512xf32>
}

// -----

// CHECK-LABEL: @control_flow
tt.func @control_flow(%x: tensor<64xi32>, %n: i32, %c: i1) -> tensor<64xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for {{.*}} -> (tensor<64xi32, #blocked>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<64xi32>) : i32 {
    // CHECK: scf.if {{.*}} -> (tensor<64xi32, #blocked>)
    %y = scf.if %c -> tensor<64xi32> {
      scf.yield %a : tensor<64xi32>
    } else {
      // CHECK: tt.call @callee({{.*}}) : (tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked>
      %z = tt.call @callee(%a) : (tensor<64xi32>) -> tensor<64xi32>
      scf.yield %z : tensor<64xi32>
    }
    scf.yield %y : tensor<64xi32>
  }
  // CHECK: cf.br ^bb1(%{{.*}} : tensor<64xi32, #blocked>)
  cf.br ^bb1(%r : tensor<64xi32>)
// CHECK: ^bb1(%{{.*}}: tensor<64xi32, #blocked>)
^bb1(%s: tensor<64xi32>):
  tt.return %s : tensor<64xi32>
}
tt.func private @callee(%x: tensor<64xi32>) -> tensor<64xi32> {
  tt.return %x : tensor<64xi32>
}

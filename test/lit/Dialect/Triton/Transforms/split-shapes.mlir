// RUN: tile-opt %s -split-input-file -triton-split-shapes -canonicalize | filecheck %s

// CHECK-LABEL: tt.func @elementwise
tt.func @elementwise(%p: !tt.ptr<i32>) {
  // CHECK-DAG: %[[R0:.*]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-DAG: %[[R1:.*]] = tt.make_range {end = 96 : i32, start = 64 : i32} : tensor<32xi32>
  // CHECK-DAG: %[[P0:.*]] = tt.splat %{{.*}} -> tensor<64x!tt.ptr<i32>>
  // CHECK-DAG: %[[P1:.*]] = tt.splat %{{.*}} -> tensor<32x!tt.ptr<i32>>
  // CHECK-DAG: %[[A0:.*]] = tt.addptr %[[P0]], %[[R0]]
  // CHECK-DAG: %[[A1:.*]] = tt.addptr %[[P1]], %[[R1]]
  // CHECK: tt.store %[[A0]], %[[R0]] {tt.piece = array<i32: 0, 96>} : tensor<64x!tt.ptr<i32>>
  // CHECK: tt.store %[[A1]], %[[R1]] {tt.piece = array<i32: 1, 96>} : tensor<32x!tt.ptr<i32>>
  // CHECK-NOT: tensor<96
  %r = tt.make_range {end = 96 : i32, start = 0 : i32} : tensor<96xi32>
  %q = tt.splat %p : !tt.ptr<i32> -> tensor<96x!tt.ptr<i32>>
  %a = tt.addptr %q, %r : tensor<96x!tt.ptr<i32>>, tensor<96xi32>
  tt.store %a, %r : tensor<96x!tt.ptr<i32>>
  tt.return
}

// -----

// A run of 16 neighbours is cut where a piece is shorter.
// CHECK-LABEL: tt.func @facts
tt.func @facts(%x: tensor<24xi32>) -> tensor<24xi32> {
  // CHECK: arith.addi {{.*}} {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<32> : tensor<1xi32>} : tensor<16xi32>
  // CHECK: arith.addi {{.*}} {tt.contiguity = dense<8> : tensor<1xi32>, tt.divisibility = dense<8> : tensor<1xi32>} : tensor<8xi32>
  %0 = arith.addi %x, %x {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<32> : tensor<1xi32>} : tensor<24xi32>
  tt.return %0 : tensor<24xi32>
}

// -----

// A matrix of 3 x 6 has four pieces. Each broadcast takes the piece of its row.
// CHECK-LABEL: tt.func @broadcast
// CHECK-SAME: (%[[A:.*]]: tensor<2x1xf32>, %[[B:.*]]: tensor<1x1xf32>)
tt.func @broadcast(%x: tensor<3x1xf32>) -> tensor<3x6xf32> {
  // CHECK: %[[R0:.*]] = tt.broadcast %[[A]] : tensor<2x1xf32> -> tensor<2x4xf32>
  // CHECK: %[[R1:.*]] = tt.broadcast %[[A]] : tensor<2x1xf32> -> tensor<2x2xf32>
  // CHECK: %[[R2:.*]] = tt.broadcast %[[B]] : tensor<1x1xf32> -> tensor<1x4xf32>
  // CHECK: %[[R3:.*]] = tt.broadcast %[[B]] : tensor<1x1xf32> -> tensor<1x2xf32>
  // CHECK: tt.return %[[R0]], %[[R1]], %[[R2]], %[[R3]]
  %0 = tt.broadcast %x : tensor<3x1xf32> -> tensor<3x6xf32>
  tt.return %0 : tensor<3x6xf32>
}

// -----

// CHECK-LABEL: tt.func @loop
tt.func @loop(%x: tensor<96xf32>, %n: i32) -> tensor<96xf32> {
  // CHECK: scf.for {{.*}} iter_args({{.*}}) -> (tensor<64xf32>, tensor<32xf32>)
  // CHECK: tt.num_stages = 3
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<96xf32> : i32 {
    %b = arith.addf %a, %x : tensor<96xf32>
    scf.yield %b : tensor<96xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %0 : tensor<96xf32>
}

// -----

// CHECK-LABEL: tt.func @reduce
// CHECK-SAME: (%[[A:.*]]: tensor<64xf32>, %[[B:.*]]: tensor<32xf32>)
tt.func @reduce(%x: tensor<96xf32>) -> f32 {
  // CHECK: %[[RA:.*]] = "tt.reduce"(%[[A]])
  // CHECK: (tensor<64xf32>) -> f32
  // CHECK: %[[RB:.*]] = "tt.reduce"(%[[B]])
  // CHECK: (tensor<32xf32>) -> f32
  // CHECK: %[[R:.*]] = arith.addf %[[RA]], %[[RB]] : f32
  // CHECK: tt.return %[[R]]
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<96xf32>) -> f32
  tt.return %0 : f32
}

// -----

// From the last piece on, the first element of what was scanned goes on.
// CHECK-LABEL: tt.func @reverse_scan
// CHECK-SAME: (%[[A:.*]]: tensor<64xi32>, %[[B:.*]]: tensor<32xi32>)
tt.func @reverse_scan(%x: tensor<96xi32>) -> tensor<96xi32> {
  // CHECK: %[[SB:.*]] = "tt.scan"(%[[B]])
  // CHECK: %[[LAST:.*]] = "tt.reduce"(%[[SB]])
  // CHECK: ^bb0(%[[FIRST:.*]]: i32, %{{.*}}: i32):
  // CHECK: tt.reduce.return %[[FIRST]]
  // CHECK: %[[CARRY:.*]] = tt.splat %[[LAST]]
  // CHECK: %[[SA:.*]] = "tt.scan"(%[[A]])
  // CHECK: %[[R:.*]] = arith.addi %[[CARRY]], %[[SA]]
  // CHECK: tt.return %[[R]], %[[SB]]
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tt.scan.return %s : i32
  }) : (tensor<96xi32>) -> tensor<96xi32>
  tt.return %0 : tensor<96xi32>
}

// -----

// CHECK-LABEL: tt.func @dot
// CHECK-SAME: (%[[A0:.*]]: tensor<16x32xf16>, %[[A1:.*]]: tensor<16x16xf16>, %[[B0:.*]]: tensor<32x16xf16>, %[[B1:.*]]: tensor<16x16xf16>, %[[C:.*]]: tensor<16x16xf32>)
tt.func @dot(%a: tensor<16x48xf16>, %b: tensor<48x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: %[[D:.*]] = tt.dot %[[A0]], %[[B0]], %[[C]]
  // CHECK: tt.dot %[[A1]], %[[B1]], %[[D]]
  %0 = tt.dot %a, %b, %c : tensor<16x48xf16> * tensor<48x16xf16> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// -----

// Pieces with the same elements.
// CHECK-LABEL: tt.func @reshape_whole
tt.func @reshape_whole(%x: tensor<96xf32>) -> tensor<48x2xf32> {
  // CHECK: tt.reshape %{{.*}} : tensor<64xf32> -> tensor<32x2xf32>
  // CHECK: tt.reshape %{{.*}} : tensor<32xf32> -> tensor<16x2xf32>
  // CHECK-NOT: tt.join
  %0 = tt.reshape %x : tensor<96xf32> -> tensor<48x2xf32>
  tt.return %0 : tensor<48x2xf32>
}

// -----

// Rows of 48 are 32 + 16 elements, not 64 + 32.
// CHECK-LABEL: tt.func @reshape_halves
tt.func @reshape_halves(%x: tensor<4x96xf32>) -> tensor<4x2x48xf32> {
  // CHECK: tt.split
  // CHECK: tt.join
  // CHECK-NOT: tt.gather
  %0 = tt.reshape %x : tensor<4x96xf32> -> tensor<4x2x48xf32>
  tt.return %0 : tensor<4x2x48xf32>
}

// -----

// Odd extents: one tensor with padding, and one gather for each piece.
// CHECK-LABEL: tt.func @reshape_padded
tt.func @reshape_padded(%x: tensor<7x59xi32>) -> tensor<413xi32> {
  // CHECK: tt.join
  // CHECK-COUNT-6: tt.gather %{{.*}} : (tensor<1x512x1xi32>
  // CHECK-NOT: tt.gather
  %0 = tt.reshape %x : tensor<7x59xi32> -> tensor<413xi32>
  tt.return %0 : tensor<413xi32>
}

// -----

// A tensor with padding would be too large: it becomes two, of 64 rows each. One
// piece of the result has elements of both.
// CHECK-LABEL: tt.func @reshape_several
tt.func @reshape_several(%x: tensor<96x80xf32>) -> tensor<7680xf32> {
  // CHECK-COUNT-5: tt.gather %{{.*}} : (tensor<1x8192x1xf32>
  // CHECK-NOT: tt.gather
  %0 = tt.reshape %x : tensor<96x80xf32> -> tensor<7680xf32>
  tt.return %0 : tensor<7680xf32>
}

// -----

// A stretch of rows is halved where it is longer than the tensor may be.
// CHECK-LABEL: tt.func @reshape_halved
tt.func @reshape_halved(%x: tensor<65x255xf32>) -> tensor<16575xf32> {
  // CHECK: tt.split
  // CHECK: tt.gather %{{.*}} : (tensor<1x8192x1xf32>
  %0 = tt.reshape %x : tensor<65x255xf32> -> tensor<16575xf32>
  tt.return %0 : tensor<16575xf32>
}

// -----

// Of one row with padding, too: each piece is gathered from.
// CHECK-LABEL: tt.func @reshape_gather
tt.func @reshape_gather(%x: tensor<3x8193xf32>) -> tensor<24579xf32> {
  // CHECK-NOT: tt.join
  // CHECK: tt.gather %{{.*}} : (tensor<1x16384x1xf32>
  %0 = tt.reshape %x : tensor<3x8193xf32> -> tensor<24579xf32>
  tt.return %0 : tensor<24579xf32>
}

// -----

// CHECK-LABEL: tt.func @print
tt.func @print(%x: tensor<3xi32>) {
  // CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 1>, tt.first_index = array<i32: 0>} : %{{.*}} : tensor<2xi32>
  // CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 1>, tt.first_index = array<i32: 2>} : %{{.*}} : tensor<1xi32>
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<3xi32>
  tt.return
}

// -----

// A debugger sees each piece as a variable.
// CHECK-LABEL: tt.func @variable
tt.func @variable(%x: tensor<3xi32>) {
  // CHECK: debug.value "x[0:2]" "int32" = %{{.*}} : tensor<2xi32>
  // CHECK: debug.value "x[2:3]" "int32" = %{{.*}} : tensor<1xi32>
  // CHECK: debug.constant "x" = "tensor<3xi32>, in pieces"
  debug.value "x" "int32" = %x : tensor<3xi32>
  tt.return
}

// RUN: tile-opt %s -tritongpu-combine-tensor-select-and-if -split-input-file | filecheck %s

// CHECK-LABEL: @after
tt.func @after(%c: i1, %a: tensor<64xf32>, %b: tensor<64xf32>, %p: tensor<64x!tt.ptr<f32>>) -> tensor<64xf32> {
  // CHECK-NEXT: %[[R:.*]] = scf.if %arg0 -> (tensor<64xf32>) {
  // CHECK-NEXT: tt.store %arg3, %arg1
  // CHECK-NEXT: scf.yield %arg1
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %arg2
  // CHECK-NEXT: }
  // CHECK-NEXT: tt.return %[[R]]
  %s = arith.select %c, %a, %b : tensor<64xf32>
  scf.if %c {
    // Here the choice is made.
    tt.store %p, %s : tensor<64x!tt.ptr<f32>>
  }
  tt.return %s : tensor<64xf32>
}

// CHECK-LABEL: @with_results
tt.func @with_results(%c: i1, %a: tensor<64xf32>, %b: tensor<64xf32>, %i: i32) -> (tensor<64xf32>, tensor<64xf32>, i32) {
  // CHECK: %[[R:.*]]:3 = scf.if %arg0 -> (i32, tensor<64xf32>, tensor<64xf32>) {
  // CHECK: %[[X:.*]] = arith.addi
  // CHECK: scf.yield %[[X]], %arg1, %arg2
  // CHECK: } else {
  // CHECK: scf.yield %arg3, %arg2, %arg1
  // CHECK: } {ttg.x}
  // CHECK: tt.return %[[R]]#1, %[[R]]#2, %[[R]]#0
  %s = arith.select %c, %a, %b : tensor<64xf32>
  %r = scf.if %c -> i32 {
    %x = arith.addi %i, %i : i32
    scf.yield %x : i32
  } else {
    scf.yield %i : i32
  } {ttg.x}
  // A select behind the if chooses what was there before it.
  %t = arith.select %c, %b, %a : tensor<64xf32>
  tt.return %s, %t, %r : tensor<64xf32>, tensor<64xf32>, i32
}

// Uses between the two, other conditions, and scalars keep their select.

// CHECK-LABEL: @kept
tt.func @kept(%c: i1, %d: i1, %a: tensor<64xf32>, %b: tensor<64xf32>, %x: f32, %p: tensor<64x!tt.ptr<f32>>) {
  // CHECK-COUNT-3: arith.select
  %s = arith.select %c, %a, %b : tensor<64xf32>
  %t = arith.select %d, %a, %b : tensor<64xf32>
  %u = arith.select %c, %x, %x : f32
  tt.store %p, %s : tensor<64x!tt.ptr<f32>>
  // CHECK: scf.if %arg0 {
  scf.if %c {
    tt.store %p, %a : tensor<64x!tt.ptr<f32>>
  }
  tt.store %p, %t : tensor<64x!tt.ptr<f32>>
  %v = tt.splat %u : f32 -> tensor<64xf32>
  tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @made_inside
tt.func @made_inside(%c: i1, %b: tensor<64xf32>, %p: tensor<64x!tt.ptr<f32>>) -> tensor<64xf32> {
  // The tensor depends on the if.
  // CHECK: scf.if
  // CHECK: arith.select
  %r = scf.if %c -> tensor<64xf32> {
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    scf.yield %v : tensor<64xf32>
  } else {
    scf.yield %b : tensor<64xf32>
  }
  %s = arith.select %c, %r, %b : tensor<64xf32>
  tt.return %s : tensor<64xf32>
}

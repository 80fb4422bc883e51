// RUN: tile-opt %s -split-input-file -triton-raise-pointers-to-descriptors="launch-maps=true" -canonicalize -cse | filecheck %s
// RUN: tile-opt %s -split-input-file -triton-raise-pointers-to-descriptors="launch-maps=true" --remarks-filter=".*" 2>&1 | filecheck %s -check-prefix REMARK
// RUN: tile-opt %s -split-input-file -triton-raise-pointers-to-descriptors="only-chains=true launch-maps=true registers=65536" -canonicalize -cse | filecheck %s -check-prefix CHAINS

// The number of the program is a coordinate. The loop needs so many rows.
// CHECK-LABEL: tt.func public @batch

// CHECK-DAG: %[[WIDE:.*]] = arith.extsi %arg1 : i32 to i64
// CHECK-DAG: %[[HEAD:.*]] = arith.muli %[[WIDE]], %{{.*}} : i64
// CHECK: %[[D:.*]] = tt.make_tensor_descriptor %arg0, [%{{.*}}, %{{.*}}, %c64_i32], [%[[HEAD]], %c64_i64, %c1_i64] {tt.of_arguments} : <f16>, <tensor<1x64x64xf16>>
// CHECK: %[[P:.*]] = tt.get_program_id x
// CHECK-NOT: scf.if
// CHECK: scf.for %[[T:.*]] = %c0_i32
// CHECK: tt.descriptor_load %[[D]][%[[P]], %[[T]], %c0_i32] : !tt.tensordesc<tensor<1x64x64xf16>> -> tensor<64x64xf16>
// CHAINS-LABEL: tt.func public @batch
// CHAINS: tt.descriptor_load
tt.func public @batch(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %h = arith.muli %pid, %n : i32
  %h64 = arith.muli %h, %c64 : i32
  %first = tt.addptr %a, %h64 : !tt.ptr<f16>, i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %row = arith.muli %i1, %width : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %cols = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %rows, %cols : tensor<64x64xi32>
  %r = scf.for %t = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t64 = arith.muli %t, %c64 : i32
    %q = tt.addptr %first, %t64 : !tt.ptr<f16>, i32
    %s = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %p = tt.addptr %s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %scores = tt.dot %b, %x, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %weights = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tt.dot %weights, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// -----

// The number is multiplied by itself: programs make the descriptor. In a loop
// of chained dots they make none.
// CHECK-LABEL: tt.func public @square
// CHECK: tt.make_tensor_descriptor
// CHECK-NOT: tt.of_arguments
// REMARK: the launch cannot make a descriptor for this load: where it begins multiplies numbers of programs
// CHAINS-LABEL: tt.func public @square
// CHAINS-NOT: tt.descriptor_load
tt.func public @square(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %h = arith.muli %pid, %pid : i32
  %h64 = arith.muli %h, %c64 : i32
  %first = tt.addptr %a, %h64 : !tt.ptr<f16>, i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %row = arith.muli %i1, %width : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %cols = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %rows, %cols : tensor<64x64xi32>
  %r = scf.for %t = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t64 = arith.muli %t, %c64 : i32
    %q = tt.addptr %first, %t64 : !tt.ptr<f16>, i32
    %s = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %p = tt.addptr %s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %scores = tt.dot %b, %x, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %weights = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tt.dot %weights, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// RUN: tile-opt %s -split-input-file -triton-split-rows -canonicalize | filecheck %s

// The descriptor of the argument describes half of a block.
module attributes {tt.longest_extent = 128 : i32} {
  // CHECK-NOT: tt.longest_extent
  // CHECK-LABEL: tt.func @rows
  // CHECK-SAME: (%[[Q:.*]]: !tt.tensordesc<tensor<128x64xf16>>, %[[O:.*]]: !tt.tensordesc<tensor<128x64xf16>>, %{{.*}}: tensor<64x64xf16>, %[[X:.*]]: i32, %[[Y:.*]]: i32)
  // CHECK-DAG: %[[C:.*]] = arith.constant 128 : i32
  // CHECK: %[[A0:.*]] = tt.descriptor_load %[[Q]][%[[X]], %[[Y]]]
  // CHECK: %[[Z:.*]] = arith.addi %[[X]], %[[C]] : i32
  // CHECK: %[[A1:.*]] = tt.descriptor_load %[[Q]][%[[Z]], %[[Y]]]
  // One half is finished before the other one begins.
  // CHECK: %[[D0:.*]] = tt.dot %[[A0]], %[[B:.*]], %{{.*}} -> tensor<128x64xf32>
  // CHECK: "tt.reduce"(%[[D0]])
  // CHECK: tt.descriptor_store %[[O]][%[[X]], %[[Y]]]
  // CHECK: %[[W:.*]] = arith.addi %[[X]], %[[C]] : i32
  // CHECK: %[[D1:.*]] = tt.dot %[[A1]], %[[B]], %{{.*}} -> tensor<128x64xf32>
  // CHECK: "tt.reduce"(%[[D1]])
  // CHECK: tt.descriptor_store %[[O]][%[[W]], %[[Y]]]
  tt.func @rows(%q: !tt.tensordesc<tensor<256x64xf16>>, %o: !tt.tensordesc<tensor<256x64xf16>>, %b: tensor<64x64xf16>, %x: i32, %y: i32) {
    %zero = arith.constant dense<0.0> : tensor<256x64xf32>
    %a = tt.descriptor_load %q[%x, %y] : !tt.tensordesc<tensor<256x64xf16>> -> tensor<256x64xf16>
    %d = tt.dot %a, %b, %zero : tensor<256x64xf16> * tensor<64x64xf16> -> tensor<256x64xf32>
    %m = "tt.reduce"(%d) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %s = arith.maxnumf %l, %r : f32
      tt.reduce.return %s : f32
    }) : (tensor<256x64xf32>) -> tensor<256xf32>
    %e = tt.expand_dims %m {axis = 1 : i32} : tensor<256xf32> -> tensor<256x1xf32>
    %f = tt.broadcast %e : tensor<256x1xf32> -> tensor<256x64xf32>
    %g = arith.subf %d, %f : tensor<256x64xf32>
    %h = arith.truncf %g : tensor<256x64xf32> to tensor<256x64xf16>
    tt.descriptor_store %o[%x, %y], %h : !tt.tensordesc<tensor<256x64xf16>>, tensor<256x64xf16>
    tt.return
  }
}

// -----

// Half of a block of more dimensions begins later in one of them.
module attributes {tt.longest_extent = 128 : i32} {
  // CHECK-LABEL: tt.func @descriptor
  // CHECK: %[[D:.*]] = tt.make_tensor_descriptor {{.*}} : <f32>, <tensor<1x128x16xf32>>
  // CHECK: tt.descriptor_reduce add, %[[D]][%[[X:.*]], %[[Y:.*]], %[[X]]], %{{.*}} : !tt.tensordesc<tensor<1x128x16xf32>>, tensor<128x16xf32>
  // CHECK: %[[Z:.*]] = arith.addi %[[Y]], %{{.*}}
  // CHECK: tt.descriptor_reduce add, %[[D]][%[[X]], %[[Z]], %[[X]]], %{{.*}} : !tt.tensordesc<tensor<1x128x16xf32>>, tensor<128x16xf32>
  tt.func @descriptor(%p: !tt.ptr<f32>, %n: i32, %s: i64, %x: i32, %y: i32, %v: tensor<256x16xf32>) {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n, %n], [%s, %s, %one] : !tt.ptr<f32>, !tt.tensordesc<tensor<1x256x16xf32>>
    tt.descriptor_reduce add, %d[%x, %y, %x], %v : !tt.tensordesc<tensor<1x256x16xf32>>, tensor<256x16xf32>
    tt.return
  }
}

// -----

// A module that says nothing stays as it is.
// CHECK-LABEL: tt.func @plain
// CHECK: tensor<256xf32>
tt.func @plain(%x: tensor<256xf32>) -> tensor<256xf32> {
  tt.return %x : tensor<256xf32>
}

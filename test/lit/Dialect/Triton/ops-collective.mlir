// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of reductions, scans, maps, gathers and histograms.

// CHECK-LABEL: tt.func @reduce
tt.func @reduce(%x: tensor<32x128xf32>) -> tensor<32xf32> {
  // CHECK: "tt.reduce"(%{{.*}}) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK: tt.reduce.return %{{.*}} : f32
  // CHECK-NEXT: }) : (tensor<32x128xf32>) -> tensor<32xf32>
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x128xf32>) -> tensor<32xf32>
  tt.return %0 : tensor<32xf32>
}

// CHECK-LABEL: tt.func @reduce_two_to_scalars
tt.func @reduce_two_to_scalars(%x: tensor<128xf32>, %i: tensor<128xi32>) -> (f32, i32) {
  // CHECK: %{{.*}}:2 = "tt.reduce"(%{{.*}}, %{{.*}}) <{axis = 0 : i32}> ({
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
  // CHECK: tt.reduce.return %{{.*}}, %{{.*}} : f32, i32
  // CHECK-NEXT: }) : (tensor<128xf32>, tensor<128xi32>) -> (f32, i32)
  %0:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %c, %a, %b : f32
    %vi = arith.select %c, %ai, %bi : i32
    tt.reduce.return %v, %vi : f32, i32
  }) : (tensor<128xf32>, tensor<128xi32>) -> (f32, i32)
  tt.return %0#0, %0#1 : f32, i32
}

// CHECK-LABEL: tt.func @scan
tt.func @scan(%x: tensor<512xi32>) -> tensor<512xi32> {
  // CHECK: "tt.scan"(%{{.*}}) <{axis = 0 : i32, reverse = true}> ({
  // CHECK: tt.scan.return %{{.*}} : i32
  // CHECK-NEXT: }) : (tensor<512xi32>) -> tensor<512xi32>
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tt.scan.return %s : i32
  }) : (tensor<512xi32>) -> tensor<512xi32>
  tt.return %0 : tensor<512xi32>
}

// The body of a map may have control flow.
// CHECK-LABEL: tt.func @map
tt.func @map(%x: tensor<128xi32>, %y: tensor<128xi32>) -> (tensor<128xi32>, tensor<128xi1>) {
  // CHECK: %{{.*}}:2 = "tt.map_elementwise"(%{{.*}}, %{{.*}}) <{pack = 1 : i32}> ({
  // CHECK: tt.map_elementwise.return %{{.*}}, %{{.*}} : i32, i1
  // CHECK: tt.map_elementwise.return %{{.*}}, %{{.*}} : i32, i1
  // CHECK: }) : (tensor<128xi32>, tensor<128xi32>) -> (tensor<128xi32>, tensor<128xi1>)
  %0:2 = "tt.map_elementwise"(%x, %y) <{pack = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.cmpi slt, %a, %b : i32
    cf.cond_br %c, ^less, ^greater
  ^less:
    tt.map_elementwise.return %a, %c : i32, i1
  ^greater:
    tt.map_elementwise.return %b, %c : i32, i1
  }) : (tensor<128xi32>, tensor<128xi32>) -> (tensor<128xi32>, tensor<128xi1>)
  tt.return %0#0, %0#1 : tensor<128xi32>, tensor<128xi1>
}

// CHECK-LABEL: tt.func @map_packed
tt.func @map_packed(%x: tensor<128xi8>) -> tensor<128xi8> {
  // CHECK: "tt.map_elementwise"(%{{.*}}) <{pack = 2 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i8):
  // CHECK-NEXT: tt.map_elementwise.return %[[B]], %[[A]] : i8, i8
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i8, %b: i8):
    tt.map_elementwise.return %b, %a : i8, i8
  }) : (tensor<128xi8>) -> tensor<128xi8>
  tt.return %0 : tensor<128xi8>
}

// CHECK-LABEL: tt.func @gather
tt.func @gather(%x: tensor<32x64xf32>, %i: tensor<32x16xi32>) -> tensor<32x16xf32> {
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 1 : i32} : (tensor<32x64xf32>, tensor<32x16xi32>) -> tensor<32x16xf32>
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<32x64xf32>, tensor<32x16xi32>) -> tensor<32x16xf32>
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 1 : i32, efficient_layout} : (tensor<32x64xf32>, tensor<32x16xi32>) -> tensor<32x16xf32>
  %1 = tt.gather %x[%i] {axis = 1 : i32, efficient_layout} : (tensor<32x64xf32>, tensor<32x16xi32>) -> tensor<32x16xf32>
  tt.return %1 : tensor<32x16xf32>
}

// CHECK-LABEL: tt.func @histogram
tt.func @histogram(%x: tensor<512xi32>, %m: tensor<512xi1>) {
  // CHECK: tt.histogram %{{.*}} : tensor<512xi32> -> tensor<64xi32>
  %0 = tt.histogram %x : tensor<512xi32> -> tensor<64xi32>
  // CHECK: tt.histogram %{{.*}}, %{{.*}} : tensor<512xi32> -> tensor<64xi32>
  %1 = tt.histogram %x, %m : tensor<512xi32> -> tensor<64xi32>
  tt.return
}

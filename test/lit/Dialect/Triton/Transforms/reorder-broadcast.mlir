// RUN: tile-opt %s -triton-reorder-broadcast | filecheck %s

// CHECK-LABEL: tt.func @splats
tt.func @splats(%a: i32, %b: i32, %p: !tt.ptr<f32>) -> (tensor<128xi1>, tensor<128x!tt.ptr<f32>>) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant 4 : i32
  // CHECK-NEXT: %[[SUM:.*]] = arith.addi %arg0, %arg1 : i32
  // CHECK-NEXT: %[[CMP:.*]] = arith.cmpi slt, %[[SUM]], %[[C]] : i32
  // CHECK-NEXT: %[[M:.*]] = tt.splat %[[CMP]] : i1 -> tensor<128xi1>
  // CHECK-NEXT: %[[P:.*]] = tt.addptr %arg2, %[[SUM]] : !tt.ptr<f32>, i32
  // CHECK-NEXT: %[[PS:.*]] = tt.splat %[[P]] : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return %[[M]], %[[PS]]
  %0 = tt.splat %a : i32 -> tensor<128xi32>
  %1 = tt.splat %b : i32 -> tensor<128xi32>
  %2 = arith.addi %0, %1 : tensor<128xi32>
  %4 = arith.constant dense<4> : tensor<128xi32>
  %5 = arith.cmpi slt, %2, %4 : tensor<128xi32>
  %6 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %7 = tt.addptr %6, %2 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.return %5, %7 : tensor<128xi1>, tensor<128x!tt.ptr<f32>>
}

// A scalar operand beside splats stays as it is.
// CHECK-LABEL: tt.func @select
tt.func @select(%c: i1, %a: f32, %b: f32) -> tensor<8xf32> {
  // CHECK-NEXT: %[[S:.*]] = arith.select %arg0, %arg1, %arg2 : f32
  // CHECK-NEXT: tt.splat %[[S]]
  %0 = tt.splat %a : f32 -> tensor<8xf32>
  %1 = tt.splat %b : f32 -> tensor<8xf32>
  %2 = arith.select %c, %0, %1 : tensor<8xf32>
  tt.return %2 : tensor<8xf32>
}

// CHECK-LABEL: tt.func @broadcasts
tt.func @broadcasts(%x: tensor<8x1xf32>, %y: tensor<8x1xf32>, %s: f32) -> tensor<8x16xf32> {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<2.000000e+00> : tensor<8x1xf32>
  // CHECK-DAG: %[[M:.*]] = arith.mulf %arg0, %arg1 : tensor<8x1xf32>
  // CHECK-DAG: %[[S:.*]] = tt.splat %arg2 : f32 -> tensor<8x1xf32>
  // CHECK: %[[A:.*]] = arith.addf %[[M]], %[[S]] fastmath<contract> : tensor<8x1xf32>
  // CHECK: %[[D:.*]] = tt.precise_divf %[[A]], %[[C]] : tensor<8x1xf32>
  // CHECK: %[[B:.*]] = tt.broadcast %[[D]] : tensor<8x1xf32> -> tensor<8x16xf32>
  // CHECK: tt.return %[[B]]
  %0 = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x16xf32>
  %1 = tt.broadcast %y : tensor<8x1xf32> -> tensor<8x16xf32>
  %2 = arith.mulf %0, %1 : tensor<8x16xf32>
  %3 = tt.splat %s : f32 -> tensor<8x16xf32>
  %4 = arith.addf %2, %3 fastmath<contract> : tensor<8x16xf32>
  %5 = arith.constant dense<2.0> : tensor<8x16xf32>
  %6 = tt.precise_divf %4, %5 : tensor<8x16xf32>
  tt.return %6 : tensor<8x16xf32>
}

// Rows and columns have no smaller tensor in common.
// CHECK-LABEL: tt.func @rows_and_columns
tt.func @rows_and_columns(%x: tensor<8x1xf32>, %y: tensor<1x16xf32>) -> tensor<8x16xf32> {
  // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<8x16xf32>
  %0 = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x16xf32>
  %1 = tt.broadcast %y : tensor<1x16xf32> -> tensor<8x16xf32>
  %2 = arith.addf %0, %1 : tensor<8x16xf32>
  tt.return %2 : tensor<8x16xf32>
}

// CHECK-LABEL: tt.func @inline_asm
tt.func @inline_asm(%x: i32) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  // CHECK: tt.elementwise_inline_asm "one" {{.*}} %arg0 : i32 -> i32
  // CHECK: tt.elementwise_inline_asm "four" {{.*}} : tensor<8xi32> -> tensor<8xi32>
  // CHECK: tt.elementwise_inline_asm "effects" {{.*}} : tensor<8xi32> -> tensor<8xi32>
  %0 = tt.splat %x : i32 -> tensor<8xi32>
  %1 = tt.elementwise_inline_asm "one" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %0 : tensor<8xi32> -> tensor<8xi32>
  %2 = tt.elementwise_inline_asm "four" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %0 : tensor<8xi32> -> tensor<8xi32>
  %3 = tt.elementwise_inline_asm "effects" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %0 : tensor<8xi32> -> tensor<8xi32>
  tt.return %1, %2, %3 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// CHECK-LABEL: tt.func @extern
tt.func @extern(%x: f32) -> tensor<8xf32> {
  // CHECK: tt.extern_elementwise %arg0 {{.*}} : (f32) -> f32
  %0 = tt.splat %x : f32 -> tensor<8xf32>
  %1 = tt.extern_elementwise %0 {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<8xf32>) -> tensor<8xf32>
  tt.return %1 : tensor<8xf32>
}

// A constant, a splat and a tensor: neither pattern applies, nor leaves anything.
// CHECK-LABEL: tt.func @three_operands
tt.func @three_operands(%x: f16, %y: tensor<8xf16>) -> tensor<8xf16> {
  // CHECK-NEXT: arith.constant dense<-2.0
  // CHECK-NEXT: tt.splat
  // CHECK-NEXT: math.fma
  // CHECK-NEXT: tt.return
  %c = arith.constant dense<-2.0> : tensor<8xf16>
  %0 = tt.splat %x : f16 -> tensor<8xf16>
  %1 = math.fma %c, %0, %y : tensor<8xf16>
  tt.return %1 : tensor<8xf16>
}

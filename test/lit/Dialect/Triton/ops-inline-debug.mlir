// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of foreign code, assertions and prints.

// CHECK-LABEL: tt.func @foreign(%arg0: tensor<64xf32>, %arg1: i32)
tt.func @foreign(%arg0: tensor<64xf32>, %arg1: i32) {
  // CHECK: tt.extern_elementwise %{{.*}} {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<64xf32>) -> tensor<64xf32>
  %0 = tt.extern_elementwise %arg0 {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: tt.extern_elementwise %{{.*}}, %{{.*}} {libname = "l", libpath = "p", pure = false, symbol = "__nv_powf"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = tt.extern_elementwise %arg0, %arg0 {libname = "l", libpath = "p", pure = false, symbol = "__nv_powf"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: tt.elementwise_inline_asm "neg.f32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %{{.*}} : tensor<64xf32> -> tensor<64xf32>
  %2 = tt.elementwise_inline_asm "neg.f32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %arg0 : tensor<64xf32> -> tensor<64xf32>
  // CHECK: tt.elementwise_inline_asm "x" {constraints = "=r,=r,r,r", packed_element = 4 : i32, pure = false} %{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64xf32> -> tensor<64xi8>, tensor<64xi16>
  %3:2 = tt.elementwise_inline_asm "x" {constraints = "=r,=r,r,r", packed_element = 4 : i32, pure = false} %arg0, %0 : tensor<64xf32>, tensor<64xf32> -> tensor<64xi8>, tensor<64xi16>
  // CHECK: tt.elementwise_inline_asm "mov.u32 $0, %smid;" {constraints = "=r", packed_element = 1 : i32, pure = true} -> i32
  %4 = tt.elementwise_inline_asm "mov.u32 $0, %smid;" {constraints = "=r", packed_element = 1 : i32, pure = true} -> i32
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @debug(%arg0: tensor<64xi1>, %arg1: i1, %arg2: tensor<64xi32>)
tt.func @debug(%arg0: tensor<64xi1>, %arg1: i1, %arg2: tensor<64xi32>) {
  // CHECK: tt.assert %{{.*}}, "each" : tensor<64xi1>
  tt.assert %arg0, "each" : tensor<64xi1>
  // CHECK: tt.assert %{{.*}}, "one" : i1
  tt.assert %arg1, "one" : i1
  // CHECK: tt.print " hello" {hex = false, isSigned = array<i32>}
  tt.print " hello" {hex = false, isSigned = array<i32>}
  // CHECK: tt.print " x: " {hex = true, isSigned = array<i32: 1, 0>} : %{{.*}}, %{{.*}} : tensor<64xi32>, i1
  tt.print " x: " {hex = true, isSigned = array<i32: 1, 0>} : %arg2, %arg1 : tensor<64xi32>, i1
  // CHECK: tt.return
  tt.return
}

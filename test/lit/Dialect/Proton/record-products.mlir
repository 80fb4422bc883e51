// RUN: tile-opt %s -proton-record-products | filecheck %s

// CHECK-LABEL: @product
// CHECK: proton.record start "mma"
// CHECK-NEXT: tt.dot
// CHECK-NEXT: proton.record end "mma"
tt.func @product(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

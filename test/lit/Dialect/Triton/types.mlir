// RUN: tile-opt %s | filecheck %s

// Spellings of the types: the default address space is not printed.

// CHECK-LABEL: tt.func private @pointers(!tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<i8, 3>)
tt.func private @pointers(!tt.ptr<f32>, !tt.ptr<f32, 1>, !tt.ptr<i8, 3>)

// CHECK-LABEL: tt.func private @pointees(!tt.ptr<f8E4M3FN>, !tt.ptr<f8E5M2>, !tt.ptr<bf16>, !tt.ptr<i1>, !tt.ptr<!tt.ptr<f64>>)
tt.func private @pointees(!tt.ptr<f8E4M3FN>, !tt.ptr<f8E5M2>, !tt.ptr<bf16>, !tt.ptr<i1>, !tt.ptr<!tt.ptr<f64>>)

// CHECK-LABEL: tt.func private @block_pointers(!tt.ptr<tensor<128x64xf16>>, !tt.ptr<tensor<32xi8>, 3>)
tt.func private @block_pointers(!tt.ptr<tensor<128x64xf16>>, !tt.ptr<tensor<32xi8>, 3>)

// CHECK-LABEL: tt.func private @tensors(tensor<64x1x!tt.ptr<f32>>, tensor<4x!tt.ptr<i8, 3>>)
tt.func private @tensors(tensor<64x1x!tt.ptr<f32>>, tensor<4x!tt.ptr<i8, 3>>)

// CHECK-LABEL: tt.func private @descriptors(!tt.tensordesc<tensor<128x64xf16>>, !tt.tensordesc<tensor<4x4x4xi32>>)
tt.func private @descriptors(!tt.tensordesc<tensor<128x64xf16>>, !tt.tensordesc<tensor<4x4x4xi32>>)

// CHECK-LABEL: tt.func private @signedness(!tt.tensordesc<tensor<4xsi32>>, !tt.tensordesc<tensor<4xui8>>)
tt.func private @signedness(!tt.tensordesc<tensor<4xsi32>>, !tt.tensordesc<tensor<4xui8>>)

// CHECK-LABEL: tt.func private @short_descriptors(!tt.tensordesc<tensor<128x64xf16>>, !tt.tensordesc<tensor<4x8xf32, #shared>>)
tt.func private @short_descriptors(!tt.tensordesc<128x64xf16>, !tt.tensordesc<4x8xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>>)

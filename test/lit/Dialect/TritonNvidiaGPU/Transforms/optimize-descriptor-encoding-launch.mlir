// RUN: tile-opt %s -split-input-file -triton-nvidia-optimize-descriptor-encoding="leave-to-pointers=true" -cse -verify-diagnostics | filecheck %s

// The launch computes the base (step 4: the pointer, and 32 elements of two
// bytes), the shape (5 and 6) and the strides (8 and 9).
// CHECK: tt.func public @kernel(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32, ttnvgpu.tensor_map_input = 0 : i32},
// CHECK-SAME: %arg1: i32 {ttnvgpu.tensor_map_input = 1 : i32},
// CHECK-SAME: %arg2: !tt.ptr<i8, 0> {ttnvgpu.tensor_map = {base = 0 : i32, box = array<i32: 16, 64>,
// CHECK-SAME: code = array<i64: 0, 0, 64, 1, 32, 0, 1, 2, 0, 4, 1, 2, 2, 0, 3, 0, 1, 32, 1, 64, 0, 1, 64, 0, 4, 5, 7, 1, 1, 0>
// CHECK-SAME: parts = array<i32: 4, 5, 6, 8, 9>
// CHECK-NOT: tt.make_tensor_descriptor
// CHECK: %[[D:.*]] = ttnvgpu.reinterpret_tensor_descriptor %arg2
// CHECK: tt.descriptor_load %[[D]]
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @kernel(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %rows: i32) -> tensor<16x64xf16> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %width = arith.constant 64 : i64
    %first = tt.addptr %base, %c32 : !tt.ptr<f16>, i32
    %wide = arith.extsi %rows : i32 to i64
    %stride = arith.muli %wide, %width : i64
    %desc = tt.make_tensor_descriptor %first, [%rows, %c64], [%stride, %one] {tt.of_arguments} : !tt.ptr<f16>, !tt.tensordesc<tensor<16x64xf16>>
    %x = tt.descriptor_load %desc[%c0, %c0] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
    tt.return %x : tensor<16x64xf16>
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @of_program(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %width = arith.constant 64 : i64
    %rows = tt.get_program_id x : i32
    // expected-error @+1 {{no launch can compute its parts of arguments}}
    %desc = tt.make_tensor_descriptor %base, [%rows, %c64], [%width, %one] {tt.of_arguments} : !tt.ptr<f16>, !tt.tensordesc<tensor<16x64xf16>>
    %x = tt.descriptor_load %desc[%c0, %c0] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
    tt.return
  }
}

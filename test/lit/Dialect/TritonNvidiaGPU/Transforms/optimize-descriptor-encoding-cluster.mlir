// RUN: tile-opt %s -triton-nvidia-optimize-descriptor-encoding="leave-to-pointers=true num-ctas=2" | filecheck %s --check-prefixes=CHECK,TWO
// RUN: tile-opt %s -triton-nvidia-optimize-descriptor-encoding="leave-to-pointers=true num-ctas=4" | filecheck %s --check-prefixes=CHECK,FOUR
// RUN: tile-opt %s -triton-nvidia-optimize-descriptor-encoding="leave-to-pointers=true num-ctas=8" | filecheck %s --check-prefixes=CHECK,EIGHT

// What two or four blocks of a cluster copy: operands of products, in parts of
// their rows.

// TWO-DAG: #[[PART:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = {{.*}}[1, 0]{{.*}}}>
// FOUR-DAG: #[[PART:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = {{.*}}[1, 0], [2, 0]{{.*}}}>

// CHECK-LABEL: @operands
// TWO-COUNT-2: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[PART]]>>
// FOUR-COUNT-2: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[PART]]>>
// EIGHT-COUNT-2: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
tt.func public @operands(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %stride: i64 {tt.divisibility = 8 : i32, tt.non_negative = 1 : i32}) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %descA = tt.make_tensor_descriptor %a, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  %descB = tt.make_tensor_descriptor %b, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x = tt.descriptor_load %descA[%c0, %k] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %y = tt.descriptor_load %descB[%c0, %k] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %turned = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %next = tt.dot %x, %turned, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tt.return %sum : tensor<64x64xf32>
}

// The parts of rows of 128 bytes are too narrow for the swizzle; what is not an
// operand may be divided otherwise. Warps of their own copy, too.
// CHECK-LABEL: @others
// CHECK-COUNT-2: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
// TWO: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[PART]]>>
// FOUR: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16, #[[PART]]>>
// EIGHT: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<64x64xf16>>
tt.func public @others(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %stride: i64 {tt.divisibility = 8 : i32, tt.non_negative = 1 : i32}) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %left = tt.make_tensor_descriptor %a, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  %right = tt.make_tensor_descriptor %a, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  %specialized = tt.make_tensor_descriptor %a, [%n, %n], [%stride, %one] : <f16>, <tensor<64x64xf16>>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x = tt.descriptor_load %left[%k, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %turned = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %y = tt.descriptor_load %right[%k, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %twice = arith.addf %y, %y : tensor<64x64xf16>
    %next = tt.dot %turned, %twice, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %all = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %sum) -> (tensor<64x64xf32>) : i32 {
    %x = tt.descriptor_load %specialized[%k, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %next = tt.dot %x, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  } {tt.warp_specialize}
  tt.return %all : tensor<64x64xf32>
}

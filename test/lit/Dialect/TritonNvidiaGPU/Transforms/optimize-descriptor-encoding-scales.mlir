// RUN: tile-opt %s -triton-nvidia-optimize-descriptor-encoding="for-tensor-memory=true" | filecheck %s --check-prefixes=CHECK,TENSOR
// RUN: tile-opt %s -triton-nvidia-optimize-descriptor-encoding | filecheck %s --check-prefixes=CHECK,OTHER

// Scales that are packed as tcgen05.cp copies them lie in whole rows.

// TENSOR-DAG: #[[ROWS:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8, rank = 5}>
// CHECK-DAG: #[[WIDE:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, rank = 5}>
!block = !tt.tensordesc<tensor<1x1x4x2x256xi8>>
!loaded = tensor<1x1x4x2x256xi8>
!tiles = tensor<1x4x32x4x4xi8>
!turned = tensor<1x4x32x4x4xi8>
!x = tensor<128x512xi8>
!y = tensor<512x128xi8>
!acc = tensor<128x128xf32>

// CHECK-LABEL: @packed
// TENSOR-SAME: !tt.tensordesc<tensor<1x1x4x2x256xi8, #[[ROWS]]>>
// OTHER-SAME: !tt.tensordesc<tensor<1x1x4x2x256xi8, #[[WIDE]]>>
tt.func @packed(%desc: !block, %x: !x, %y: !y, %acc: !acc, %i: i32) -> !acc {
  %s = tt.descriptor_load %desc[%i, %i, %i, %i, %i] : !block -> !loaded
  %tiles = tt.reshape %s : !loaded -> !tiles
  %turned = tt.trans %tiles {order = array<i32: 0, 3, 2, 1, 4>} : !tiles -> tensor<1x4x32x4x4xi8>
  %rows = tt.reshape %turned : tensor<1x4x32x4x4xi8> -> tensor<128x16xi8>
  %r = tt.dot_scaled %x scale %rows, %y, %acc lhs = e4m3 rhs = e4m3 {fastMath = false} : !x, tensor<128x16xi8> * !y -> !acc
  tt.return %r : !acc
}

// These are in another order.
// CHECK-LABEL: @in_other_order
// CHECK-SAME: !tt.tensordesc<tensor<1x1x4x2x256xi8, #[[WIDE]]>>
tt.func @in_other_order(%desc: !block, %x: !x, %y: !y, %acc: !acc, %i: i32) -> !acc {
  %s = tt.descriptor_load %desc[%i, %i, %i, %i, %i] : !block -> !loaded
  %rows = tt.reshape %s : !loaded -> tensor<128x16xi8>
  %r = tt.dot_scaled %x scale %rows, %y, %acc lhs = e4m3 rhs = e4m3 {fastMath = false} : !x, tensor<128x16xi8> * !y -> !acc
  tt.return %r : !acc
}

// Threads need them as well.
// CHECK-LABEL: @for_threads
// CHECK-SAME: !tt.tensordesc<tensor<1x1x4x2x256xi8, #[[WIDE]]>>
tt.func @for_threads(%desc: !block, %i: i32) -> !loaded {
  %s = tt.descriptor_load %desc[%i, %i, %i, %i, %i] : !block -> !loaded
  tt.return %s : !loaded
}

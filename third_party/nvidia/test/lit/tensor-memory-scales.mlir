// RUN: tile-opt %s -convert-triton-to-tritongpu="target=cuda:100 num-warps=4" -tritongpu-accelerate-matmul -canonicalize | filecheck %s

// CHECK-DAG: #[[WHOLE:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8, rank = 5}>
!block = !tt.tensordesc<tensor<1x1x4x2x256xi8>>
!loaded = tensor<1x1x4x2x256xi8>
!tiles = tensor<1x4x32x4x4xi8>
!rows = tensor<128x16xi8>
!x = tensor<128x512xf8E4M3FN>
!y = tensor<512x128xf8E4M3FN>
!acc = tensor<128x128xf32>

// Scales stay in shared memory as they are packed: they are copied from there.
// What belongs to the other operand goes through registers.
// CHECK-LABEL: @packed
tt.func @packed(%desc: !block, %x: !x, %y: !y, %ys: !rows, %acc: !acc, %i: i32) -> !acc {
  // CHECK: [[S:%.*]] = tt.descriptor_load
  // CHECK: [[BUFFER:%.*]] = ttg.local_alloc [[S]] : ({{.*}}) -> !ttg.memdesc<1x1x4x2x256xi8, #[[WHOLE]], #smem>
  // CHECK: [[TILES:%.*]] = ttg.memdesc_reshape [[BUFFER]]
  // CHECK: [[TURNED:%.*]] = ttg.memdesc_trans [[TILES]] {order = array<i32: 0, 3, 2, 1, 4>}
  // CHECK: [[SCALES:%.*]] = ttg.memdesc_reshape [[TURNED]] : {{.*}} -> !ttg.memdesc<128x16xi8,
  // CHECK: [[OTHERS:%.*]] = ttnvgpu.tmem_alloc {{.*}} -> !ttg.memdesc<128x16xi8, #tmem_scales,
  // CHECK: ttnvgpu.tc_gen5_mma_scaled {{.*}}, [[SCALES]], [[OTHERS]],
  %s = tt.descriptor_load %desc[%i, %i, %i, %i, %i] : !block -> !loaded
  %tiles = tt.reshape %s : !loaded -> !tiles
  %turned = tt.trans %tiles {order = array<i32: 0, 3, 2, 1, 4>} : !tiles -> !tiles
  %xs = tt.reshape %turned : !tiles -> !rows
  %r = tt.dot_scaled %x scale %xs, %y scale %ys, %acc lhs = e4m3 rhs = e4m3 {fastMath = false} : !x, !rows * !y, !rows -> !acc
  tt.return %r : !acc
}

// In a loop, scales from before it would have no buffer of their own for each
// step.
// CHECK-LABEL: @of_all_steps
tt.func @of_all_steps(%desc: !block, %x: !x, %y: !y, %acc: !acc, %i: i32) -> !acc {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tt.descriptor_load %desc[%i, %i, %i, %i, %i] : !block -> !loaded
  %tiles = tt.reshape %s : !loaded -> !tiles
  %turned = tt.trans %tiles {order = array<i32: 0, 3, 2, 1, 4>} : !tiles -> !tiles
  %xs = tt.reshape %turned : !tiles -> !rows
  // CHECK-NOT: ttg.memdesc_reshape
  // CHECK: ttnvgpu.tmem_alloc {{.*}} -> !ttg.memdesc<128x16xi8, #tmem_scales,
  // CHECK: ttnvgpu.tc_gen5_mma_scaled
  %all = scf.for %k = %c0 to %i step %c1 iter_args(%sum = %acc) -> !acc : i32 {
    %r = tt.dot_scaled %x scale %xs, %y, %sum lhs = e4m3 rhs = e4m3 {fastMath = false} : !x, !rows * !y -> !acc
    scf.yield %r : !acc
  }
  tt.return %all : !acc
}

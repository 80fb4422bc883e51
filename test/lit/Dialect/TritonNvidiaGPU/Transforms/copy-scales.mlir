// RUN: tile-opt %s -split-input-file -verify-diagnostics -triton-nvidia-copy-scales | filecheck %s

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
#rows = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [32, 0], [64, 0], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]}, alignment = 16>
#tiles = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8, rank = 5}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
!a = !ttg.memdesc<128x128xf8E4M3FN, #shared, #smem>
!b = !ttg.memdesc<128x128xf8E4M3FN, #turned, #smem>
!d = !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!ring = !ttg.memdesc<3x128x4xi8, #rows, #smem, mutable>
!slot = !ttg.memdesc<128x4xi8, #rows, #smem, mutable>
!tile = !ttg.memdesc<1x1x32x4x4xi8, #tiles, #smem>
!place = !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // A place for each buffer of the ring, in front of the loop.
  // CHECK-LABEL: @ring
  tt.func @ring(%a: !a, %b: !b, %d: !d, %ring: !ring, %bs: !place, %n: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: [[PLACES:%.*]] = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<3x128x4xi8, #[[SCALES:.*]], #ttnvgpu.tensor_memory, mutable>
    // CHECK: scf.for [[I:%.*]] =
    scf.for %i = %c0 to %n step %c1 : i32 {
      // CHECK: [[SLOT:%.*]] = ttg.memdesc_index %arg3[[[I]]]
      // CHECK: [[PLACE:%.*]] = ttg.memdesc_index [[PLACES]][[[I]]]
      // CHECK: ttnvgpu.tmem_copy [[SLOT]], [[PLACE]] :
      // CHECK: ttnvgpu.tc_gen5_mma_scaled %arg0, %arg1, %arg2, [[PLACE]], %arg4,
      %slot = ttg.memdesc_index %ring[%i] : !ring -> !slot
      ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %slot, %bs, %true, %true lhs = e4m3 rhs = e4m3 : !a, !b, !d, !slot, !place
    }
    tt.return
  }

  // Two multiplications with the same scales; tiles have rows of their own.
  // CHECK-LABEL: @twice
  tt.func @twice(%a: !a, %b: !b, %d: !d, %e: !d, %tile: !tile, %bs: !place) {
    %true = arith.constant true
    // CHECK: [[PLACE:%.*]] = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x4xi8,
    // CHECK-NEXT: ttnvgpu.tmem_copy %arg4, [[PLACE]] :
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma_scaled {{.*}}, [[PLACE]], %arg5,
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma_scaled {{.*}}, [[PLACE]], %arg5,
    // CHECK-NEXT: tt.return
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %tile, %bs, %true, %true lhs = e4m3 rhs = e4m3 : !a, !b, !d, !tile, !place
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %e, %tile, %bs, %true, %true lhs = e4m3 rhs = e4m3 : !a, !b, !d, !tile, !place
    tt.return
  }

  // In between, the buffer is filled again.
  // CHECK-LABEL: @filled_again
  tt.func @filled_again(%a: !a, %b: !b, %d: !d, %slot: !slot, %bs: !place, %x: tensor<128x4xi8>) {
    %true = arith.constant true
    // CHECK-COUNT-2: ttnvgpu.tmem_copy
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %slot, %bs, %true, %true lhs = e4m3 rhs = e4m3 : !a, !b, !d, !slot, !place
    tt.print "" {hex = false, isSigned = array<i32: 0>} : %x : tensor<128x4xi8>
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %slot, %bs, %true, %true lhs = e4m3 rhs = e4m3 : !a, !b, !d, !slot, !place
    tt.return
  }

  // Who does not multiply does not copy.
  // CHECK-LABEL: @predicated
  tt.func @predicated(%a: !a, %b: !b, %d: !d, %slot: !slot, %bs: !place, %some: i1) {
    %true = arith.constant true
    // CHECK: scf.if %arg5 {
    // CHECK-NEXT: ttnvgpu.tmem_copy
    // CHECK-NEXT: }
    // CHECK-NEXT: ttnvgpu.tc_gen5_mma_scaled
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %slot, %bs, %true, %some lhs = e4m3 rhs = e4m3 : !a, !b, !d, !slot, !place
    tt.return
  }
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
!a = !ttg.memdesc<128x128xf8E4M3FN, #shared, #smem>
!b = !ttg.memdesc<128x128xf8E4M3FN, #turned, #smem>
!d = !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!flat = !ttg.memdesc<512xi8, #flat, #smem>
!place = !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @flat(%a: !a, %b: !b, %d: !d, %s: !flat, %bs: !place) {
    %true = arith.constant true
    // expected-error @+1 {{expected scales in shared memory as rows, or tile by tile}}
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %s, %bs, %true, %true lhs = e4m3 rhs = e4m3 : !a, !b, !d, !flat, !place
    tt.return
  }
}

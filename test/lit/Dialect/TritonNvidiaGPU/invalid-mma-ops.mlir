// RUN: tile-opt %s -split-input-file -verify-diagnostics

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_reduction(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<32x128xf16, #f16, #smem>, %c: tensor<128x128xf32, #mma>) {
  // expected-error @+1 {{'ttnvgpu.warp_group_dot' op expected as many rows of b as a has columns, 64, found 32}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xf16, #f16, #smem> * !ttg.memdesc<32x128xf16, #f16, #smem> -> tensor<128x128xf32, #mma>
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_result(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x64xf16, #f16, #smem>, %c: tensor<128x128xf32, #mma>) {
  // expected-error @+1 {{expected an accumulator of 128x64 like the product, found 128x128}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xf16, #f16, #smem> * !ttg.memdesc<64x64xf16, #f16, #smem> -> tensor<128x128xf32, #mma>
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_types(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xbf16, #f16, #smem>, %c: tensor<128x128xf32, #mma>) {
  // expected-error @+1 {{expected operands of one element type, or both of 8-bit floats, found 'f16' and 'bf16'}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xf16, #f16, #smem> * !ttg.memdesc<64x128xbf16, #f16, #smem> -> tensor<128x128xf32, #mma>
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_accumulator(%a: !ttg.memdesc<128x64xbf16, #f16, #smem>, %b: !ttg.memdesc<64x128xbf16, #f16, #smem>, %c: tensor<128x128xf16, #mma>) {
  // expected-error @+1 {{expected an accumulator that can hold products of 'bf16', found 'f16'}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xbf16, #f16, #smem> * !ttg.memdesc<64x128xbf16, #f16, #smem> -> tensor<128x128xf16, #mma>
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_operand_type(%a: !ttg.memdesc<128x64xi16, #f16, #smem>, %b: !ttg.memdesc<64x128xi16, #f16, #smem>, %c: tensor<128x128xf32, #mma>) {
  // expected-error @+1 {{expected operands of f16, bf16, f32 (as tf32), f8E4M3FN, f8E5M2 or i8, found 'i16'}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xi16, #f16, #smem> * !ttg.memdesc<64x128xi16, #f16, #smem> -> tensor<128x128xf32, #mma>
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma2 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_version(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %c: tensor<128x128xf32, #mma2>) {
  // expected-error @+1 {{expected a result with an nvidia_mma encoding of version 3, found 'tensor<128x128xf32,}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xf16, #f16, #smem> * !ttg.memdesc<64x128xf16, #f16, #smem> -> tensor<128x128xf32, #mma2>
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sw = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_shared(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #sw, #smem>, %c: tensor<128x128xf32, #mma>) {
  // expected-error @+1 {{expected b to have an nvmma_shared (or shared_linear) encoding, found}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xf16, #f16, #smem> * !ttg.memdesc<64x128xf16, #sw, #smem> -> tensor<128x128xf32, #mma>
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#mma2 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_registers(%a: tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma2, kWidth = 2}>>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %c: tensor<128x128xf32, #mma>) {
  // expected-error @+1 {{expected a in registers to be operand 0 of the encoding of the result, found}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma2, kWidth = 2}>> * !ttg.memdesc<64x128xf16, #f16, #smem> -> tensor<128x128xf32, #mma>
  tt.return
}
}

// -----

tt.func @wait_for_nothing() {
  // expected-error @+1 {{'ttnvgpu.warp_group_dot_wait' op expected the results to wait for, found none}}
  "ttnvgpu.warp_group_dot_wait"() <{pendings = 0 : i32}> : () -> ()
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wait_pendings(%c: tensor<128x128xf32, #mma>) {
  // expected-error @+1 {{attribute 'pendings' failed to satisfy constraint}}
  %0 = ttnvgpu.warp_group_dot_wait %c {pendings = -1 : i32} : tensor<128x128xf32, #mma>
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wait_for_too_few(%c: tensor<128x128xf32, #mma>) {
  // expected-error @+1 {{expected 'pendings' to be at most 7, found 8}}
  %0 = ttnvgpu.warp_group_dot_wait %c {pendings = 8 : i32} : tensor<128x128xf32, #mma>
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @mma_shape(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x256xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{'ttnvgpu.tc_gen5_mma' op expected an accumulator of 128x128 like the product, found 128x256}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x256xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @mma_rank(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %d: !ttg.memdesc<2x128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{expected matrices as operands and accumulator, found ranks 2, 2 and 3}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<2x128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @mma_k(%a: !ttg.memdesc<128x8xf16, #f16, #smem>, %b: !ttg.memdesc<8x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{expected rows of a to be a multiple of 32 bytes, found 8 elements of 16 bits}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x8xf16, #f16, #smem>, !ttg.memdesc<8x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#half = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 128, colStride = 1>
tt.func @mma_b_in_tmem(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #half, #ttnvgpu.tensor_memory>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{expected b in shared memory, found}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #half, #ttnvgpu.tensor_memory>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @mma_a_in_scales(%a: !ttg.memdesc<128x32xi8, #scales, #ttnvgpu.tensor_memory>, %b: !ttg.memdesc<32x128xi8, #f8, #smem>, %d: !ttg.memdesc<128x128xi32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{expected a in tensor memory to have a tensor_memory_encoding, found}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x32xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<32x128xi8, #f8, #smem>, !ttg.memdesc<128x128xi32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
tt.func @mma_accumulator_space(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x128xf32, #f32, #smem, mutable>, %p: i1) {
  // expected-error @+1 {{accumulator: expected a buffer in tensor memory, found}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #f32, #smem, mutable>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @mma_accumulator_mutable(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @+1 {{expected accumulator to be mutable, found}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#big = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 512, colStride = 1>
tt.func @mma_block(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x512xf16, #f16, #smem>, %d: !ttg.memdesc<128x512xf32, #big, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{expected blockN of the accumulator to be from 16 to 256 where blockM is 128, found 512}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x512xf16, #f16, #smem>, !ttg.memdesc<128x512xf32, #big, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#two = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, twoCTAs = true>
tt.func @mma_two_ctas(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x128xf32, #two, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{expected two_ctas as the accumulator's encoding has it, }}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #two, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @mma_sync_barriers(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
  // expected-error @+1 {{expected is_async where there are barriers to arrive at, found none}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p, %bar[%p] : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @mma_barrier(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1, %bar: !ttg.memdesc<1xi32, #bar, #smem, mutable>) {
  // expected-error @+1 {{expected barrier to be a 1xi64 buffer in shared memory}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p, %bar[%p] {is_async} : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi32, #bar, #smem, mutable>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @mma_token(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1, %t: !ttg.async.token) {
  // expected-error @+1 {{expected a token as result where one is an operand, found none}}
  "ttnvgpu.tc_gen5_mma"(%a, %b, %d, %t, %p, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0>}> : (!ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.async.token, i1, i1) -> ()
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @mma_predicates(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
  // expected-error @+1 {{expected a predicate for each of 1 barriers, found 0}}
  "ttnvgpu.tc_gen5_mma"(%a, %b, %d, %p, %p, %bar) <{is_async, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 1, 0>}> : (!ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, i1, i1, !ttg.memdesc<1xi64, #bar, #smem, mutable>) -> ()
  tt.return
}

// -----

#f8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @scaled_bf16(%a: !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, %b: !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %s: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, %t: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @+1 {{expected a format of b that is multiplied with scales, found bf16}}
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %s, %t, %p, %p lhs = e4m3 rhs = bf16 : !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>
  tt.return
}

// -----

#f8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @scaled_shape(%a: !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, %b: !ttg.memdesc<128x128xi8, #f8, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %s: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, %t: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @+1 {{expected as many rows of b as a has columns, 128, found 256}}
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %s, %t, %p, %p lhs = e4m3 rhs = e2m1 : !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, !ttg.memdesc<128x128xi8, #f8, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>
  tt.return
}

// -----

#f8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#sw = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @scaled_scales_type(%a: !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, %b: !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %s: !ttg.memdesc<128x4x!tt.ptr<i8>, #sw, #smem>, %t: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @+1 {{expected a_scale to have 8-bit elements, found '!tt.ptr<i8>'}}
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %s, %t, %p, %p lhs = e4m3 rhs = e4m3 : !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x4x!tt.ptr<i8>, #sw, #smem>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>
  tt.return
}

// -----

#f8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#big = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 512, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @scaled_scales_encoding(%a: !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, %b: !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %s: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, %t: !ttg.memdesc<128x512xi8, #big, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @+1 {{expected b_scale to have a tensor_memory_scales_encoding, found}}
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %s, %t, %p, %p lhs = e4m3 rhs = e4m3 : !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, !ttg.memdesc<128x128xf8E4M3FN, #f8, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<128x512xi8, #big, #ttnvgpu.tensor_memory>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_warps(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %c: tensor<128x128xf32, #mma>) {
  // expected-error @+1 {{expected a result with groups of 4 warps along M, found 'warpsPerCTA' [2, 2]}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : !ttg.memdesc<128x64xf16, #f16, #smem> * !ttg.memdesc<64x128xf16, #f16, #smem> -> tensor<128x128xf32, #mma>
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @wgmma_k_width(%a: tensor<64x64xf16, #a>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>, %c: tensor<64x128xf32, #mma>) {
  // expected-error @+1 {{expected a in registers with a kWidth of 2, found 4}}
  %0 = ttnvgpu.warp_group_dot %a, %b, %c : tensor<64x64xf16, #a> * !ttg.memdesc<64x128xf16, #f16, #smem> -> tensor<64x128xf32, #mma>
  tt.return
}
}

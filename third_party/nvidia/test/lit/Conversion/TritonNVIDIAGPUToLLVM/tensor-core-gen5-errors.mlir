// RUN: tile-opt %s -split-input-file -verify-diagnostics -convert-triton-gpu-to-llvm

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
tt.func private @tf32_along_n(%a: !ttg.memdesc<128x32xf32, #a, #smem>, %b: !ttg.memdesc<32x32xf32, #a, #smem>, %d: !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma'}}
  // expected-note @below {{no matrix descriptor fits the layout of b}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p {is_async} : !ttg.memdesc<128x32xf32, #a, #smem>, !ttg.memdesc<32x32xf32, #a, #smem>, !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:103"} {
tt.func private @integers(%a: !ttg.memdesc<128x32xi8, #a, #smem>, %b: !ttg.memdesc<32x32xi8, #b, #smem>, %d: !ttg.memdesc<128x32xi32, #acc, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma'}}
  // expected-note @below {{the target has no tcgen05.mma for integers}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p {is_async} : !ttg.memdesc<128x32xi8, #a, #smem>, !ttg.memdesc<32x32xi8, #b, #smem>, !ttg.memdesc<128x32xi32, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 16, colStride = 1>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
tt.func private @packed_sums(%a: !ttg.memdesc<128x16xf16, #a, #smem>, %b: !ttg.memdesc<16x16xf16, #a, #smem>, %d: !ttg.memdesc<128x16xf16, #acc, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma'}}
  // expected-note @below {{each element of the accumulator takes a column of its own: colStride must be 2}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p {is_async} : !ttg.memdesc<128x16xf16, #a, #smem>, !ttg.memdesc<16x16xf16, #a, #smem>, !ttg.memdesc<128x16xf16, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 16, colStride = 1>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:120"} {
tt.func private @no_tensor_memory(%a: !ttg.memdesc<128x16xf16, #a, #smem>, %b: !ttg.memdesc<16x16xf16, #a, #smem>, %d: !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma'}}
  // expected-note @below {{the target has no tcgen05.mma}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p {is_async} : !ttg.memdesc<128x16xf16, #a, #smem>, !ttg.memdesc<16x16xf16, #a, #smem>, !ttg.memdesc<128x16xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
tt.func private @rows(%a: !ttg.memdesc<64x32xf8E4M3FN, #a, #smem>, %b: !ttg.memdesc<32x32xf8E4M3FN, #b, #smem>, %d: !ttg.memdesc<64x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %sa: !ttg.memdesc<64x1xi8, #scales, #ttnvgpu.tensor_memory>, %sb: !ttg.memdesc<32x1xi8, #scales, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma_scaled'}}
  // expected-note @below {{tcgen05.mma.kind::mxf8f6f4.block_scale.block32 of one block has no shape of 64 rows and 32 columns}}
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %sa, %sb, %p, %p lhs = e4m3 rhs = e4m3 {is_async} : !ttg.memdesc<64x32xf8E4M3FN, #a, #smem>, !ttg.memdesc<32x32xf8E4M3FN, #b, #smem>, !ttg.memdesc<64x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<64x1xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<32x1xi8, #scales, #ttnvgpu.tensor_memory>
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
// 4-bit elements beside 8-bit ones would have to have padding.
tt.func private @padding(%a: !ttg.memdesc<64x64xf8E4M3FN, #a, #smem>, %b: !ttg.memdesc<32x32xi8, #b, #smem>, %d: !ttg.memdesc<64x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %sa: !ttg.memdesc<64x2xi8, #scales, #ttnvgpu.tensor_memory>, %sb: !ttg.memdesc<32x2xi8, #scales, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma_scaled'}}
  // expected-note @below {{beside 8-bit elements, 4-bit ones must have padding (fp4Padded)}}
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %sa, %sb, %p, %p lhs = e4m3 rhs = e2m1 {is_async} : !ttg.memdesc<64x64xf8E4M3FN, #a, #smem>, !ttg.memdesc<32x32xi8, #b, #smem>, !ttg.memdesc<64x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<64x2xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<32x2xi8, #scales, #ttnvgpu.tensor_memory>
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16, CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16, CTAsPerCGA = [1, 2], CTASplitNum = [1, 1], CTAOrder = [1, 0]}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1, CTASplitM = 2, twoCTAs = true>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
tt.func private @halves(%a: !ttg.memdesc<256x16xf16, #a, #smem>, %b: !ttg.memdesc<16x32xf16, #b, #smem>, %d: !ttg.memdesc<256x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma'}}
  // expected-note @below {{two blocks multiply together: they must divide the columns of b}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p {is_async, two_ctas} : !ttg.memdesc<256x16xf16, #a, #smem>, !ttg.memdesc<16x32xf16, #b, #smem>, !ttg.memdesc<256x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

// The second block has other rows of a than of the sum.
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1, CTASplitM = 2>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
tt.func private @other_rows(%a: !ttg.memdesc<256x16xf16, #a, #smem>, %b: !ttg.memdesc<16x32xf16, #b, #smem>, %d: !ttg.memdesc<256x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma'}}
  // expected-note @below {{blocks of the cluster divide the rows of a otherwise than those of the accumulator}}
  ttnvgpu.tc_gen5_mma %a, %b, %d, %p, %p {is_async} : !ttg.memdesc<256x16xf16, #a, #smem>, !ttg.memdesc<16x32xf16, #b, #smem>, !ttg.memdesc<256x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

#smem = #ttg.shared_memory
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CTAsPerCGA = [2], CTASplitNum = [1], CTAOrder = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
tt.func private @who_hears(%answer: !ttg.memdesc<2xi64, #bars, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bars, #smem, mutable>) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.clc_try_cancel'}}
  // expected-note @below {{the answer comes to each block: each must have a barrier of its own}}
  ttnvgpu.clc_try_cancel %answer, %bar : !ttg.memdesc<2xi64, #bars, #smem, mutable>, !ttg.memdesc<1xi64, #bars, #smem, mutable>
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
// Elements of one format cannot hold another.
tt.func private @elements(%a: !ttg.memdesc<128x32xf8E4M3FN, #a, #smem>, %b: !ttg.memdesc<32x32xf8E4M3FN, #b, #smem>, %d: !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %sa: !ttg.memdesc<128x1xi8, #scales, #ttnvgpu.tensor_memory>, %sb: !ttg.memdesc<32x1xi8, #scales, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma_scaled'}}
  // expected-note @below {{elements of a are to hold e5m2, and these do not}}
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %sa, %sb, %p, %p lhs = e5m2 rhs = e4m3 {is_async} : !ttg.memdesc<128x32xf8E4M3FN, #a, #smem>, !ttg.memdesc<32x32xf8E4M3FN, #b, #smem>, !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x1xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<32x1xi8, #scales, #ttnvgpu.tensor_memory>
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
// There are scales for half of the rows.
tt.func private @too_few_scales(%a: !ttg.memdesc<128x32xf8E4M3FN, #a, #smem>, %b: !ttg.memdesc<32x32xf8E4M3FN, #b, #smem>, %d: !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %sa: !ttg.memdesc<64x1xi8, #scales, #ttnvgpu.tensor_memory>, %sb: !ttg.memdesc<32x1xi8, #scales, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma_scaled'}}
  // expected-note @below {{a is to have a scale for 32 or 16 of 128x32 elements, and has 64}}
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %sa, %sb, %p, %p lhs = e4m3 rhs = e4m3 {is_async} : !ttg.memdesc<128x32xf8E4M3FN, #a, #smem>, !ttg.memdesc<32x32xf8E4M3FN, #b, #smem>, !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<64x1xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<32x1xi8, #scales, #ttnvgpu.tensor_memory>
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#acc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 16, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:100"} {
tt.func private @scales_within_a_window(%a: !ttg.memdesc<128x128xf8E4M3FN, #a, #smem>, %b: !ttg.memdesc<128x32xf8E4M3FN, #b, #smem>, %d: !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, %sa: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, %sb: !ttg.memdesc<32x4xi8, #scales, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @below {{failed to legalize operation 'ttnvgpu.tc_gen5_mma_scaled'}}
  // expected-note @below {{the scales of b begin at the first lane of a window: blockN of the accumulator must be a multiple of 32, or all columns}}
  ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %sa, %sb, %p, %p lhs = e4m3 rhs = e4m3 {is_async} : !ttg.memdesc<128x128xf8E4M3FN, #a, #smem>, !ttg.memdesc<128x32xf8E4M3FN, #b, #smem>, !ttg.memdesc<128x32xf32, #acc, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<32x4xi8, #scales, #ttnvgpu.tensor_memory>
  tt.return
}
}

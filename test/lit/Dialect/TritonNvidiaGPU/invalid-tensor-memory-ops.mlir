// RUN: tile-opt %s -split-input-file -verify-diagnostics

#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
tt.func @alloc_space() {
  // expected-error @+1 {{'ttnvgpu.tmem_alloc' op buffer: expected a buffer in tensor memory, found}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #f32, #smem, mutable>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @alloc_immutable() {
  // expected-error @+1 {{expected the contents of a buffer that is not mutable, found none}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @alloc_rows() {
  // expected-error @+1 {{buffer: expected a matrix of blocks of 128x128, found 64x128}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<64x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @alloc_columns() {
  // expected-error @+1 {{expected a buffer of at most 512 columns of tensor memory, found 1024}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x1024xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @alloc_buffers() {
  // expected-error @+1 {{expected a buffer of at most 512 columns of tensor memory, found 1024}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<8x128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#wide = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 2>
tt.func @alloc_stride() {
  // expected-error @+1 {{expected elements to be at most a 32-bit column apart, found 2 times 32 bits}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #wide, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @alloc_width() {
  // expected-error @+1 {{expected elements of at most 32 bits in tensor memory, found 'i64'}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xi64, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @alloc_scales() {
  // expected-error @+1 {{expected scales of 8 bits, found 16}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x4xf16, #scales, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
tt.func @alloc_encoding() {
  // expected-error @+1 {{expected an encoding for tensor memory, found}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #f32, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @alloc_type(%x: tensor<128x128xf32, #rows>) {
  // expected-error @+1 {{expected a buffer of 'f32' like the tensor, found 'f16'}}
  %0 = ttnvgpu.tmem_alloc %x : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf16, #tmem, #ttnvgpu.tensor_memory>
  tt.return
}
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @store_shape(%x: tensor<128x64xf32, #rows>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{'ttnvgpu.tmem_store' op expected a buffer of shape [128, 64] like the tensor, found [128, 128]}}
  ttnvgpu.tmem_store %x, %d, %p : tensor<128x64xf32, #rows> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @store_mutable(%x: tensor<128x128xf32, #rows>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>, %p: i1) {
  // expected-error @+1 {{expected buffer to be mutable, found}}
  ttnvgpu.tmem_store %x, %d, %p : tensor<128x128xf32, #rows> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>
  tt.return
}
}

// -----

#cols = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @store_layout(%x: tensor<128x128xf32, #cols>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{expected a layout of registers that tcgen05.ld and tcgen05.st move, but warp 1 holds not what lies in its window, the lanes of tensor memory from 32 on: }}
  ttnvgpu.tmem_store %x, %d, %p : tensor<128x128xf32, #cols> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

#half = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 128, colStride = 1>
#warps = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [2, 1], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @store_warps(%x: tensor<64x128xf32, #warps>, %d: !ttg.memdesc<64x128xf32, #half, #ttnvgpu.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{but there are 2 warps, fewer than one for each of the four windows of tensor memory}}
  ttnvgpu.tmem_store %x, %d, %p : tensor<64x128xf32, #warps> -> !ttg.memdesc<64x128xf32, #half, #ttnvgpu.tensor_memory, mutable>
  tt.return
}
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @load_token(%d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %t: !ttg.async.token) {
  // expected-error @+1 {{expected a token as result where one is an operand, found none}}
  %0 = "ttnvgpu.tmem_load"(%d, %t) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (!ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.async.token) -> tensor<128x128xf32, #rows>
  tt.return
}
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @copy_source(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{'ttnvgpu.tmem_copy' op expected source in shared memory, found}}
  ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @copy_shape(%s: !ttg.memdesc<128x64xf32, #f32, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a source of shape [128, 128] like the destination, found [128, 64]}}
  ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<128x64xf32, #f32, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @copy_width(%s: !ttg.memdesc<128x128xf16, #f16, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a source with elements of 32 bits like the destination, found 'f16'}}
  ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<128x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#sw = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @copy_pointers(%s: !ttg.memdesc<128x128x!tt.ptr<f32>, #sw, #smem>, %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a source with elements of 32 bits like the destination, found '!tt.ptr<f32>'}}
  ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<128x128x!tt.ptr<f32>, #sw, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#sw = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @copy_scales(%s: !ttg.memdesc<64x4xi8, #sw, #smem>, %d: !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected 512 scales in the source, as in the destination, found 256}}
  ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<64x4xi8, #sw, #smem>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
#half = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 128, colStride = 1>
tt.func @copy_lanes(%s: !ttg.memdesc<64x128xf32, #f32, #smem>, %d: !ttg.memdesc<64x128xf32, #half, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a destination with blocks of 128 rows, found 64}}
  ttnvgpu.tmem_copy %s, %d : !ttg.memdesc<64x128xf32, #f32, #smem>, !ttg.memdesc<64x128xf32, #half, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @slice_range(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{'ttnvgpu.tmem_subslice' op expected columns from 0 to 128, found those from 96 to 160}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 96 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, mutable, 128x128>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @slice_type(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a result of 'f32' like the source, found 'i32'}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xi32, #tmem64, #ttnvgpu.tensor_memory, mutable, 128x128>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @slice_mutable(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected source and result to be both mutable or both not, found}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, 128x128>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @slice_rows(%s: !ttg.memdesc<256x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a result of all 256 rows, found 128}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 64 : i32} : !ttg.memdesc<256x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, mutable, 256x128>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @slice_alloc_shape(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a result that names the shape of the whole buffer, [128, 128], found [128, 64]}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem64, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @slice_encoding(%s: !ttg.memdesc<128x128xf32, #tmem64, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a result with the encoding of the source, or a smaller blockN, found}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 0 : i32} : !ttg.memdesc<128x128xf32, #tmem64, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 4, colStride = 1>
#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @slice_scales_as_columns(%s: !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected source and result to be both scales or both not, found}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 0 : i32} : !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x4xi8, #tmem, #ttnvgpu.tensor_memory, mutable, 128x8>
  tt.return
}

// -----

#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @slice_scales_of_a_column(%s: !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected multiples of 4 scales of a row, found those from 2 to 6}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 2 : i32} : !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory, mutable, 128x8>
  tt.return
}

// -----

#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @slice_rows_of_scales(%s: !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected multiples of 32 rows of scales, found those from 16 to 80}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 16 : i32, dim = 0 : i32} : !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<64x8xi8, #scales, #ttnvgpu.tensor_memory, mutable, 128x8>
  tt.return
}

// -----

#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @slice_scales_outside(%s: !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected scales of a row from 0 to 8, found those from 4 to 12}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 4 : i32} : !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#scales = #ttnvgpu.tensor_memory_scales_encoding<>
tt.func @slice_both_dimensions_of_scales(%s: !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a result with 128 in dimension 0, like the source, found 64}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 0 : i32} : !ttg.memdesc<128x8xi8, #scales, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<64x4xi8, #scales, #ttnvgpu.tensor_memory, mutable, 128x8>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @slice_column(%s: !ttg.memdesc<128x128xf16, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected the part to start at a 32-bit column, found element 1}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 1 : i32} : !ttg.memdesc<128x128xf16, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf16, #tmem64, #ttnvgpu.tensor_memory, mutable, 128x128>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @slice_negative(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{attribute 'offset' failed to satisfy constraint}}
  %0 = ttnvgpu.tmem_subslice %s {offset = -1 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
tt.func @reduction_without_result(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>) {
  // expected-error @+1 {{expected a result for the reduced rows if there is a redOp, and only then}}
  %0 = ttnvgpu.tmem_load %s {redOp = #ttnvgpu.redOp<min>} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory> -> tensor<128x128xf32, #rows>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
tt.func @nan_without_reduction(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>) {
  // expected-error @+1 {{expected 'abs' and 'NaN' with a redOp only}}
  %0 = ttnvgpu.tmem_load %s {NaN = true} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory> -> tensor<128x128xf32, #rows>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
tt.func @integer_abs(%s: !ttg.memdesc<128x128xi32, #tmem, #ttnvgpu.tensor_memory>) {
  // expected-error @+1 {{expected 'abs' and 'NaN' with elements of f32 only, found 'i32'}}
  %0, %1 = ttnvgpu.tmem_load %s {redOp = #ttnvgpu.redOp<max>, abs = true} : !ttg.memdesc<128x128xi32, #tmem, #ttnvgpu.tensor_memory> -> tensor<128x128xi32, #rows>, tensor<128xi32, #ttg.slice<{dim = 1, parent = #rows}>>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 2>
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
tt.func @half_reduction(%s: !ttg.memdesc<128x128xf16, #tmem, #ttnvgpu.tensor_memory>) {
  // expected-error @+1 {{expected rows of f32 or i32 to reduce, found 'f16'}}
  %0, %1 = ttnvgpu.tmem_load %s {redOp = #ttnvgpu.redOp<max>} : !ttg.memdesc<128x128xf16, #tmem, #ttnvgpu.tensor_memory> -> tensor<128x128xf16, #rows>, tensor<128xf16, #ttg.slice<{dim = 1, parent = #rows}>>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
tt.func @reduced_columns(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory>) {
  // expected-error @+1 {{expected the reduced rows to be 'tensor<128xf32, #ttg.slice<{dim = 1,}}
  %0, %1 = ttnvgpu.tmem_load %s {redOp = #ttnvgpu.redOp<max>} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory> -> tensor<128x128xf32, #rows>, tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
  tt.return
}

// -----

#cols = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[2, 0], [1, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @lanes(%d: !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{but no shape of the instructions gives its elements to the lanes and registers of a warp}}
  %0 = ttnvgpu.tmem_load %d : !ttg.memdesc<128x32xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x32xf32, #cols>
  tt.return
}
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
tt.func @slice_end(%s: !ttg.memdesc<128x32xf16, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected the part to end with a 32-bit column, found element 2}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 2 : i32} : !ttg.memdesc<128x32xf16, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x1xf16, #tmem, #ttnvgpu.tensor_memory, mutable, 128x32>
  tt.return
}

// -----

#pair = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1, CTASplitM = 2, twoCTAs = true>
tt.func @slice_pair(%s: !ttg.memdesc<128x32xf32, #pair, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a buffer whose columns are all in the same lanes of one block, found}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 0 : i32} : !ttg.memdesc<128x32xf32, #pair, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x16xf32, #pair, #ttnvgpu.tensor_memory, mutable, 128x32>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @rows(%s: !ttg.memdesc<256x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected whole blocks of rows that start at a multiple of 128, found rows from 64 to 192}}
  %0 = ttnvgpu.tmem_subslice %s {dim = 0 : i32, offset = 64 : i32} : !ttg.memdesc<256x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable, 256x128>
  tt.return
}

// -----

#half = #ttnvgpu.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
tt.func @rows_of_two_halves(%s: !ttg.memdesc<256x64xf32, #half, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected whole blocks of rows that start at a multiple of 128, found rows from 64 to 192}}
  %0 = ttnvgpu.tmem_subslice %s {dim = 0 : i32, offset = 64 : i32} : !ttg.memdesc<256x64xf32, #half, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #half, #ttnvgpu.tensor_memory, mutable, 256x64>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @rows_outside(%s: !ttg.memdesc<256x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected rows from 0 to 256, found those from 256 to 384}}
  %0 = ttnvgpu.tmem_subslice %s {dim = 0 : i32, offset = 256 : i32} : !ttg.memdesc<256x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable, 256x128>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @buffers(%s: !ttg.memdesc<4x128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a part of the buffers of an array, dim = 0, found}}
  %0 = ttnvgpu.tmem_subslice %s {dim = 1 : i32, offset = 0 : i32} : !ttg.memdesc<4x128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<2x128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable, 4x128x64>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @buffers_outside(%s: !ttg.memdesc<4x128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected buffers from 0 to 4, found those from 3 to 5}}
  %0 = ttnvgpu.tmem_subslice %s {dim = 0 : i32, offset = 3 : i32} : !ttg.memdesc<4x128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<2x128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable, 4x128x64>
  tt.return
}

// -----

// expected-error @+1 {{expected colStride to be 1 with fp4Padded, found 2}}
module attributes {ttg.enc = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2, fp4Padded = true>} {}

// -----

#padded = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, fp4Padded = true>
tt.func @padded_halves() {
  // expected-error @+1 {{expected bytes of two 4-bit numbers with fp4Padded, found elements of 16 bits}}
  %0 = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xf16, #padded, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#padded = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, fp4Padded = true>
#rows = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
tt.func @padded_load(%s: !ttg.memdesc<128x64xi8, #padded, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a buffer of bytes with a number each, found one of two 4-bit numbers to an element}}
  %0 = ttnvgpu.tmem_load %s : !ttg.memdesc<128x64xi8, #padded, #ttnvgpu.tensor_memory, mutable> -> tensor<128x64xi8, #rows>
  tt.return
}

// -----

#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
tt.func @part_of_another(%s: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>) {
  // expected-error @+1 {{expected a result that names the shape of the whole buffer}}
  %0 = ttnvgpu.tmem_subslice %s {offset = 0 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable, 2x128x128>
  tt.return
}

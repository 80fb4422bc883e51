// RUN: tile-opt %s -split-input-file -verify-diagnostics

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @copy_element_type(%d: !tt.tensordesc<tensor<64x64xf16, #f16>>, %b: !ttg.memdesc<64x64xbf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %p: i1) {
  // expected-error @+1 {{'ttnvgpu.async_tma_copy_global_to_local' op expected destination to have elements of 'f16' like the descriptor, found 'bf16'}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x] %b, %bar, %p : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xbf16, #f16, #smem, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @copy_coordinates(%d: !tt.tensordesc<tensor<64x64xf16, #f16>>, %b: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %p: i1) {
  // expected-error @+1 {{expected 2 coordinates, one for each dimension of the descriptor, found 3}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x, %x] %b, %bar, %p : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @copy_no_coordinates(%d: !tt.tensordesc<tensor<64x64xf16, #f16>>, %b: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %p: i1) {
  // expected-error @+1 {{expected 1 to 5 coordinates, found 0}}
  ttnvgpu.async_tma_copy_global_to_local %d[] %b, %bar, %p : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @copy_shape(%d: !tt.tensordesc<tensor<64x64xf16, #f16>>, %b: !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %p: i1) {
  // expected-error @+1 {{expected destination of shape [64, 64] like the descriptor's blocks, found [32, 64]}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x] %b, %bar, %p : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<32x64xf16, #f16, #smem, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#f16b = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @copy_encoding(%d: !tt.tensordesc<tensor<64x64xf16, #f16>>, %b: !ttg.memdesc<64x64xf16, #f16b, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %p: i1) {
  // expected-error @+1 {{expected destination to have the descriptor's encoding}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x] %b, %bar, %p : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16b, #smem, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @copy_mutable(%d: !tt.tensordesc<tensor<64x64xf16, #f16>>, %b: !ttg.memdesc<64x64xf16, #f16, #smem>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %p: i1) {
  // expected-error @+1 {{expected destination to be mutable, found}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x] %b, %bar, %p : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem64 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @copy_space(%d: !tt.tensordesc<tensor<64x64xf16, #f16>>, %b: !ttg.memdesc<64x64xf16, #tmem64, #ttnvgpu.tensor_memory, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %p: i1) {
  // expected-error @+1 {{expected destination in shared memory, found}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x] %b, %bar, %p : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #tmem64, #ttnvgpu.tensor_memory, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @copy_barrier(%d: !tt.tensordesc<tensor<64x64xf16, #f16>>, %b: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi32, #bar, #smem, mutable>, %x: i32, %p: i1) {
  // expected-error @+1 {{expected barrier to be a 1xi64 buffer in shared memory, found}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x] %b, %bar, %p : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi32, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @store_shape(%d: !tt.tensordesc<tensor<64x64xf16, #f16>>, %b: !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, %x: i32) {
  // expected-error @+1 {{'ttnvgpu.async_tma_copy_local_to_global' op expected source of shape [64, 64] like the descriptor's blocks, found [32, 64]}}
  ttnvgpu.async_tma_copy_local_to_global %d[%x, %x] %b : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<32x64xf16, #f16, #smem, mutable>
  tt.return
}

// -----

#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
tt.func @reduce_min_f32(%d: !tt.tensordesc<tensor<64x64xf32>>, %b: !ttg.memdesc<64x64xf32, #f32, #smem>, %x: i32) {
  // expected-error @+1 {{'ttnvgpu.async_tma_reduce' op expected elements that TMA reduces by min, found 'f32'}}
  ttnvgpu.async_tma_reduce min, %d[%x, %x] %b : !tt.tensordesc<tensor<64x64xf32>>, !ttg.memdesc<64x64xf32, #f32, #smem>
  tt.return
}

// -----

#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
tt.func @reduce_and_f32(%d: !tt.tensordesc<tensor<64x64xf32>>, %b: !ttg.memdesc<64x64xf32, #f32, #smem>, %x: i32) {
  // expected-error @+1 {{expected elements that TMA reduces by and, found 'f32'}}
  ttnvgpu.async_tma_reduce and, %d[%x, %x] %b : !tt.tensordesc<tensor<64x64xf32>>, !ttg.memdesc<64x64xf32, #f32, #smem>
  tt.return
}

// -----

#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
tt.func @reduce_inc_i64(%d: !tt.tensordesc<tensor<64x64xi64>>, %b: !ttg.memdesc<64x64xi64, #f32, #smem>, %x: i32) {
  // expected-error @+1 {{expected elements that TMA reduces by inc, found 'i64'}}
  ttnvgpu.async_tma_reduce inc, %d[%x, %x] %b : !tt.tensordesc<tensor<64x64xi64>>, !ttg.memdesc<64x64xi64, #f32, #smem>
  tt.return
}

// -----

#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
tt.func @reduce_add_i8(%d: !tt.tensordesc<tensor<64x64xi8>>, %b: !ttg.memdesc<64x64xi8, #f32, #smem>, %x: i32) {
  // expected-error @+1 {{expected elements that TMA reduces by add, found 'i8'}}
  ttnvgpu.async_tma_reduce add, %d[%x, %x] %b : !tt.tensordesc<tensor<64x64xi8>>, !ttg.memdesc<64x64xi8, #f32, #smem>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @gather_block(%d: !tt.tensordesc<tensor<2x64xf16, #f16>>, %r: tensor<32xi32, #one>, %b: !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %y: i32, %p: i1) {
  // expected-error @+1 {{'ttnvgpu.async_tma_gather' op expected a descriptor of blocks of one row, found [2, 64]}}
  ttnvgpu.async_tma_gather %d[%r, %y] %b, %bar, %p : !tt.tensordesc<tensor<2x64xf16, #f16>>, tensor<32xi32, #one>, i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, i1
  tt.return
}
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @gather_count(%d: !tt.tensordesc<tensor<1x64xf16, #f16>>, %r: tensor<2xi32, #one>, %b: !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %y: i32, %p: i1) {
  // expected-error @+1 {{expected a multiple of 4 rows, found 2}}
  ttnvgpu.async_tma_gather %d[%r, %y] %b, %bar, %p : !tt.tensordesc<tensor<1x64xf16, #f16>>, tensor<2xi32, #one>, i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, i1
  tt.return
}
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @gather_width(%d: !tt.tensordesc<tensor<1x8xf16, #f16>>, %r: tensor<32xi32, #one>, %b: !ttg.memdesc<32x8xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %y: i32, %p: i1) {
  // expected-error @+1 {{expected rows of at least 32 bytes, found 8 elements of 16 bits}}
  ttnvgpu.async_tma_gather %d[%r, %y] %b, %bar, %p : !tt.tensordesc<tensor<1x8xf16, #f16>>, tensor<32xi32, #one>, i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<32x8xf16, #f16, #smem, mutable>, i1
  tt.return
}
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @gather_shape(%d: !tt.tensordesc<tensor<1x64xf16, #f16>>, %r: tensor<32xi32, #one>, %b: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %y: i32, %p: i1) {
  // expected-error @+1 {{expected destination of shape [32, 64], found [64, 64]}}
  ttnvgpu.async_tma_gather %d[%r, %y] %b, %bar, %p : !tt.tensordesc<tensor<1x64xf16, #f16>>, tensor<32xi32, #one>, i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<64x64xf16, #f16, #smem, mutable>, i1
  tt.return
}
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @gather_rows(%d: !tt.tensordesc<tensor<1x64xf16, #f16>>, %r: tensor<32xi64, #one>, %b: !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %y: i32, %p: i1) {
  // expected-error @+1 {{must be one-dimensional tensor of i32}}
  ttnvgpu.async_tma_gather %d[%r, %y] %b, %bar, %p : !tt.tensordesc<tensor<1x64xf16, #f16>>, tensor<32xi64, #one>, i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, i1
  tt.return
}
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func @scatter(%d: !tt.tensordesc<tensor<1x64xf16, #f16>>, %r: tensor<32xi32, #one>, %b: !ttg.memdesc<32x64xbf16, #f16, #smem, mutable>, %y: i32) {
  // expected-error @+1 {{'ttnvgpu.async_tma_scatter' op expected source to have elements of 'f16' like the descriptor, found 'bf16'}}
  ttnvgpu.async_tma_scatter %d[%r, %y] %b : !tt.tensordesc<tensor<1x64xf16, #f16>>, tensor<32xi32, #one>, i32, !ttg.memdesc<32x64xbf16, #f16, #smem, mutable>
  tt.return
}
}

// -----

tt.func @store_wait() {
  // expected-error @+1 {{attribute 'pendings' failed to satisfy constraint}}
  ttnvgpu.async_tma_store_wait {pendings = -1 : i32}
  tt.return
}

// -----

tt.func @map_rank(%p: !tt.ptr<i8>, %b: !tt.ptr<f16>, %c: i32, %s: i64) {
  // expected-error @+1 {{'ttnvgpu.tensormap_create' op expected 1 to 5 dimensions of a tensor map, found 6}}
  ttnvgpu.tensormap_create %p, %b, [%c, %c, %c, %c, %c, %c], [%c, %c, %c, %c, %c, %c], [%s, %s, %s, %s, %s], [%c, %c, %c, %c, %c, %c] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64, i32, i32, i32, i32, i32, i32) -> ()
  tt.return
}

// -----

tt.func @map_dims(%p: !tt.ptr<i8>, %b: !tt.ptr<f16>, %c: i32, %s: i64) {
  // expected-error @+1 {{expected 2 global dimensions, as many as the box has, found 3}}
  ttnvgpu.tensormap_create %p, %b, [%c, %c], [%c, %c, %c], [%s], [%c, %c] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i32, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func @map_element_strides(%p: !tt.ptr<i8>, %b: !tt.ptr<f16>, %c: i32, %s: i64) {
  // expected-error @+1 {{expected 2 element strides, as many as the box has dimensions, found 1}}
  ttnvgpu.tensormap_create %p, %b, [%c, %c], [%c, %c], [%s], [%c] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32) -> ()
  tt.return
}

// -----

tt.func @map_strides(%p: !tt.ptr<i8>, %b: !tt.ptr<f16>, %c: i32, %s: i64) {
  // expected-error @+1 {{expected 1 global strides, one less than the box has dimensions, found 2}}
  ttnvgpu.tensormap_create %p, %b, [%c, %c], [%c, %c], [%s, %s], [%c, %c] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func @map_box(%p: !tt.ptr<i8>, %b: !tt.ptr<f16>, %c: i32, %s: i64) {
  %c512 = arith.constant 512 : i32
  // expected-error @+1 {{expected box dimension from 1 to 256, found 512}}
  ttnvgpu.tensormap_create %p, %b, [%c512, %c512], [%c, %c], [%s], [%c, %c] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func @map_type(%p: !tt.ptr<i8>, %b: !tt.ptr<f16>, %c: i32, %s: i64) {
  // expected-error @+1 {{attribute 'elem_type' failed to satisfy constraint}}
  ttnvgpu.tensormap_create %p, %b, [%c, %c], [%c, %c], [%s], [%c, %c] {elem_type = 16 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func @map_swizzle(%p: !tt.ptr<i8>, %b: !tt.ptr<f16>, %c: i32, %s: i64) {
  // expected-error @+1 {{attribute 'swizzle_mode' failed to satisfy constraint}}
  ttnvgpu.tensormap_create %p, %b, [%c, %c], [%c, %c], [%s], [%c, %c] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 4 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func @map_fill(%p: !tt.ptr<i8>, %b: !tt.ptr<f16>, %c: i32, %s: i64) {
  // expected-error @+1 {{attribute 'fill_mode' failed to satisfy constraint}}
  ttnvgpu.tensormap_create %p, %b, [%c, %c], [%c, %c], [%s], [%c, %c] {elem_type = 6 : i32, fill_mode = 2 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func @map_interleave(%p: !tt.ptr<i8>, %b: !tt.ptr<f16>, %c: i32, %s: i64) {
  // expected-error @+1 {{attribute 'interleave_layout' failed to satisfy constraint}}
  ttnvgpu.tensormap_create %p, %b, [%c, %c], [%c, %c], [%s], [%c, %c] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 3 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
  tt.return
}

// -----

#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
tt.func @reinterpret(%p: !tt.ptr<tensor<64x64xf16>>) {
  // expected-error @+1 {{expected the address of a tensor map, found a block pointer}}
  %0 = ttnvgpu.reinterpret_tensor_descriptor %p : !tt.ptr<tensor<64x64xf16>> to !tt.tensordesc<tensor<64x64xf16, #f16>>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @pixel_coordinates(%d: !ttnvgpu.tensordesc_im2col<64x64xf16, #f16>, %b: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %r: i16, %p: i1) {
  // expected-error @+1 {{expected 3 to 5 coordinates of a pixel, found 2}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x] %b, %bar, %p : !ttnvgpu.tensordesc_im2col<64x64xf16, #f16>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @pixel_offsets(%d: !ttnvgpu.tensordesc_im2col<64x64xf16, #f16>, %b: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %r: i16, %p: i1) {
  // expected-error @+1 {{expected 2 offsets, one for each dimension between the first and the last, found 1}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x, %x, %x] offsets = [%r] %b, %bar, %p : !ttnvgpu.tensordesc_im2col<64x64xf16, #f16>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @pixel_block(%d: !ttnvgpu.tensordesc_im2col<32x64xf16, #f16>, %b: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %r: i16, %p: i1) {
  // expected-error @+1 {{expected destination of shape [32, 64] like the descriptor}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x, %x, %x] offsets = [%r, %r] %b, %bar, %p : !ttnvgpu.tensordesc_im2col<32x64xf16, #f16>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
  tt.return
}

// -----

// expected-error @+1 {{expected at most 1024 pixels, found 2048}}
tt.func @many_pixels(%d: !ttnvgpu.tensordesc_im2col<2048x16xf16>) {
  tt.return
}

// -----

// expected-error @+1 {{expected a block of pixels and channels}}
tt.func @rows_of_pixels(%d: !ttnvgpu.tensordesc_im2col<4x16x16xf16>) {
  tt.return
}

// -----

// The buffer leaves out a dimension of size 1. Its rows are swizzled as those of the block all the same.
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16, rank = 3}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @other_swizzle(%d: !tt.tensordesc<tensor<1x64x64xf16, #narrow>>, %b: !ttg.memdesc<64x64xf16, #wide, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %p: i1) {
  // expected-error @+1 {{expected destination to have the descriptor's encoding}}
  ttnvgpu.async_tma_copy_global_to_local %d[%x, %x, %x] %b, %bar, %p : !tt.tensordesc<tensor<1x64x64xf16, #narrow>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #wide, #smem, mutable>
  tt.return
}

// RUN: tile-opt %s -split-input-file -verify-diagnostics -convert-triton-gpu-to-llvm

// expected-error @below {{expected a 'ttg.target' attribute on the module}}
module attributes {"ttg.num-warps" = 4 : i32} {
}

// -----

// expected-error @below {{unknown target "cuda:12": known ones are cuda:75, cuda:80}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:12"} {
}

// -----

// expected-error @below {{unknown target "hip:gfx942": known ones are cuda:75,}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942"} {
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @below {{shared memory is not allocated: run -allocate-shared-memory first}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
  tt.func @buffer() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64xf32, #shared, #ttg.shared_memory, mutable>
    tt.return
  }
}

// -----

// What exchanges values may take more memory here than where it got its place.
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
// expected-error @below {{barriers between accesses to shared memory are not inserted: run -insert-memory-barriers first}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 65536 : i32, ttg.target = "cuda:80"} {
  tt.func @exchange(%x: tensor<128x128xf32, #rows>) -> tensor<128x128xf32, #columns> {
    %0 = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<128x128xf32, #rows> -> tensor<128x128xf32, #columns>
    tt.return %0 : tensor<128x128xf32, #columns>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CTAsPerCGA = [2], CTASplitNum = [2], CTAOrder = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, ttg.shared = 0 : i32, "ttg.barriers-inserted", ttg.target = "cuda:90"} {
tt.func @scan(%x: tensor<256xi32, #blocked>) -> tensor<256xi32, #blocked> {
  // expected-error @below {{failed to legalize operation 'tt.scan'}}
  // expected-note @below {{the axis is split over the blocks of a cluster}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tt.scan.return %s : i32
  }) : (tensor<256xi32, #blocked>) -> tensor<256xi32, #blocked>
  tt.return %0 : tensor<256xi32, #blocked>
}
}

// -----

// Elements of another group would be scaled by its scale: here 16 bytes of A lie together.
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>
module attributes {ttg.shared = 0 : i32, "ttg.barriers-inserted", "ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:120"} {
  tt.func @other_order(%x: tensor<16x128xf8E4M3FN, #a>, %y: tensor<128x8xf8E4M3FN, #b>, %z: tensor<16x8xf32, #mma>) {
    // expected-error @below {{failed to legalize operation 'tt.dot_scaled'}}
    // expected-note @below {{operands or scales are not laid out for mma.sync with scales}}
    %0 = tt.dot_scaled %x, %y, %z lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x128xf8E4M3FN, #a> * tensor<128x8xf8E4M3FN, #b> -> tensor<16x8xf32, #mma>
    tt.return
  }
}

// -----

// Without a cluster a GPU stops at the instruction.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {ttg.shared = 528 : i32, "ttg.barriers-inserted", "ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func @one_block(%x: tensor<128xi32, #blocked>) {
    %to = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<128xi32, #shared, #ttg.shared_memory, mutable>
    %barrier = ttg.local_alloc {allocation.offset = 512 : i32} : () -> !ttg.memdesc<1xi64, #shared, #ttg.shared_memory, mutable>
    // expected-error @below {{failed to legalize operation 'ttnvgpu.async_shared_store'}}
    // expected-note @below {{st.async is for clusters of more than one block, and num_ctas is 1}}
    ttnvgpu.async_shared_store %x, %to, %barrier : tensor<128xi32, #blocked> -> !ttg.memdesc<128xi32, #shared, #ttg.shared_memory, mutable>, !ttg.memdesc<1xi64, #shared, #ttg.shared_memory, mutable>
    tt.return
  }
}

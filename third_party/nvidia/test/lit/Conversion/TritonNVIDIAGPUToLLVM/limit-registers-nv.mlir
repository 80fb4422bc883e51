// RUN: tile-opt %s -split-input-file -limit-registers-nv | filecheck %s

// Three blocks have room in shared memory: 168 registers for each of 384 threads.
// CHECK: ttg.maxnreg = 168
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %0 : tensor<64x128xf32, #mma>
}
}

// -----

// The one block that there is room for may have them all, and there is nothing to state.
// CHECK-NOT: ttg.maxnreg
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 100000 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %0 : tensor<64x128xf32, #mma>
}
}

// -----

// What a second product needs is hard to tell.
// CHECK-NOT: ttg.maxnreg
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  %1 = tt.dot %x, %y, %0 : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %1 : tensor<64x128xf32, #mma>
}
}

// -----

// With another tensor beside the product there are too many.
// CHECK-NOT: ttg.maxnreg
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>, %d: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  %1 = arith.addf %0, %d : tensor<64x128xf32, #mma>
  tt.return %1 : tensor<64x128xf32, #mma>
}
}

// -----

// What was asked for stays.
// CHECK: ttg.maxnreg = 96
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.maxnreg = 96 : i32, ttg.target = "cuda:80"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %0 : tensor<64x128xf32, #mma>
}
}

// -----

// Products of warp groups do without: only what costs no block is stated there.
// CHECK-NOT: ttg.maxnreg
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:90"} {
tt.func @product(%x: tensor<64x64xf16, #a>, %y: tensor<64x128xf16, #b>, %c: tensor<64x128xf32, #mma>) -> tensor<64x128xf32, #mma> {
  %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<64x128xf32, #mma>
  tt.return %0 : tensor<64x128xf32, #mma>
}
}

// -----

// Two blocks of eight warps: the four that multiply get what those that copy leave.
// CHECK: ttg.maxnreg = 128
// CHECK: actualRegisters = array<i32: 216, 40>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 100000 : i32, ttg.target = "cuda:90"} {
tt.func @consumer(%x: !ttg.memdesc<128x64xf16, #shared, #smem>, %y: !ttg.memdesc<64x128xf16, #shared, #smem>, %c: tensor<128x128xf32, #mma>) {
  ttg.warp_specialize() attributes {requestedRegisters = array<i32: 40>, warpGroupStartIds = array<i32: 4>}
  default {
    %0 = ttnvgpu.warp_group_dot %x, %y, %c {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
    ttg.warp_yield
  }
  partition0() num_warps(1) {
    ttg.warp_return
  } : () -> ()
  tt.return
}
}

// -----

// A thread of sixteen warps has 128 registers, and may need most of them: integers that follow from data
// count, indices do not.
// CHECK: ttg.maxnreg = 128
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [16], order = [0]}>

module attributes {"ttg.num-warps" = 16 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 64 : i32, ttg.target = "cuda:90"} {
tt.func @many(%p: tensor<32768x!tt.ptr<i32>, #blocked>) {
  %x = tt.load %p : tensor<32768x!tt.ptr<i32>, #blocked>
  %y = arith.addi %x, %x : tensor<32768xi32, #blocked>
  %z = arith.muli %x, %y : tensor<32768xi32, #blocked>
  tt.store %p, %y : tensor<32768x!tt.ptr<i32>, #blocked>
  tt.store %p, %z : tensor<32768x!tt.ptr<i32>, #blocked>
  tt.return
}
}

// -----

// Fewer: resident blocks are ptxas' business.
// CHECK-NOT: ttg.maxnreg
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [16], order = [0]}>

module attributes {"ttg.num-warps" = 16 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 64 : i32, ttg.target = "cuda:90"} {
tt.func @few(%p: !tt.ptr<f32>) {
  %i = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #blocked>
  %j = arith.addi %i, %i : tensor<16384xi32, #blocked>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #blocked>
  %from = tt.addptr %base, %i : tensor<16384x!tt.ptr<f32>, #blocked>, tensor<16384xi32, #blocked>
  %to = tt.addptr %base, %j : tensor<16384x!tt.ptr<f32>, #blocked>, tensor<16384xi32, #blocked>
  %x = tt.load %from : tensor<16384x!tt.ptr<f32>, #blocked>
  %y = arith.addf %x, %x : tensor<16384xf32, #blocked>
  tt.store %to, %y : tensor<16384x!tt.ptr<f32>, #blocked>
  tt.return
}
}

// -----

// Two tensors of 128 registers each and what else there is are more than any thread can have.
// CHECK: ttg.maxnreg = 255
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:80"} {
tt.func @full(%x: tensor<8192xf32, #blocked>, %y: tensor<8192xf32, #blocked>) -> tensor<8192xf32, #blocked> {
  %0 = arith.addf %x, %y : tensor<8192xf32, #blocked>
  tt.return %0 : tensor<8192xf32, #blocked>
}
}

// -----

// One of them leaves room, and ptxas to weigh registers against blocks.
// CHECK-NOT: ttg.maxnreg
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:80"} {
tt.func @half(%x: tensor<8192xf32, #blocked>) -> tensor<8192xf32, #blocked> {
  %0 = arith.addf %x, %x : tensor<8192xf32, #blocked>
  tt.return %0 : tensor<8192xf32, #blocked>
}
}

// -----

// Differences, their powers and products with what stays are made element by element for the sum.
// CHECK-NOT: ttg.maxnreg
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 0, parent = #blocked}>
#column = #ttg.slice<{dim = 1, parent = #blocked}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 0 : i32, ttg.target = "cuda:80"} {
tt.func @chain(%x: tensor<16x128xf32, #blocked>, %y: tensor<16x128xf32, #blocked>, %row: tensor<128xf32, #row>) -> (tensor<16xf32, #column>, tensor<16x128xf32, #blocked>, tensor<16x128xf32, #blocked>) {
  %0 = tt.expand_dims %row {axis = 0 : i32} : tensor<128xf32, #row> -> tensor<1x128xf32, #blocked>
  %1 = tt.broadcast %0 : tensor<1x128xf32, #blocked> -> tensor<16x128xf32, #blocked>
  %2 = arith.mulf %x, %1 : tensor<16x128xf32, #blocked>
  %3 = arith.subf %y, %1 : tensor<16x128xf32, #blocked>
  %4 = math.exp2 %3 : tensor<16x128xf32, #blocked>
  %5 = arith.mulf %2, %4 : tensor<16x128xf32, #blocked>
  %6 = "tt.reduce"(%5) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<16x128xf32, #blocked>) -> tensor<16xf32, #column>
  tt.return %6, %x, %y : tensor<16xf32, #column>, tensor<16x128xf32, #blocked>, tensor<16x128xf32, #blocked>
}
}

// -----

// What they are made of does not stay, and two tensors of 128 are as many then.
// CHECK: ttg.maxnreg = 255
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32, ttg.target = "cuda:80"} {
tt.func @used_up(%x: tensor<8192xf32, #blocked>, %y: tensor<8192xf32, #blocked>) -> tensor<8192xf32, #blocked> {
  %0 = math.exp2 %x : tensor<8192xf32, #blocked>
  %1 = math.exp2 %y : tensor<8192xf32, #blocked>
  %2 = arith.addf %0, %1 : tensor<8192xf32, #blocked>
  tt.return %2 : tensor<8192xf32, #blocked>
}
}

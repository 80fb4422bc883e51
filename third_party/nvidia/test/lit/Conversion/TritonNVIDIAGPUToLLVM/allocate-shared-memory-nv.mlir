// RUN: tile-opt %s -split-input-file -verify-diagnostics -allocate-shared-memory-nv | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// CHECK: ttg.shared = 8192 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80"} {
// CHECK-LABEL: @two
tt.func @two(%x: tensor<32x32xf32, #blocked>) {
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 4096 : i32}
  %a = ttg.local_alloc %x : (tensor<32x32xf32, #blocked>) -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
  %b = ttg.local_alloc %x : (tensor<32x32xf32, #blocked>) -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
  %0 = ttg.local_load %a : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #blocked>
  %1 = ttg.local_load %b : !ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> tensor<32x32xf32, #blocked>
  tt.return
}
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:86"} {
tt.func @too_much() {
  // expected-note @below {{65536 bytes for 'ttg.local_alloc'}}
  %a = ttg.local_alloc : () -> !ttg.memdesc<128x128xf32, #shared, #smem, mutable>
  // The largest buffer is to blame.
  // expected-error @below {{out of shared memory: the kernel needs 327680 bytes, a block on cuda:86 has at most 101376; smaller tiles or fewer pipeline stages need less}}
  // expected-note @below {{262144 bytes for 'ttg.local_alloc'}}
  %b = ttg.local_alloc : () -> !ttg.memdesc<256x256xf32, #shared, #smem, mutable>
  ttg.local_dealloc %a : !ttg.memdesc<128x128xf32, #shared, #smem, mutable>
  tt.return
}
}

// -----

// expected-error @below {{a program of 2 blocks needs a target with clusters, which cuda:80 lacks}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, ttg.target = "cuda:80"} {
tt.func @no_clusters() {
  tt.return
}
}

// -----

// A conversion of 64 KB takes several turns through 32 KB, but one where it
// finds as much memory that others are done with, and no more is needed.

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 98304 : i32
// CHECK-LABEL: @behind_a_ring
tt.func @behind_a_ring(%x: tensor<128x128xf32, #mma>) -> (tensor<128x128xf32, #rows>, tensor<128x128xf32, #rows>) {
  %ring = ttg.local_alloc : () -> !ttg.memdesc<2x128x128xf16, #shared, #smem, mutable>
  // While the ring is there, more would be needed.
  // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = {{[0-9]+}} : i32} :
  %y = ttg.convert_layout %x : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #rows>
  ttg.local_dealloc %ring : !ttg.memdesc<2x128x128xf16, #shared, #smem, mutable>
  // CHECK: ttg.convert_layout %{{.*}} {allocation.in_one_turn, allocation.offset = {{[0-9]+}} : i32} :
  %z = ttg.convert_layout %x : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #rows>
  tt.return %y, %z : tensor<128x128xf32, #rows>, tensor<128x128xf32, #rows>
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 32768 : i32
// CHECK-LABEL: @alone
tt.func @alone(%x: tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #rows> {
  // CHECK-NOT: {{in_one_turn|turn_bytes}}
  %y = ttg.convert_layout %x : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #rows>
  tt.return %y : tensor<128x128xf32, #rows>
}
}

// -----

// Behind a loop a conversion takes no more than the loop's buffers, in more
// turns, where shared memory limits the resident blocks: there is room for 5
// blocks of 16 KB, and for 3 of 32 KB. Each barrier of a loop counts, so there
// it keeps its 32 KB.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 16384 : i32
// CHECK-LABEL: @behind_a_loop
tt.func @behind_a_loop(%x: tensor<128x128xf16, #mma>, %n: i32) -> tensor<128x128xf16, #rows> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %ring = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    ttg.local_dealloc %ring : !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  }
  // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = {{[0-9]+}} : i32, allocation.turn_bytes = 16384 : i32} :
  %y = ttg.convert_layout %x : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #rows>
  tt.return %y : tensor<128x128xf16, #rows>
}
}

// -----

// The same with twice as many registers, which limit the blocks to 3. Turns of
// 32 KB cost none.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 32768 : i32
// CHECK-LABEL: @many_registers
tt.func @many_registers(%x: tensor<128x128xf32, #mma>, %n: i32) -> tensor<128x128xf32, #rows> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %ring = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    ttg.local_dealloc %ring : !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  }
  // CHECK-NOT: {{in_one_turn|turn_bytes}}
  %y = ttg.convert_layout %x : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #rows>
  tt.return %y : tensor<128x128xf32, #rows>
}
}

// -----

// 32 registers and few more. 11 blocks of 8 KB fit into the shared memory of
// this GPU, and 5 of 16 KB.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 8192 : i32
// CHECK-LABEL: @few_registers
tt.func @few_registers(%x: tensor<64x64xi32, #mma>, %n: i32) -> tensor<64x64xi32, #rows> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %ring = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_dealloc %ring : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  }
  // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = {{[0-9]+}} : i32, allocation.turn_bytes = 8192 : i32} :
  %y = ttg.convert_layout %x : tensor<64x64xi32, #mma> -> tensor<64x64xi32, #rows>
  tt.return %y : tensor<64x64xi32, #rows>
}
}

// -----

// Here there is room for 13 blocks of 16 KB, and registers for 12.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 16384 : i32
// CHECK-LABEL: @large_memory
tt.func @large_memory(%x: tensor<64x64xi32, #mma>, %n: i32) -> tensor<64x64xi32, #rows> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %ring = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_dealloc %ring : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  }
  // CHECK-NOT: {{in_one_turn|turn_bytes}}
  %y = ttg.convert_layout %x : tensor<64x64xi32, #mma> -> tensor<64x64xi32, #rows>
  tt.return %y : tensor<64x64xi32, #rows>
}
}

// -----

// Where the launch allows few registers, shared memory is the limit again: 25
// blocks of 8 KB.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, ttg.maxnreg = 24 : i32} {
// CHECK: ttg.shared = 8192 : i32
// CHECK-LABEL: @limited_registers
tt.func @limited_registers(%x: tensor<64x64xi32, #mma>, %n: i32) -> tensor<64x64xi32, #rows> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %ring = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_dealloc %ring : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  }
  // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = {{[0-9]+}} : i32, allocation.turn_bytes = 8192 : i32} :
  %y = ttg.convert_layout %x : tensor<64x64xi32, #mma> -> tensor<64x64xi32, #rows>
  tt.return %y : tensor<64x64xi32, #rows>
}
}

// -----

// Each block has half of the columns of tensor memory, so two are resident,
// however little shared memory they take.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32, ttg.tensor_memory_size = 256 : i32} {
// CHECK: ttg.shared = 32772 : i32
// CHECK-LABEL: @tensor_memory
tt.func @tensor_memory(%x: tensor<128x128xf16, #mma>, %n: i32) -> tensor<128x128xf16, #rows> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %ring = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    ttg.local_dealloc %ring : !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  }
  // CHECK-NOT: {{in_one_turn|turn_bytes}}
  %y = ttg.convert_layout %x : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #rows>
  tt.return %y : tensor<128x128xf16, #rows>
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 32768 : i32
// CHECK-LABEL: @in_a_loop
tt.func @in_a_loop(%x: tensor<128x128xf32, #mma>, %n: i32, %to: tensor<128x128x!tt.ptr<f32>, #rows>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  ttg.local_dealloc %ring : !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK-NOT: {{in_one_turn|turn_bytes}}
    %y = ttg.convert_layout %x : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #rows>
    tt.store %to, %y : tensor<128x128x!tt.ptr<f32>, #rows>
  }
  tt.return
}
}

// -----

// Each block of one warp has little else than its ring. Where the conversion
// takes 8 KB, 9 blocks are resident, and else 14.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 10240 : i32
// CHECK-LABEL: @more_blocks_by_turns
tt.func @more_blocks_by_turns(%x: tensor<64x64xf16, #mma>, %n: i32, %to: tensor<64x64x!tt.ptr<f16>, #rows>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = ttg.local_alloc : () -> !ttg.memdesc<32x128xf16, #shared, #smem, mutable>
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = {{[0-9]+}} : i32, allocation.turn_bytes = 2048 : i32} :
    %y = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #rows>
    tt.store %to, %y : tensor<64x64x!tt.ptr<f16>, #rows>
  }
  ttg.local_dealloc %ring : !ttg.memdesc<32x128xf16, #shared, #smem, mutable>
  tt.return
}
}

// -----

// The same where loops are blocks already. As long as one conversion takes so
// much, the others need not take less.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 32768 : i32
// CHECK-LABEL: @blocks
tt.func @blocks(%x: tensor<128x128xf32, #mma>, %n: i32, %c: i1, %to: tensor<128x128x!tt.ptr<f32>, #rows>) {
  %ring = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  ttg.local_dealloc %ring : !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  cf.br ^loop
^loop:
  // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = {{[0-9]+}} : i32} :
  %y = ttg.convert_layout %x : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #rows>
  tt.store %to, %y : tensor<128x128x!tt.ptr<f32>, #rows>
  cf.cond_br %c, ^loop, ^end
^end:
  // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = {{[0-9]+}} : i32} :
  %z = ttg.convert_layout %x : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #rows>
  tt.store %to, %z : tensor<128x128x!tt.ptr<f32>, #rows>
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: ttg.shared = 16384 : i32
// CHECK-LABEL: @behind_blocks
tt.func @behind_blocks(%x: tensor<128x128xf16, #mma>, %n: i32, %c: i1) -> tensor<128x128xf16, #rows> {
  %ring = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  ttg.local_dealloc %ring : !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  cf.br ^loop
^loop:
  cf.cond_br %c, ^loop, ^end
^end:
  // CHECK: ttg.convert_layout %{{.*}} {allocation.offset = {{[0-9]+}} : i32, allocation.turn_bytes = 16384 : i32} :
  %z = ttg.convert_layout %x : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #rows>
  tt.return %z : tensor<128x128xf16, #rows>
}
}

// -----

// Registers are not counted before it is known that all tensors have layouts.

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
tt.func @no_layouts(%x: tensor<128x128xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %y = scf.for %i = %zero to %n step %one iter_args(%sum = %x) -> tensor<128x128xf32> : i32 {
    // expected-error @below {{expected every tensor to have a layout, found 'tensor<128x128xf32>'}}
    %z = arith.addf %sum, %x : tensor<128x128xf32>
    scf.yield %z : tensor<128x128xf32>
  }
  tt.return
}
}

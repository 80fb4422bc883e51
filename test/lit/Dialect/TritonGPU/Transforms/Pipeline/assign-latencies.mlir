// RUN: tile-opt %s -split-input-file -tritongpu-assign-latencies=num-stages=3 | filecheck %s
// RUN: tile-opt %s -split-input-file -tritongpu-assign-latencies=num-stages=3 -tritongpu-schedule-loops -tritongpu-pipeline -o /dev/null

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Loads that lead to the dot share the stages; a small one that does not comes
  // to registers an iteration ahead.
  // CHECK-LABEL: tt.func @direct
  tt.func @direct(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %o: tensor<32x32xi32, #blocked>,
                  %b: tensor<32x32xf16, #dot1>, %lb: i32, %ub: i32, %step: i32) -> (tensor<32x32xf32, #mma>, tensor<32x32xf16, #blocked>) {
    %a = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %half = arith.constant dense<0.0> : tensor<32x32xf16, #blocked>
    // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
    // CHECK: tt.dot
    // CHECK: tt.load %{{.*}} {tt.latency = 1 : i32}
    %r:2 = scf.for %i = %lb to %ub step %step iter_args(%acc = %zero, %sum = %half) -> (tensor<32x32xf32, #mma>, tensor<32x32xf16, #blocked>) : i32 {
      %x = tt.load %a : tensor<32x32x!tt.ptr<f16>, #blocked>
      %y = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #dot0>
      %d = tt.dot %y, %b, %acc : tensor<32x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<32x32xf32, #mma>
      %z = tt.load %a : tensor<32x32x!tt.ptr<f16>, #blocked>
      %s = arith.addf %sum, %z : tensor<32x32xf16, #blocked>
      scf.yield %d, %s : tensor<32x32xf32, #mma>, tensor<32x32xf16, #blocked>
    }
    tt.return %r#0, %r#1 : tensor<32x32xf32, #mma>, tensor<32x32xf16, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A loop within that only computes is like any other operation. One that
  // loads is the one whose loads start early.
  // CHECK-LABEL: tt.func @loops_within
  tt.func @loops_within(%p: tensor<512x!tt.ptr<f32>, #blocked> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>, %n: i32) -> (tensor<512xf32, #blocked>, f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %none = arith.constant 0.0 : f32
    // CHECK: tt.load %{{.*}} {tt.latency = 3 : i32}
    %a = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> tensor<512xf32, #blocked> : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #blocked>
      %y = scf.for %j = %c0 to %n step %c1 iter_args(%z = %x) -> tensor<512xf32, #blocked> : i32 {
        %d = arith.addf %z, %z : tensor<512xf32, #blocked>
        scf.yield %d : tensor<512xf32, #blocked>
      }
      %s = arith.addf %sum, %y : tensor<512xf32, #blocked>
      scf.yield %s : tensor<512xf32, #blocked>
    } {tt.num_stages = 4 : i32}
    // CHECK: tt.load %{{[^ ]*}} : tensor
    %b:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %a, %f = %none) -> (tensor<512xf32, #blocked>, f32) : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #blocked>
      %g = scf.for %j = %c0 to %n step %c1 iter_args(%z = %f) -> f32 : i32 {
        %l = tt.load %q : !tt.ptr<f32>
        %d = arith.addf %z, %l : f32
        scf.yield %d : f32
      }
      %s = arith.addf %sum, %x : tensor<512xf32, #blocked>
      scf.yield %s, %g : tensor<512xf32, #blocked>, f32
    } {tt.num_stages = 4 : i32}
    tt.return %b#0, %b#1 : tensor<512xf32, #blocked>, f32
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A loop that asks for stages has all its loads started early, unless it
  // writes through the argument they read from.
  // CHECK-LABEL: tt.func @explicit
  tt.func @explicit(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %lb: i32, %ub: i32, %step: i32) {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %sp = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    %sq = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %aq = tt.addptr %sq, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    // CHECK: tt.load %{{.*}} {tt.latency = 3 : i32}
    // CHECK: tt.load %{{[^ ]*}} : tensor
    scf.for %i = %lb to %ub step %step : i32 {
      %x = tt.load %ap : tensor<512x!tt.ptr<f32>, #blocked>
      %y = tt.load %aq : tensor<512x!tt.ptr<f32>, #blocked>
      %s = arith.addf %x, %y : tensor<512xf32, #blocked>
      tt.store %aq, %s : tensor<512x!tt.ptr<f32>, #blocked>
    } {tt.num_stages = 4 : i32}
    tt.return
  }

  // The origin of an address is known through loops and branches; where they
  // differ, nothing is.
  // CHECK-LABEL: tt.func @origins
  tt.func @origins(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: i1, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %sp = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    %bp = tt.addptr %ap, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    %sq = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %aq = tt.addptr %sq, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    %poison = ub.poison : tensor<512x!tt.ptr<f32>, #blocked>
    // CHECK: scf.for
    // CHECK: tt.load %{{.*}} {tt.latency = 3 : i32}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %poison) -> (tensor<512x!tt.ptr<f32>, #blocked>) : i32 {
      %at = scf.if %c -> (tensor<512x!tt.ptr<f32>, #blocked>) {
        scf.yield %ap : tensor<512x!tt.ptr<f32>, #blocked>
      } else {
        scf.yield %carried : tensor<512x!tt.ptr<f32>, #blocked>
      }
      %x = tt.load %at : tensor<512x!tt.ptr<f32>, #blocked>
      tt.store %aq, %x : tensor<512x!tt.ptr<f32>, #blocked>
      scf.yield %at : tensor<512x!tt.ptr<f32>, #blocked>
    } {tt.num_stages = 4 : i32}
    // CHECK: scf.for
    // CHECK: tt.load %{{[^ ]*}} : tensor
    scf.for %i = %c0 to %n step %c1 : i32 {
      %at = scf.if %c -> (tensor<512x!tt.ptr<f32>, #blocked>) {
        scf.yield %ap : tensor<512x!tt.ptr<f32>, #blocked>
      } else {
        scf.yield %aq : tensor<512x!tt.ptr<f32>, #blocked>
      }
      %x = tt.load %at : tensor<512x!tt.ptr<f32>, #blocked>
      tt.store %aq, %x : tensor<512x!tt.ptr<f32>, #blocked>
    } {tt.num_stages = 4 : i32}
    tt.return
  }

  // An index starts an iteration before the load that it is for.
  // CHECK-LABEL: tt.func @index
  tt.func @index(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<512xi32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %zero = arith.constant dense<0> : tensor<512xi32, #blocked>
    %sp = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #blocked>
    %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>
    %sq = tt.splat %q : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #blocked>
    // CHECK: tt.load %{{.*}} {tt.latency = 1 : i32}
    // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<512xi32, #blocked>) : i32 {
      %x = tt.load %ap : tensor<512x!tt.ptr<i32>, #blocked>
      %aq = tt.addptr %sq, %x {tt.contiguity = dense<4> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>
      %y = tt.load %aq : tensor<512x!tt.ptr<i32>, #blocked>
      %s = arith.addi %sum, %y : tensor<512xi32, #blocked>
      scf.yield %s : tensor<512xi32, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<512xi32, #blocked>
  }

  // The loop writes what the address of the second load comes from: neither
  // can start early.
  // CHECK-LABEL: tt.func @written_address
  // CHECK-NOT: tt.latency
  tt.func @written_address(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<512xi32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %zero = arith.constant dense<0> : tensor<512xi32, #blocked>
    %sp = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #blocked>
    %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>
    %sq = tt.splat %q : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<512xi32, #blocked>) : i32 {
      %x = tt.load %ap : tensor<512x!tt.ptr<i32>, #blocked>
      %aq = tt.addptr %sq, %x {tt.contiguity = dense<4> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>
      %y = tt.load %aq : tensor<512x!tt.ptr<i32>, #blocked>
      %s = arith.addi %sum, %y : tensor<512xi32, #blocked>
      tt.store %ap, %s : tensor<512x!tt.ptr<i32>, #blocked>
      scf.yield %s : tensor<512xi32, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<512xi32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // Where threads copy through registers, operands are loaded one iteration ahead.
  // CHECK-LABEL: tt.func @through_registers
  // CHECK: tt.load %{{.*}} {tt.latency = 1 : i32}
  // CHECK: tt.dot
  // CHECK: tt.load %{{.*}} {tt.latency = 3 : i32}
  tt.func @through_registers(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %b: tensor<32x64xf16, #dot1>, %lb: i32, %ub: i32, %step: i32) -> (tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %half = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %r:2 = scf.for %i = %lb to %ub step %step iter_args(%acc = %zero, %sum = %half) -> (tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %y = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #dot0>
      %d = tt.dot %y, %b, %acc : tensor<64x32xf16, #dot0> * tensor<32x64xf16, #dot1> -> tensor<64x64xf32, #mma>
      %z = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %s = arith.addf %sum, %z : tensor<64x32xf16, #blocked>
      scf.yield %d, %s : tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>
    } {tt.num_stages = 4 : i32}
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // The product has its result in tensor memory, and none in registers.
  // CHECK-LABEL: tt.func @in_tensor_memory
  // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
  // CHECK: tt.load %{{.*}} {tt.latency = 2 : i32}
  tt.func @in_tensor_memory(%p: tensor<128x64x!tt.ptr<f16>, #blocked> {tt.contiguity = dense<[1, 64]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>}, %q: tensor<64x128x!tt.ptr<f16>, #blocked> {tt.contiguity = dense<[1, 64]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>}, %acc: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f16>, #blocked>
      %y = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %b = ttg.local_alloc %y : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
      ttnvgpu.tc_gen5_mma %a, %b, %acc, %true, %true : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x128xf16, #shared, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    }
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 0, parent = #blocked}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Beside products these are left: a load that takes its address from another
  // one, one of 32 elements a thread, and one that the loop writes.
  // CHECK-LABEL: tt.func @beside
  tt.func @beside(%a: !tt.ptr<f16>, %o: tensor<32x32xi32, #blocked>, %big: tensor<128x32xi32, #blocked>,
                  %indices: !tt.ptr<i32>, %values: !tt.ptr<f32>, %written: !tt.ptr<f32>, %b: tensor<32x32xf16, #dot1>, %n: i32) -> (tensor<32x32xf32, #mma>, tensor<32xf32, #row>, tensor<128x32xf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<32xf32, #row>
    %nothing = arith.constant dense<0.0> : tensor<128x32xf16, #blocked>
    %base = tt.splat %values : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #row>
    %places = tt.splat %indices : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #row>
    %a1 = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #blocked>
    %p = tt.addptr %a1, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %a4 = tt.splat %a : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>, #blocked>
    %large = tt.addptr %a4, %big : tensor<128x32x!tt.ptr<f16>, #blocked>, tensor<128x32xi32, #blocked>
    // CHECK: scf.for
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %none, %half = %nothing) -> (tensor<32x32xf32, #mma>, tensor<32xf32, #row>, tensor<128x32xf16, #blocked>) : i32 {
      // CHECK: tt.load {{.*}} {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>
      %x = tt.load %p : tensor<32x32x!tt.ptr<f16>, #blocked>
      %y = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #dot0>
      %d = tt.dot %y, %b, %acc : tensor<32x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<32x32xf32, #mma>
      // CHECK: tt.load {{.*}} {tt.latency = 1 : i32} : tensor<32x!tt.ptr<i32>
      // CHECK-NOT: tt.latency
      %index = tt.load %places : tensor<32x!tt.ptr<i32>, #row>
      %q = tt.addptr %base, %index : tensor<32x!tt.ptr<f32>, #row>, tensor<32xi32, #row>
      %v = tt.load %q : tensor<32x!tt.ptr<f32>, #row>
      %l = tt.load %large : tensor<128x32x!tt.ptr<f16>, #blocked>
      %w = tt.load %written : !tt.ptr<f32>
      %w1 = arith.addf %w, %w : f32
      tt.store %written, %w1 : !tt.ptr<f32>
      %s = arith.addf %sum, %v : tensor<32xf32, #row>
      %h = arith.addf %half, %l : tensor<128x32xf16, #blocked>
      scf.yield %d, %s, %h : tensor<32x32xf32, #mma>, tensor<32xf32, #row>, tensor<128x32xf16, #blocked>
    }
    tt.return %r#0, %r#1, %r#2 : tensor<32x32xf32, #mma>, tensor<32xf32, #row>, tensor<128x32xf16, #blocked>
  }
}

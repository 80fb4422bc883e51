// RUN: tile-opt %s -split-input-file -tritongpu-partition-scheduling | filecheck %s
// RUN: tile-opt %s -split-input-file -tritongpu-partition-scheduling=supported=false | filecheck %s --check-prefix NONE

// Loads that were to start early go to the partition; the stages become buffers.
// A schedule from before is forgotten.
// NONE-NOT: warp_specialize
// NONE-NOT: ttg.partition
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @divided
  // CHECK: tt.load %{{.*}} {ttg.partition = 0 : i32}
  // CHECK: tt.store
  // CHECK: } {tt.num_stages = 3 : i32, tt.warp_specialize}
  tt.func @divided(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %pi = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %sp = tt.splat %pi : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
      %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %sq = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
      %aq = tt.addptr %sq, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %ap {loop.cluster = 0 : i32, loop.stage = 0 : i32, tt.latency = 2 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      tt.store %aq, %x : tensor<512x!tt.ptr<f32>, #blocked>
    } {tt.scheduled_max_stage = 2 : i32, tt.warp_specialize}
    tt.return
  }

  // What the loop writes cannot be loaded ahead of it.
  // CHECK-LABEL: tt.func @rewritten
  // CHECK-NOT: ttg.partition
  // CHECK-NOT: tt.warp_specialize
  // CHECK: tt.return
  tt.func @rewritten(%p: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %sp = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %ap {tt.latency = 2 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %y = arith.addf %x, %x : tensor<512xf32, #blocked>
      tt.store %ap, %y : tensor<512x!tt.ptr<f32>, #blocked>
    } {tt.warp_specialize}
    tt.return
  }

  // What asserts something of data stays with the warps that use it.
  // CHECK-LABEL: tt.func @asserted
  // CHECK: tt.load %{{.*}} {ttg.partition = 0 : i32}
  // CHECK: tt.assert
  // CHECK: } {tt.num_stages = 3 : i32, tt.warp_specialize}
  tt.func @asserted(%p: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %pi = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %sp = tt.splat %pi : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
      %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %ap {tt.latency = 2 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %number = arith.cmpf oeq, %x, %x : tensor<512xf32, #blocked>
      tt.assert %number, "a number" : tensor<512xi1, #blocked>
    } {tt.warp_specialize}
    tt.return
  }

  // What asserts something of an index comes before what is read there.
  // CHECK-LABEL: tt.func @guarded
  // CHECK-NOT: ttg.partition
  // CHECK-NOT: tt.warp_specialize
  // CHECK: tt.return
  tt.func @guarded(%p: !tt.ptr<f32>, %n: i32, %end: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %inside = arith.cmpi slt, %i, %end : i32
      tt.assert %inside, "inside" : i1
      %pi = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %sp = tt.splat %pi : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
      %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %ap {tt.latency = 2 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      tt.print "x" {hex = false, isSigned = array<i32: 1>} : %x : tensor<512xf32, #blocked>
    } {tt.warp_specialize}
    tt.return
  }

  // Tensors of pointers that come from elsewhere stay with the warps that have
  // them.
  // CHECK-LABEL: tt.func @pointers
  // CHECK-NOT: ttg.partition
  // CHECK: tt.return
  tt.func @pointers(%ap: tensor<512x!tt.ptr<f32>, #blocked>, %aq: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %ap {tt.latency = 0 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      tt.print "x" {hex = false, isSigned = array<i32: 1>} : %x : tensor<512xf32, #blocked>
    } {tt.warp_specialize}
    tt.return
  }

  // A nest is divided as a whole, and needs not be made one loop for that.
  // CHECK-LABEL: tt.func @nest
  // CHECK: tt.load %{{.*}} {ttg.partition = 0 : i32}
  // CHECK: } {tt.num_stages = 2 : i32}
  // CHECK: } {tt.warp_specialize}
  // CHECK: tt.return
  tt.func @nest(%p: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %sp = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.for %j = %c0 to %n step %c1 : i32 {
        %x = tt.load %ap {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
        tt.print "x" {hex = false, isSigned = array<i32: 1>} : %x : tensor<512xf32, #blocked>
      }
    } {tt.flatten, tt.warp_specialize}
    tt.return
  }

  // Where it cannot be, the mark goes to the loop inside.
  // CHECK-LABEL: tt.func @condition
  // CHECK: tt.load %{{.*}} {ttg.partition = 0 : i32}
  // CHECK: } {tt.num_stages = 2 : i32, tt.warp_specialize}
  // CHECK-NOT: tt.warp_specialize
  // CHECK: tt.return
  tt.func @condition(%p: !tt.ptr<f32>, %n: i32, %b: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %sp = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %ap = tt.addptr %sp, %range : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.if %b {
        scf.for %j = %c0 to %n step %c1 : i32 {
          %x = tt.load %ap {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
          tt.print "x" {hex = false, isSigned = array<i32: 1>} : %x : tensor<512xf32, #blocked>
        }
      }
    } {tt.warp_specialize}
    tt.return
  }

  // Of three buffers of 64 KB there is room for two beside that of the store.
  // CHECK-LABEL: tt.func @no_room
  // CHECK: tt.load %{{.*}} {ttg.partition = 0 : i32}
  // CHECK: } {tt.num_stages = 2 : i32}
  // CHECK: } {tt.warp_specialize}
  tt.func @no_room(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #blocked>
    %sp = tt.splat %p : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #blocked>
    %ap = tt.addptr %sp, %range : tensor<16384x!tt.ptr<f32>, #blocked>, tensor<16384xi32, #blocked>
    %sq = tt.splat %q : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #blocked>
    %aq = tt.addptr %sq, %range : tensor<16384x!tt.ptr<f32>, #blocked>, tensor<16384xi32, #blocked>
    %zero = arith.constant dense<0.0> : tensor<16384xf32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16384xf32, #blocked>) : i32 {
        %x = tt.load %ap {tt.latency = 2 : i32} : tensor<16384x!tt.ptr<f32>, #blocked>
        %s = arith.addf %acc, %x : tensor<16384xf32, #blocked>
        scf.yield %s : tensor<16384xf32, #blocked>
      }
      tt.store %aq, %sum : tensor<16384x!tt.ptr<f32>, #blocked>
    } {tt.warp_specialize}
    tt.return
  }
}

// -----

// A tile's operand for all products of the loops in a nest gets a buffer that
// the partition fills, if nothing else reads it.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @tile
  // CHECK: tt.descriptor_load %arg0[{{.*}}] {ttg.partition = 0 : i32}
  // CHECK-NEXT: ttg.local_alloc
  // CHECK: tt.descriptor_load %arg0[{{.*}}] :
  // CHECK: tt.descriptor_load %arg1[{{.*}}] {ttg.partition = 0 : i32}
  // CHECK: } {tt.num_stages = 3 : i32}
  // CHECK: } {tt.num_stages = 1 : i32, tt.warp_specialize}
  tt.func @tile(%q: !tt.tensordesc<tensor<64x64xf16, #shared>>, %k: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.descriptor_load %q[%i, %c0] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %printed = tt.descriptor_load %q[%c0, %i] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %also = ttg.local_alloc %printed : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      tt.print "x" {hex = false, isSigned = array<i32: 1>} : %printed : tensor<64x64xf16, #blocked>
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<64x64xf32, #mma>) : i32 {
        %y = tt.descriptor_load %k[%j, %c0] {tt.latency = 2 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
        %b = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
        %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
        %e = ttnvgpu.warp_group_dot %also, %b, %d {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
        scf.yield %e : tensor<64x64xf32, #mma>
      }
      tt.print "sum" {hex = false, isSigned = array<i32: 1>} : %sum : tensor<64x64xf32, #mma>
    } {tt.warp_specialize}
    tt.return
  }
}

// -----

// Blocks of a cluster share what is loaded by pointers, and exchange it.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @cluster
  // CHECK-NOT: ttg.partition
  // CHECK-NOT: tt.warp_specialize
  // CHECK: tt.return
  tt.func @cluster(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %pi = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %sp = tt.splat %pi : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
      %ap = tt.addptr %sp, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %sq = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
      %aq = tt.addptr %sq, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      %x = tt.load %ap {tt.latency = 2 : i32} : tensor<1024x!tt.ptr<f32>, #blocked>
      tt.store %aq, %x : tensor<1024x!tt.ptr<f32>, #blocked>
    } {tt.warp_specialize}
    tt.return
  }
}

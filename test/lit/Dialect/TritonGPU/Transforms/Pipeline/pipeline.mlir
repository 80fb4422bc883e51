// RUN: tile-opt %s -split-input-file -tritongpu-schedule-loops -tritongpu-pipeline -canonicalize -cse | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
// CHECK: #[[SHARED:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @matmul
  tt.func @matmul(%a: tensor<32x32x!tt.ptr<f16>, #blocked>,
                  %b: tensor<32x32x!tt.ptr<f16>, #blocked>,
                  %step: tensor<32x32xi32, #blocked>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %a8 = tt.addptr %a, %step {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %b8 = tt.addptr %b, %step {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    // The ring has one buffer per stage between a copy and its use.
    // CHECK: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #[[SHARED]], #smem, mutable>
    // CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #[[SHARED]], #smem, mutable>
    // Two iterations' copies before the loop, predicated on the trip count.
    // CHECK: arith.cmpi sgt
    // CHECK: ttg.async_copy_global_to_local {{.*}} mask
    // CHECK: ttg.async_commit_group
    // CHECK: ttg.async_copy_global_to_local {{.*}} mask
    // CHECK: ttg.async_commit_group
    // CHECK: ttg.async_copy_global_to_local {{.*}} mask
    // CHECK: ttg.async_commit_group
    // CHECK: ttg.async_copy_global_to_local {{.*}} mask
    // CHECK: ttg.async_commit_group
    // CHECK: scf.for
    // One wait for both operands, which leaves the next iteration's copies.
    // CHECK: ttg.async_wait %{{.*}}, %{{.*}} {num = 2 : i32}
    // CHECK: ttg.local_load {{.*}} -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0
    // CHECK: ttg.local_load {{.*}} -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1
    // CHECK: tt.dot
    // CHECK: ttg.async_copy_global_to_local {{.*}} mask
    // CHECK: ttg.async_copy_global_to_local {{.*}} mask
    // CHECK: scf.yield
    // CHECK: ttg.async_wait {num = 0 : i32}
    // CHECK: ttg.local_dealloc %[[B]]
    // CHECK: ttg.local_dealloc %[[A]]
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a8, %q = %b8, %acc = %zero) -> (tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xf32, #mma>) : i32 {
      %x = tt.load %p {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %y = tt.load %q {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %xd = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #dot0>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #dot1>
      %d = tt.dot %xd, %yd, %acc : tensor<32x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<32x32xf32, #mma>
      %np = tt.addptr %p, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      %nq = tt.addptr %q, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      scf.yield %np, %nq, %d : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xf32, #mma>
    }
    tt.return %r#2 : tensor<32x32xf32, #mma>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A value other than zero for what is masked off is put in after the copy.
  // CHECK-LABEL: tt.func @other
  tt.func @other(%p: tensor<512x!tt.ptr<f32>, #blocked>, %m: tensor<512xi1, #blocked>, %n: i32) -> tensor<512xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %other = arith.constant dense<1.0> : tensor<512xf32, #blocked>
    // CHECK: scf.for
    // CHECK: %[[X:.*]] = ttg.local_load
    // CHECK: arith.select %{{.*}}, %[[X]], %{{.*}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %x = tt.load %p, %m, %other {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %s = arith.addf %sum, %x : tensor<512xf32, #blocked>
      scf.yield %s : tensor<512xf32, #blocked>
    }
    tt.return %r : tensor<512xf32, #blocked>
  }
}

// -----

// The operands of two products one after the other arrive together: one wait,
// with its barrier, is for both.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @two_products
  tt.func @two_products(%q: tensor<64x32xf16, #dot0>, %kp: tensor<32x32x!tt.ptr<f16>, #blocked>,
                        %vp: tensor<32x32x!tt.ptr<f16>, #blocked>,
                        %step: tensor<32x32xi32, #blocked>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %k1 = tt.addptr %kp, %step {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %v1 = tt.addptr %vp, %step {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    // CHECK: scf.for
    // CHECK: ttg.async_wait %{{.*}}, %{{.*}} {num = 2 : i32}
    // CHECK: tt.dot
    // CHECK-NOT: ttg.async_wait
    // CHECK: tt.dot
    // CHECK: scf.yield
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %k1, %o = %v1, %acc = %zero) -> (tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<64x32xf32, #mma>) : i32 {
      %k = tt.load %p {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %kd = ttg.convert_layout %k : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #dot1>
      %s = tt.dot %q, %kd, %zero : tensor<64x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<64x32xf32, #mma>
      %w = arith.truncf %s : tensor<64x32xf32, #mma> to tensor<64x32xf16, #mma>
      %wd = ttg.convert_layout %w : tensor<64x32xf16, #mma> -> tensor<64x32xf16, #dot0>
      %v = tt.load %o {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %vd = ttg.convert_layout %v : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #dot1>
      %d = tt.dot %wd, %vd, %acc : tensor<64x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<64x32xf32, #mma>
      %np = tt.addptr %p, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      %nq = tt.addptr %o, %step : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
      scf.yield %np, %nq, %d : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<64x32xf32, #mma>
    }
    tt.return %r#2 : tensor<64x32xf32, #mma>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // For iterations that do not exist the divisor is one, in branches, too; a
  // constant is what it is.
  // CHECK-LABEL: tt.func @divisions
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step
  // CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[I]],
  // CHECK: %[[NEXT:.*]] = arith.addi %[[I]],
  // CHECK: %[[DIVISOR:.*]] = arith.subi %{{.*}}, %[[NEXT]]
  // CHECK: %[[SAFE:.*]] = arith.select %[[EXISTS]], %[[DIVISOR]], %c1_i32
  // CHECK: arith.divsi %{{.*}}, %[[SAFE]]
  // CHECK: scf.if
  // CHECK-NEXT: arith.remui %{{.*}}, %[[SAFE]]
  // CHECK: arith.divsi %{{.*}}, %c7_i32
  tt.func @divisions(%p: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32, %m: i32, %c: i1) -> tensor<512xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %d = arith.subi %n, %i : i32
      %k = arith.divsi %m, %d : i32
      %k2 = scf.if %c -> (i32) {
        %rem = arith.remui %m, %d : i32
        scf.yield %rem : i32
      } else {
        scf.yield %k : i32
      }
      %k3 = arith.divsi %k2, %c7 : i32
      %o = tt.splat %k3 : i32 -> tensor<512xi32, #blocked>
      %q = tt.addptr %p, %o {tt.contiguity = dense<512> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %q {tt.latency = 1 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %s = arith.addf %sum, %x : tensor<512xf32, #blocked>
      scf.yield %s : tensor<512xf32, #blocked>
    }
    tt.return %r : tensor<512xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The copies of an iteration arrive at one mbarrier, which the products of
  // that iteration wait for. One buffer more, for the product under way.
  // CHECK-LABEL: tt.func @bulk_copies
  tt.func @bulk_copies(%a: !tt.tensordesc<tensor<64x64xf16, #shared>>, %b: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    // CHECK: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #{{.*}}, #smem, mutable>
    // CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #{{.*}}, #smem, mutable>
    // CHECK: %[[BARS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64, #{{.*}}, #smem, mutable>
    // CHECK-COUNT-3: ttnvgpu.init_barrier %{{.*}}, 1
    // Two iterations' copies before the loop.
    // CHECK: ttnvgpu.barrier_expect %{{.*}}, 16384, %[[RUNS:.*]] :
    // CHECK: ttnvgpu.async_tma_copy_global_to_local %{{.*}}, %[[RUNS]] :
    // CHECK: ttnvgpu.async_tma_copy_global_to_local %{{.*}}, %[[RUNS]] :
    // CHECK: ttnvgpu.barrier_expect
    // CHECK-COUNT-2: ttnvgpu.async_tma_copy_global_to_local
    // CHECK: scf.for
    // CHECK: %[[BAR:.*]] = ttg.memdesc_index %[[BARS]]
    // CHECK: ttnvgpu.wait_barrier %[[BAR]], %[[PHASE:[^ ]*]] deps %[[A]], %[[B]]
    // CHECK: ttnvgpu.warp_group_dot {{.*}} {inputPrecision = 0 : i32, isAsync = true}
    // CHECK: ttnvgpu.warp_group_dot_wait {{.*}} {pendings = 1 : i32}
    // CHECK: ttnvgpu.barrier_expect %{{.*}}, 16384
    // CHECK-COUNT-2: ttnvgpu.async_tma_copy_global_to_local
    // CHECK: scf.yield
    // CHECK: ttnvgpu.warp_group_dot_wait
    // CHECK-NOT: ttg.async_wait
    // CHECK-COUNT-3: ttnvgpu.inval_barrier
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.descriptor_load %a[%c0, %i] {tt.latency = 2 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %y = tt.descriptor_load %b[%i, %c0] {tt.latency = 2 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %xs = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %ys = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttnvgpu.warp_group_dot %xs, %ys, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#rows = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>
#smem = #ttg.shared_memory
// CHECK: #[[ROWS:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A buffer that operands are read from, turned, is where copies go to; not
  // where something else than zero has to be put in.
  // CHECK-LABEL: tt.func @turned
  tt.func @turned(%a: tensor<32x32x!tt.ptr<f16>, #blocked>, %b: tensor<32x32x!tt.ptr<f16>, #blocked>, %m: tensor<32x32xi1, #blocked>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    %one = arith.constant dense<1.0> : tensor<32x32xf16, #blocked>
    // CHECK: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x32x32xf16, #[[ROWS]], #smem, mutable>
    // CHECK: scf.for
    // CHECK: ttg.async_wait
    // CHECK: %[[SLOT:.*]] = ttg.memdesc_index %[[A]]
    // CHECK: %[[VIEW:.*]] = ttg.memdesc_trans %[[SLOT]]
    // CHECK: ttg.local_load %[[VIEW]] {{.*}} -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0
    // CHECK: arith.select
    // CHECK: ttg.local_alloc %
    // CHECK: tt.dot
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %x = tt.load %a {tt.latency = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %y = tt.load %b, %m, %one {tt.latency = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #blocked>
      %xs = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #rows, #smem>
      %xt = ttg.memdesc_trans %xs {order = array<i32: 1, 0>} : !ttg.memdesc<32x32xf16, #rows, #smem> -> !ttg.memdesc<32x32xf16, #columns, #smem>
      %xd = ttg.local_load %xt : !ttg.memdesc<32x32xf16, #columns, #smem> -> tensor<32x32xf16, #dot0>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #rows, #smem>
      %yt = ttg.memdesc_trans %ys {order = array<i32: 1, 0>} : !ttg.memdesc<32x32xf16, #rows, #smem> -> !ttg.memdesc<32x32xf16, #columns, #smem>
      %yd = ttg.local_load %yt : !ttg.memdesc<32x32xf16, #columns, #smem> -> tensor<32x32xf16, #dot1>
      %d = tt.dot %xd, %yd, %acc : tensor<32x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}

// -----

// Bytes of which the operand is made by elementwise operations lie as the threads
// read the operand: the operations move behind the read.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
// CHECK: #[[BYTES:.*]] = #ttg.swizzled_shared<{vec = 16, perPhase = 4, maxPhase = 2, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @nibbles
  tt.func @nibbles(%a: tensor<32x32x!tt.ptr<i8>, #blocked>, %b: tensor<32x32xf16, #dot1>, %n: i32) -> tensor<32x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %mask = arith.constant dense<15> : tensor<32x32xi8, #blocked>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #mma>
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x32x32xi8, #[[BYTES]], #smem, mutable>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #mma>) : i32 {
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<i8>, #blocked>
      %low = arith.andi %x, %mask : tensor<32x32xi8, #blocked>
      %turned = arith.xori %low, %mask : tensor<32x32xi8, #blocked>
      %bytes = ttg.convert_layout %turned : tensor<32x32xi8, #blocked> -> tensor<32x32xi8, #dot0>
      %f = arith.uitofp %bytes : tensor<32x32xi8, #dot0> to tensor<32x32xf16, #dot0>
      %d = tt.dot %f, %b, %acc : tensor<32x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<32x32xf32, #mma>
      scf.yield %d : tensor<32x32xf32, #mma>
    }
    tt.return %r : tensor<32x32xf32, #mma>
  }
}

// -----

// Where each lane reads a row of its own, as it does for tensor memory, 16 bytes
// of different rows lie in different banks. Lanes that read one row need no swizzle.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = [[16, 0], [32, 0]], block = []}>
#along = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [8, 0]], lane = [[0, 16], [0, 32], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []}>
// CHECK-DAG: #[[SWIZZLED:.*]] = #ttg.swizzled_shared<{vec = 16, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-DAG: #[[PLAIN:.*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @rows_of_lanes
  tt.func @rows_of_lanes(%a: tensor<64x64x!tt.ptr<i8>, #blocked>, %n: i32) -> tensor<64x64xi8, #rows> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %mask = arith.constant dense<15> : tensor<64x64xi8, #blocked>
    %zero = arith.constant dense<0> : tensor<64x64xi8, #rows>
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xi8, #[[SWIZZLED]], #smem, mutable>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xi8, #rows>) : i32 {
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<i8>, #blocked>
      %low = arith.andi %x, %mask : tensor<64x64xi8, #blocked>
      %read = ttg.convert_layout %low : tensor<64x64xi8, #blocked> -> tensor<64x64xi8, #rows>
      %sum = arith.addi %acc, %read : tensor<64x64xi8, #rows>
      scf.yield %sum : tensor<64x64xi8, #rows>
    }
    tt.return %r : tensor<64x64xi8, #rows>
  }

  // CHECK-LABEL: tt.func @rows_of_groups
  tt.func @rows_of_groups(%a: tensor<64x64x!tt.ptr<i8>, #blocked>, %n: i32) -> tensor<64x64xi8, #along> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<64x64xi8, #along>
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xi8, #[[PLAIN]], #smem, mutable>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xi8, #along>) : i32 {
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<i8>, #blocked>
      %read = ttg.convert_layout %x : tensor<64x64xi8, #blocked> -> tensor<64x64xi8, #along>
      %sum = arith.addi %acc, %read : tensor<64x64xi8, #along>
      scf.yield %sum : tensor<64x64xi8, #along>
    }
    tt.return %r : tensor<64x64xi8, #along>
  }
}

// -----

// Results of dots are multiplied by what a loop reads in their layout: four
// lanes read 16 bytes of a row, and eight rows of 128 bytes start at one bank.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// CHECK: #[[SWIZZLED:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @rows_of_matrices
  tt.func @rows_of_matrices(%a: tensor<64x64x!tt.ptr<bf16>, #blocked>, %n: i32) -> (tensor<64x64xbf16, #mma>, tensor<64x64xbf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant dense<1.0> : tensor<64x64xbf16, #mma>
    %zero = arith.constant dense<0.0> : tensor<64x64xbf16, #blocked>
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xbf16, #[[SWIZZLED]], #smem, mutable>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%product = %one, %sum = %zero) -> (tensor<64x64xbf16, #mma>, tensor<64x64xbf16, #blocked>) : i32 {
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x64x!tt.ptr<bf16>, #blocked>
      %read = ttg.convert_layout %x : tensor<64x64xbf16, #blocked> -> tensor<64x64xbf16, #mma>
      %next = arith.mulf %product, %read : tensor<64x64xbf16, #mma>
      %more = arith.addf %sum, %x : tensor<64x64xbf16, #blocked>
      scf.yield %next, %more : tensor<64x64xbf16, #mma>, tensor<64x64xbf16, #blocked>
    }
    tt.return %r#0, %r#1 : tensor<64x64xbf16, #mma>, tensor<64x64xbf16, #blocked>
  }
}

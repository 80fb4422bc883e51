// RUN: tile-opt %s -split-input-file -tritongpu-partition-loops -canonicalize | filecheck %s

// Copies by threads: four warps copy for eight, in the layout of four. A tensor
// that was loaded before comes through shared memory.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
  // CHECK: #[[FOUR:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
  // CHECK-LABEL: tt.func @threads
  // CHECK: %[[RING:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x512xf32
  // CHECK: %[[FULL:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK: %[[EMPTY:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
  // CHECK: %[[ROWS:.*]] = ttg.local_alloc %{{.*}} : (tensor<512xi32, #[[WIDE]]>)
  // Each of 128 threads when its copies are there, and each of 4 warps.
  // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 132
  // CHECK-COUNT-2: ttnvgpu.init_barrier %{{.*}}, 8
  // CHECK: %[[R:.*]] = ttg.warp_specialize(%{{.*}}) attributes {requestedRegisters = array<i32: 48>}
  // CHECK: default {
  // CHECK: scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[STAGE:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}})
  // CHECK: %[[F:.*]] = ttg.memdesc_index %[[FULL]][%[[STAGE]]]
  // CHECK: ttnvgpu.wait_barrier %[[F]], %[[PHASE]] deps %[[RING]]
  // CHECK: %[[SLOT:.*]] = ttg.memdesc_index %[[RING]][%[[STAGE]]]
  // CHECK: ttg.local_load %[[SLOT]]
  // CHECK: %[[E:.*]] = ttg.memdesc_index %[[EMPTY]][%[[STAGE]]]
  // CHECK: ttnvgpu.arrive_barrier %[[E]], 8
  // CHECK: arith.addf
  // CHECK-NOT: tt.load
  // CHECK: ttg.warp_yield
  // CHECK: partition0({{.*}}) num_warps(4) {
  // CHECK: ttg.local_load %{{.*}} -> tensor<512xi32, #[[FOUR]]>
  // CHECK: scf.for
  // CHECK: %[[OTHER:.*]] = arith.xori
  // CHECK: ttnvgpu.wait_barrier %{{.*}}, %[[OTHER]]
  // CHECK: ttg.async_copy_global_to_local %{{.*}} : tensor<512x!tt.ptr<f32>, #[[FOUR]]>
  // CHECK-NOT: ttg.async_commit_group
  // CHECK: ttnvgpu.async_copy_mbarrier_arrive %[[G:.*]] {noIncrement}
  // CHECK: ttnvgpu.arrive_barrier %[[G]], 4
  // CHECK: ttg.warp_return
  // CHECK-COUNT-4: ttnvgpu.inval_barrier
  // CHECK: tt.return %[[R]]
  tt.func @threads(%p: !tt.ptr<f32>, %rows: !tt.ptr<i32>, %n: i32) -> tensor<512xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<512xf32, #blocked>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %sr = tt.splat %rows : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #blocked>
    %ar = tt.addptr %sr, %range : tensor<512x!tt.ptr<i32>, #blocked>, tensor<512xi32, #blocked>
    %at = tt.load %ar : tensor<512x!tt.ptr<i32>, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<512xf32, #blocked>) : i32 {
      %pi = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %sp = tt.splat %pi : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
      %ap = tt.addptr %sp, %at : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %ap {ttg.partition = 0 : i32} : tensor<512x!tt.ptr<f32>, #blocked>
      %s = arith.addf %acc, %x : tensor<512xf32, #blocked>
      scf.yield %s : tensor<512xf32, #blocked>
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return %r : tensor<512xf32, #blocked>
  }
}

// -----

// Bulk copies: one warp; the product runs on, and gives back the buffer of the
// iteration before.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @bulk
  // CHECK-COUNT-3: ttnvgpu.init_barrier %{{.*}}, 1 :
  // CHECK-COUNT-3: ttnvgpu.init_barrier %{{.*}}, 4 :
  // CHECK: ttg.warp_specialize({{.*}}) attributes {requestedRegisters = array<i32: 40>}
  // CHECK: scf.for %[[I:.*]] = %[[LB:[^ ]*]] to
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: %[[D:.*]] = ttnvgpu.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttnvgpu.warp_group_dot_wait %[[D]], {{.*}}pendings = 1
  // CHECK: %[[MORE:.*]] = arith.cmpi ne, %[[I]], %[[LB]]
  // CHECK: ttnvgpu.arrive_barrier %{{.*}}, 4, %[[MORE]]
  // CHECK: ttnvgpu.warp_group_dot_wait {{.*}}pendings = 0
  // CHECK: ttg.warp_yield
  // CHECK: partition0({{.*}}) num_warps(1) {
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: ttnvgpu.barrier_expect %[[FULL:.*]], 16384,
  // CHECK: ttnvgpu.async_tma_copy_global_to_local {{.*}}%[[FULL]]
  // CHECK: ttnvgpu.async_tma_copy_global_to_local {{.*}}%[[FULL]]
  // CHECK: ttg.warp_return
  tt.func @bulk(%a: !tt.tensordesc<tensor<64x64xf16, #shared>>, %b: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.descriptor_load %a[%c0, %k] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %y = tt.descriptor_load %b[%k, %c0] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %ym = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttnvgpu.warp_group_dot %xm, %ym, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    } {tt.num_stages = 3 : i32, tt.warp_specialize}
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// Two blocks of a cluster that share the right operand: bytes of their own rows
// and of all of the other, arrivals of the warps of both at both.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#all = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#blockedRows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#blockedAll = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 0]]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[1, 0]], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @cluster
  // CHECK-COUNT-3: ttnvgpu.init_barrier %{{.*}}, 1 :
  // CHECK-COUNT-3: ttnvgpu.init_barrier %{{.*}}, 8 :
  // CHECK: ttnvgpu.fence_mbarrier_init_release_cluster
  // CHECK-NEXT: ttnvgpu.cluster_barrier
  // CHECK: ttg.warp_specialize
  // CHECK: ttnvgpu.arrive_barrier %{{.*}}, 4, %{{.*}} {ttnvgpu.all_blocks}
  // CHECK: partition0({{.*}}) num_warps(1) {
  // CHECK: ttnvgpu.barrier_expect %{{.*}}, 16384,
  // CHECK: ttg.warp_return
  // CHECK: ttnvgpu.cluster_barrier
  // CHECK: ttnvgpu.inval_barrier
  tt.func @cluster(%a: !tt.tensordesc<tensor<128x64xf16, #rows>>, %b: !tt.tensordesc<tensor<64x64xf16, #rows>>, %n: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %x = tt.descriptor_load %a[%c0, %k] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<128x64xf16, #rows>> -> tensor<128x64xf16, #blockedRows>
      %y = tt.descriptor_load %b[%k, %c0] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #rows>> -> tensor<64x64xf16, #blockedAll>
      %xm = ttg.local_alloc %x : (tensor<128x64xf16, #blockedRows>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
      %ym = ttg.local_alloc %y : (tensor<64x64xf16, #blockedAll>) -> !ttg.memdesc<64x64xf16, #all, #smem>
      %d = ttnvgpu.warp_group_dot %xm, %ym, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #all, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %d : tensor<128x64xf32, #mma>
    } {tt.num_stages = 3 : i32, tt.warp_specialize}
    tt.return %r : tensor<128x64xf32, #mma>
  }
}

// -----

// A nest: both sides run all of it, and go on in the rings where they stopped. The
// buffers of the last product of a tile are handed back behind the inner loop.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @nest
  // CHECK: ttg.warp_specialize
  // CHECK: default {
  // CHECK: scf.for %{{.*}} iter_args(%[[STAGE:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}) -> (i32, i32)
  // CHECK: %[[R:.*]]:{{.*}} = scf.for %{{.*}} = %[[LB:[^ ]*]] to %[[UB:[^ ]*]] step {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[S:.*]] = %[[STAGE]], %[[P:.*]] = %[[PHASE]])
  // CHECK: ttnvgpu.warp_group_dot_wait {{.*}}pendings = 1
  // CHECK: ttnvgpu.arrive_barrier
  // CHECK: ttnvgpu.warp_group_dot_wait {{.*}}pendings = 0
  // CHECK: ttnvgpu.arrive_barrier %{{.*}}, 4, %{{.*}} :
  // CHECK: tt.descriptor_store
  // CHECK: scf.yield %[[R]]#1, %[[R]]#2 : i32, i32
  // CHECK: partition0({{.*}}) num_warps(1) {
  // CHECK: scf.for %{{.*}} iter_args(%[[STAGE:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}) -> (i32, i32)
  // CHECK: %[[R:.*]]:2 = scf.for %{{.*}} iter_args(%{{.*}} = %[[STAGE]], %{{.*}} = %[[PHASE]]) -> (i32, i32)
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: ttnvgpu.async_tma_copy_global_to_local
  // CHECK: scf.yield %[[R]]#0, %[[R]]#1 : i32, i32
  // CHECK: ttg.warp_return
  tt.func @nest(%a: !tt.tensordesc<tensor<64x64xf16, #shared>>, %c: !tt.tensordesc<tensor<64x64xf32, #shared>>, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      %r = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
        %x = tt.descriptor_load %a[%t, %k] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
        %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
        %d = ttnvgpu.warp_group_dot %xm, %xm, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
        scf.yield %d : tensor<64x64xf32, #mma>
      } {tt.num_stages = 3 : i32}
      tt.descriptor_store %c[%t, %c0], %r : !tt.tensordesc<tensor<64x64xf32, #shared>>, tensor<64x64xf32, #mma>
    } {tt.warp_specialize}
    tt.return
  }
}

// -----

// A loop and the one in it load the same, but have rings of their own: one
// position goes through loops that come one after the other.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: tt.func @around
  // CHECK-COUNT-2: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16
  // CHECK: ttg.warp_specialize
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %{{.*}} = %c0_i32, %{{.*}} = %c0_i32, %{{.*}} = %c0_i32) -> (i32, i32, i32, i32)
  tt.func @around(%a: !tt.tensordesc<tensor<64x64xf16, #shared>>, %c: !tt.tensordesc<tensor<64x64xf32, #shared>>, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    scf.for %t = %c0 to %tiles step %c1 : i32 {
      %f = tt.descriptor_load %a[%t, %c0] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %fm = ttg.local_alloc %f : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %first = ttnvgpu.warp_group_dot %fm, %fm, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %r = scf.for %k = %c1 to %n step %c1 iter_args(%acc = %first) -> (tensor<64x64xf32, #mma>) : i32 {
        %x = tt.descriptor_load %a[%t, %k] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
        %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
        %d = ttnvgpu.warp_group_dot %xm, %xm, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
        scf.yield %d : tensor<64x64xf32, #mma>
      } {tt.num_stages = 2 : i32}
      tt.descriptor_store %c[%t, %c0], %r : !tt.tensordesc<tensor<64x64xf32, #shared>>, tensor<64x64xf32, #mma>
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return
  }
}

// -----

// Two products of the iteration before read the same buffers: these are handed back behind the
// later wait.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @two_late
  // CHECK: ttnvgpu.warp_group_dot_wait %{{[^,]*}} {pendings = 2 : i32}
  // CHECK-NOT: ttnvgpu.arrive_barrier
  // CHECK: ttnvgpu.warp_group_dot_wait %{{[^,]*}} {pendings = 1 : i32}
  // CHECK: ttnvgpu.arrive_barrier
  tt.func @two_late(%a: !tt.tensordesc<tensor<64x64xf16, #shared>>, %b: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r:3 = scf.for %k = %c0 to %n step %c64 iter_args(%first = %zero, %second = %zero, %sum = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.descriptor_load %a[%c0, %k] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %y = tt.descriptor_load %b[%k, %c0] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %ym = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttnvgpu.warp_group_dot %xm, %ym, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %s = arith.addf %sum, %first : tensor<64x64xf32, #mma>
      %t = arith.mulf %s, %second : tensor<64x64xf32, #mma>
      %u = arith.addf %t, %d : tensor<64x64xf32, #mma>
      %e = ttnvgpu.warp_group_dot %ym, %ym, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %f = ttnvgpu.warp_group_dot %xm, %xm, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %e, %f, %u : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    } {tt.num_stages = 3 : i32, tt.warp_specialize}
    tt.return %r#0, %r#1, %r#2 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }
}

// RUN: tile-opt %s -split-input-file -triton-nvidia-partition-corrections | filecheck %s

// Four further warps correct the sums of both groups. A group sends its factors
// when it has them. It waits for the corrected sum in front of its dot.
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!ring = !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
!values = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
!tile = tensor<128x64xf32, #rows>
!row = tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @groups
  // CHECK-SAME: %[[FIRST:[^:,]+]]: !ttg.memdesc<128x64xf32
  // CHECK: %[[FACTORS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<128xf32
  // CHECK: ttnvgpu.init_barrier %{{.*}}, 4 :
  // CHECK: ttnvgpu.init_barrier %{{.*}}, 4 :
  // CHECK-NOT: ttnvgpu.init_barrier %{{.*}}, 4 :
  // CHECK: ttnvgpu.init_barrier %{{.*}}, 1 :
  // CHECK: ttg.warp_specialize
  // CHECK-SAME: requestedRegisters = array<i32: 40, 192, 88>
  // CHECK: default {
  // CHECK: scf.for {{.*}} iter_args(%[[PHASE:[^ ]*]] =
  // CHECK: %[[SENT:.*]] = math.exp2 %{{.*}} : tensor<128xf32
  // CHECK-NEXT: ttg.local_store %[[SENT]], %[[FACTORS]]
  // CHECK-NEXT: ttnvgpu.arrive_barrier %{{.*}}, 4
  // CHECK-NOT: ttnvgpu.tmem_load %[[FIRST]]
  // CHECK: ttnvgpu.wait_barrier
  // CHECK-NEXT: ttnvgpu.tmem_alloc
  // CHECK: ttnvgpu.wait_barrier %{{.*}}, %[[PHASE]]
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: ttnvgpu.tc_gen5_mma %{{.*}}, %[[FIRST]], %{{.*}}, %{{.*}}, %[[ADDED:[0-9]+]][%{{.*}}] {is_async}
  // CHECK: }
  // CHECK: ttnvgpu.wait_barrier %[[ADDED]]
  // CHECK: ttg.warp_yield
  // CHECK: partition1
  // CHECK: ttg.local_store
  // CHECK: tc_gen5_mma {{.*}} {is_async}
  // CHECK: partition2({{.*}}) num_warps(4) {
  // CHECK: scf.for
  // CHECK: ttnvgpu.wait_barrier
  // CHECK-NEXT: %[[TAKEN:.*]] = ttg.local_load
  // CHECK-NEXT: ttnvgpu.wait_barrier
  // CHECK: tt.expand_dims %[[TAKEN]]
  // CHECK: ttnvgpu.tmem_subslice %{{.*}} {offset = 0 : i32}
  // CHECK: ttnvgpu.tmem_load
  // CHECK: arith.mulf
  // CHECK: ttnvgpu.tmem_store
  // CHECK: ttnvgpu.tmem_subslice %{{.*}} {offset = 32 : i32}
  // CHECK: ttnvgpu.tmem_store
  // CHECK-NEXT: ttnvgpu.arrive_barrier %{{.*}}, 4
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: ttg.local_load
  // CHECK: ttg.warp_return
  tt.func @groups(%o0: !sum, %o1: !sum, %v: !ring, %x: !tile, %a: !row, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    ttg.warp_specialize(%o1, %v, %n) attributes {requestedRegisters = array<i32: 40, 232>}
    default {
      scf.for %i = %c0 to %n step %c64 : i32 {
        %f = math.exp2 %a : !row
        %w = arith.truncf %x : !tile to tensor<128x64xf16, #rows>
        %e = tt.expand_dims %f {axis = 1 : i32} : !row -> tensor<128x1xf32, #rows>
        %b = tt.broadcast %e : tensor<128x1xf32, #rows> -> !tile
        %l = ttnvgpu.tmem_load %o0 : !sum -> !tile
        %p = arith.mulf %l, %b : !tile
        %m = ttnvgpu.tmem_alloc %w : (tensor<128x64xf16, #rows>) -> !weights
        %s = ttg.memdesc_index %v[%c0] : !ring -> !values
        ttnvgpu.tmem_store %p, %o0, %true : !tile -> !sum
        ttnvgpu.tc_gen5_mma %m, %s, %o0, %true, %true : !weights, !values, !sum
      }
      ttg.warp_yield
    }
    partition0(%q: !sum, %r: !ring, %k: i32) num_warps(1) {
      ttg.warp_return
    }
    partition1(%q: !sum, %r: !ring, %k: i32) num_warps(4) {
      %z = arith.constant 0 : i32
      %t = arith.constant 64 : i32
      %always = arith.constant true
      %one = arith.constant dense<1.0> : !row
      %x1 = arith.constant dense<1.0> : !tile
      scf.for %i = %z to %k step %t : i32 {
        %f = math.exp2 %one : !row
        %w = arith.truncf %x1 : !tile to tensor<128x64xf16, #rows>
        %e = tt.expand_dims %f {axis = 1 : i32} : !row -> tensor<128x1xf32, #rows>
        %b = tt.broadcast %e : tensor<128x1xf32, #rows> -> !tile
        %l = ttnvgpu.tmem_load %q : !sum -> !tile
        %p = arith.mulf %b, %l : !tile
        %m = ttnvgpu.tmem_alloc %w : (tensor<128x64xf16, #rows>) -> !weights
        %s = ttg.memdesc_index %r[%z] : !ring -> !values
        ttnvgpu.tmem_store %p, %q, %always : !tile -> !sum
        ttnvgpu.tc_gen5_mma %m, %s, %q, %always, %always : !weights, !values, !sum
      }
      ttg.warp_return
    } : (!sum, !ring, i32) -> ()
    tt.return
  }
}

// -----

// Something else in the loop reads the sum.
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!values = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
!tile = tensor<128x64xf32, #rows>
!row = tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @read
  // CHECK-NOT: partition1
  // CHECK-NOT: is_async
  tt.func @read(%o: !sum, %v: !values, %x: !tile, %a: !row, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 40>}
    default {
      %last = scf.for %i = %c0 to %n step %c64 iter_args(%before = %x) -> !tile : i32 {
        %f = math.exp2 %a : !row
        %w = arith.truncf %x : !tile to tensor<128x64xf16, #rows>
        %e = tt.expand_dims %f {axis = 1 : i32} : !row -> tensor<128x1xf32, #rows>
        %b = tt.broadcast %e : tensor<128x1xf32, #rows> -> !tile
        %l = ttnvgpu.tmem_load %o : !sum -> !tile
        %p = arith.mulf %l, %b : !tile
        %m = ttnvgpu.tmem_alloc %w : (tensor<128x64xf16, #rows>) -> !weights
        ttnvgpu.tmem_store %p, %o, %true : !tile -> !sum
        ttnvgpu.tc_gen5_mma %m, %v, %o, %true, %true : !weights, !values, !sum
        %other = ttnvgpu.tmem_load %o : !sum -> !tile
        scf.yield %other : !tile
      }
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

// Threads write what the dot reads beside its weights. The loop has to wait for
// the dot there.
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!values = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
!tile = tensor<128x64xf32, #rows>
!row = tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @written
  // CHECK-NOT: partition1
  // CHECK-NOT: is_async
  tt.func @written(%o: !sum, %y: tensor<64x64xf16, #rows>, %x: !tile, %a: !row, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 40>}
    default {
      scf.for %i = %c0 to %n step %c64 : i32 {
        %f = math.exp2 %a : !row
        %w = arith.truncf %x : !tile to tensor<128x64xf16, #rows>
        %e = tt.expand_dims %f {axis = 1 : i32} : !row -> tensor<128x1xf32, #rows>
        %b = tt.broadcast %e : tensor<128x1xf32, #rows> -> !tile
        %l = ttnvgpu.tmem_load %o : !sum -> !tile
        %p = arith.mulf %l, %b : !tile
        %m = ttnvgpu.tmem_alloc %w : (tensor<128x64xf16, #rows>) -> !weights
        %v = ttg.local_alloc %y : (tensor<64x64xf16, #rows>) -> !values
        ttnvgpu.tmem_store %p, %o, %true : !tile -> !sum
        ttnvgpu.tc_gen5_mma %m, %v, %o, %true, %true : !weights, !values, !sum
      }
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

// In a loop over tiles, the further warps go through the same loops, and compute
// their bounds. The phase goes on from tile to tile.
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!ring = !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
!values = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
!tile = tensor<128x64xf32, #rows>
!row = tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @tiles
  // CHECK: default {
  // CHECK: %[[TILES:.*]] = scf.for {{.*}} iter_args(%[[OUTER:[^ ]*]] =
  // CHECK: %[[KEYS:.*]] = scf.for {{.*}} iter_args(%{{[^ ]*}} = %[[OUTER]])
  // CHECK: scf.yield %[[KEYS]]
  // CHECK: ttg.warp_yield
  // CHECK: partition1({{.*}}) num_warps(4) {
  // CHECK: scf.for %[[T:[^ ]*]] = {{.*}} iter_args(%[[MINE:[^ ]*]] =
  // CHECK: %[[END:.*]] = arith.muli %[[T]], %{{.*}} : i32
  // CHECK: scf.for {{.*}} to %[[END]] {{.*}} iter_args(%[[PHASE:[^ ]*]] = %[[MINE]])
  // CHECK: ttnvgpu.wait_barrier %{{.*}}, %[[PHASE]]
  // CHECK: ttg.local_load
  // CHECK: } {ttnvgpu.over_programs}
  tt.func @tiles(%o0: !sum, %v: !ring, %x: !tile, %a: !row, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    ttg.warp_specialize(%n) attributes {requestedRegisters = array<i32: 40>}
    default {
      scf.for %t = %c0 to %n step %c1 : i32 {
        %end = arith.muli %t, %c64 : i32
        scf.for %i = %c0 to %end step %c64 : i32 {
          %f = math.exp2 %a : !row
          %w = arith.truncf %x : !tile to tensor<128x64xf16, #rows>
          %e = tt.expand_dims %f {axis = 1 : i32} : !row -> tensor<128x1xf32, #rows>
          %b = tt.broadcast %e : tensor<128x1xf32, #rows> -> !tile
          %l = ttnvgpu.tmem_load %o0 : !sum -> !tile
          %p = arith.mulf %l, %b : !tile
          %m = ttnvgpu.tmem_alloc %w : (tensor<128x64xf16, #rows>) -> !weights
          %s = ttg.memdesc_index %v[%c0] : !ring -> !values
          ttnvgpu.tmem_store %p, %o0, %true : !tile -> !sum
          ttnvgpu.tc_gen5_mma %m, %s, %o0, %true, %true : !weights, !values, !sum
        }
      } {ttnvgpu.over_programs}
      ttg.warp_yield
    }
    partition0(%k: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }

  // What decides how long the loop is cannot be computed by others.
  // CHECK-LABEL: tt.func @loaded
  // CHECK-NOT: partition1
  tt.func @loaded(%o0: !sum, %v: !ring, %x: !tile, %a: !row, %n: i32, %lengths: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    ttg.warp_specialize(%n) attributes {requestedRegisters = array<i32: 40>}
    default {
      scf.for %t = %c0 to %n step %c1 : i32 {
        %end = tt.load %lengths : !tt.ptr<i32>
        scf.for %i = %c0 to %end step %c64 : i32 {
          %f = math.exp2 %a : !row
          %w = arith.truncf %x : !tile to tensor<128x64xf16, #rows>
          %e = tt.expand_dims %f {axis = 1 : i32} : !row -> tensor<128x1xf32, #rows>
          %b = tt.broadcast %e : tensor<128x1xf32, #rows> -> !tile
          %l = ttnvgpu.tmem_load %o0 : !sum -> !tile
          %p = arith.mulf %l, %b : !tile
          %m = ttnvgpu.tmem_alloc %w : (tensor<128x64xf16, #rows>) -> !weights
          %s = ttg.memdesc_index %v[%c0] : !ring -> !values
          ttnvgpu.tmem_store %p, %o0, %true : !tile -> !sum
          ttnvgpu.tc_gen5_mma %m, %s, %o0, %true, %true : !weights, !values, !sum
        }
      }
      ttg.warp_yield
    }
    partition0(%k: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}

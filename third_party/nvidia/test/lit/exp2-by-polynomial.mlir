// RUN: tile-opt %s -exp2-by-polynomial-nv | filecheck %s

// The unit for powers holds up the threads. The result is rounded to 16 bits,
// and added up.
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
  // CHECK-LABEL: tt.func @weights
  // CHECK: math.exp2 %{{.*}} {ttnvgpu.polynomial_pairs = {{[0-9]+}} : i32} : tensor<128x64xf32
  // CHECK: math.exp2 %{{[^ ]*}} : tensor<128xf32
  tt.func @weights(%o: !sum, %v: !values, %x: !tile, %a: !row, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    ttg.warp_specialize()
    default {
      %t = scf.for %i = %c0 to %n step %c64 iter_args(%before = %a) -> !row : i32 {
        %e = math.exp2 %x : !tile
        %f = math.exp2 %before : !row
        %s = "tt.reduce"(%e) <{axis = 1 : i32}> ({
        ^bb0(%y: f32, %z: f32):
          %yz = arith.addf %y, %z : f32
          tt.reduce.return %yz : f32
        }) : (!tile) -> !row
        %w = arith.truncf %e : !tile to tensor<128x64xf16, #rows>
        %m = ttnvgpu.tmem_alloc %w : (tensor<128x64xf16, #rows>) -> !weights
        ttnvgpu.tc_gen5_mma %m, %v, %o, %true, %true : !weights, !values, !sum
        scf.yield %s : !row
      }
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }

  // What is multiplied in 32 bits, or is a largest one, is not rounded.
  // CHECK-LABEL: tt.func @precise
  // CHECK-NOT: polynomial_pairs
  tt.func @precise(%o: !sum, %v: !values, %x: !tile, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %true = arith.constant true
    ttg.warp_specialize()
    default {
      scf.for %i = %c0 to %n step %c64 : i32 {
        %e = math.exp2 %x : !tile
        %p = arith.mulf %e, %x : !tile
        %w = arith.truncf %p : !tile to tensor<128x64xf16, #rows>
        %m = ttnvgpu.tmem_alloc %w : (tensor<128x64xf16, #rows>) -> !weights
        ttnvgpu.tc_gen5_mma %m, %v, %o, %true, %true : !weights, !values, !sum
      }
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }

  // No dots, or no warps of their own.
  // CHECK-LABEL: tt.func @elsewhere
  // CHECK-NOT: polynomial_pairs
  tt.func @elsewhere(%x: !tile) -> tensor<128x64xf16, #rows> {
    %e = math.exp2 %x : !tile
    %w = arith.truncf %e : !tile to tensor<128x64xf16, #rows>
    tt.return %w : tensor<128x64xf16, #rows>
  }
}

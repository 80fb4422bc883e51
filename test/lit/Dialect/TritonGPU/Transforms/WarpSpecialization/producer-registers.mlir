// RUN: tile-opt %s -tritongpu-partition-loops | filecheck %s

// How many registers the threads get that copy: 128 threads copy 128x64 halves
// in eight pieces each.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #blocked}>
#cols = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The rows lie apart by what a launch says: each piece has an address.
  // CHECK-LABEL: tt.func @apart
  // CHECK: requestedRegisters = array<i32: 56>
  tt.func @apart(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}, %n: i32) -> tensor<128x64xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf16, #blocked>
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #rows>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #cols>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32, #rows> -> tensor<128x1xi32, #blocked>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #cols> -> tensor<1x64xi32, #blocked>
    %ss = tt.splat %stride : i32 -> tensor<128x1xi32, #blocked>
    %rm = arith.muli %re, %ss : tensor<128x1xi32, #blocked>
    %rb = tt.broadcast %rm : tensor<128x1xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %cb = tt.broadcast %ce : tensor<1x64xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %at = arith.addi %rb, %cb : tensor<128x64xi32, #blocked>
    %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf16, #blocked>) : i32 {
      %pi = tt.addptr %p, %i : !tt.ptr<f16>, i32
      %sp = tt.splat %pi : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>, #blocked>
      %ap = tt.addptr %sp, %at : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
      %x = tt.load %ap {ttg.partition = 0 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked>
      %s = arith.addf %acc, %x : tensor<128x64xf16, #blocked>
      scf.yield %s : tensor<128x64xf16, #blocked>
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return %sum : tensor<128x64xf16, #blocked>
  }

  // The rows lie apart by a constant, which goes into the instruction.
  // CHECK-LABEL: tt.func @at_constant_distances
  // CHECK: requestedRegisters = array<i32: 40>
  tt.func @at_constant_distances(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<128x64xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf16, #blocked>
    %step = arith.constant dense<8192> : tensor<128x64xi32, #blocked>
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #rows>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #cols>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32, #rows> -> tensor<128x1xi32, #blocked>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #cols> -> tensor<1x64xi32, #blocked>
    %ss = arith.constant dense<64> : tensor<128x1xi32, #blocked>
    %rm = arith.muli %re, %ss : tensor<128x1xi32, #blocked>
    %rb = tt.broadcast %rm : tensor<128x1xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %cb = tt.broadcast %ce : tensor<1x64xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %at = arith.addi %rb, %cb : tensor<128x64xi32, #blocked>
    %sp = tt.splat %p : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>, #blocked>
    %first = tt.addptr %sp, %at : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
    %sum:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero, %ap = %first) -> (tensor<128x64xf16, #blocked>, tensor<128x64x!tt.ptr<f16>, #blocked>) : i32 {
      %x = tt.load %ap {ttg.partition = 0 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked>
      %s = arith.addf %acc, %x : tensor<128x64xf16, #blocked>
      %next = tt.addptr %ap, %step : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
      scf.yield %s, %next : tensor<128x64xf16, #blocked>, tensor<128x64x!tt.ptr<f16>, #blocked>
    } {tt.num_stages = 2 : i32, tt.warp_specialize}
    tt.return %sum#0 : tensor<128x64xf16, #blocked>
  }
}

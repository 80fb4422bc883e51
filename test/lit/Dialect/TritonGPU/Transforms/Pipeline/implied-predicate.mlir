// RUN: tile-opt %s -split-input-file -tritongpu-schedule-loops -tritongpu-pipeline | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 0, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // No index is less than n - i * 32 in an iteration that a loop over ceil(n / 32) tiles does not have.
  // CHECK-LABEL: @tiles
  // CHECK-NOT: arith.andi
  tt.func @tiles(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #row>
    %ks = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32, #row> -> tensor<1x32xi32, #blocked>
    %more = arith.addi %n, %c31 : i32
    %count = arith.divui %more, %c32 : i32
    %r = scf.for %i = %c0 to %count step %c1 iter_args(%sum = %zero) -> (tensor<64x32xf16, #blocked>) : i32 {
      %done = arith.muli %i, %c32 : i32
      %left = arith.subi %n, %done : i32
      %end = tt.splat %left : i32 -> tensor<1x32xi32, #blocked>
      %inside = arith.cmpi slt, %ks, %end : tensor<1x32xi32, #blocked>
      %mask = tt.broadcast %inside : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v = tt.load %p, %mask, %zero {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>
      %next = arith.addf %sum, %v : tensor<64x32xf16, #blocked>
      scf.yield %next : tensor<64x32xf16, #blocked>
    }
    tt.return %r : tensor<64x32xf16, #blocked>
  }

  // From any tile on, where the bound of the early stage must not wrap around.
  // CHECK-LABEL: @some_tiles
  // CHECK: scf.for
  // CHECK-NOT: arith.andi
  // CHECK: tt.return
  tt.func @some_tiles(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32, %first: i32) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #row>
    %ks = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32, #row> -> tensor<1x32xi32, #blocked>
    %more = arith.addi %n, %c31 : i32
    %count = arith.divui %more, %c32 : i32
    %r = scf.for %i = %first to %count step %c1 iter_args(%sum = %zero) -> (tensor<64x32xf16, #blocked>) : i32 {
      %done = arith.muli %i, %c32 : i32
      %left = arith.subi %n, %done : i32
      %end = tt.splat %left : i32 -> tensor<1x32xi32, #blocked>
      %inside = arith.cmpi slt, %ks, %end : tensor<1x32xi32, #blocked>
      %mask = tt.broadcast %inside : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v = tt.load %p, %mask, %zero {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>
      %next = arith.addf %sum, %v : tensor<64x32xf16, #blocked>
      scf.yield %next : tensor<64x32xf16, #blocked>
    }
    tt.return %r : tensor<64x32xf16, #blocked>
  }

  // Where one step further is all that 32 bits have, the difference may be positive again.
  // CHECK-LABEL: @far_apart
  // CHECK: scf.for
  // CHECK: arith.andi
  // CHECK: tt.return
  tt.func @far_apart(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %far = arith.constant 67108864 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #row>
    %ks = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32, #row> -> tensor<1x32xi32, #blocked>
    %more = arith.addi %n, %c31 : i32
    %count = arith.divui %more, %c32 : i32
    %r = scf.for %i = %c0 to %count step %far iter_args(%sum = %zero) -> (tensor<64x32xf16, #blocked>) : i32 {
      %done = arith.muli %i, %c32 : i32
      %left = arith.subi %n, %done : i32
      %end = tt.splat %left : i32 -> tensor<1x32xi32, #blocked>
      %inside = arith.cmpi slt, %ks, %end : tensor<1x32xi32, #blocked>
      %mask = tt.broadcast %inside : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v = tt.load %p, %mask, %zero {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>
      %next = arith.addf %sum, %v : tensor<64x32xf16, #blocked>
      scf.yield %next : tensor<64x32xf16, #blocked>
    }
    tt.return %r : tensor<64x32xf16, #blocked>
  }

  // The same in steps of 32.
  // CHECK-LABEL: @steps
  // CHECK-NOT: arith.andi
  tt.func @steps(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #row>
    %ks = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32, #row> -> tensor<1x32xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sum = %zero) -> (tensor<64x32xf16, #blocked>) : i32 {
      %left = arith.subi %n, %i : i32
      %end = tt.splat %left : i32 -> tensor<1x32xi32, #blocked>
      %inside = arith.cmpi slt, %ks, %end : tensor<1x32xi32, #blocked>
      %mask = tt.broadcast %inside : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v = tt.load %p, %mask, %zero {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>
      %next = arith.addf %sum, %v : tensor<64x32xf16, #blocked>
      scf.yield %next : tensor<64x32xf16, #blocked>
    }
    tt.return %r : tensor<64x32xf16, #blocked>
  }

  // Not so where tiles are counted otherwise, where another number ends the mask, or where it is compared with a
  // sum, which may have overflowed.
  // CHECK-LABEL: @others
  // CHECK: scf.for
  // CHECK-COUNT-4: arith.andi
  // CHECK: scf.yield
  tt.func @others(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %n: i32, %m: i32) -> tensor<64x32xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #row>
    %ks = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32, #row> -> tensor<1x32xi32, #blocked>
    %more = arith.addi %n, %c31 : i32
    %count = arith.divui %more, %c32 : i32
    %n1 = tt.splat %n : i32 -> tensor<1x32xi32, #blocked>
    %r = scf.for %i = %c0 to %count step %c1 iter_args(%sum = %zero) -> (tensor<64x32xf16, #blocked>) : i32 {
      %half = arith.muli %i, %c16 : i32
      %left0 = arith.subi %n, %half : i32
      %end0 = tt.splat %left0 : i32 -> tensor<1x32xi32, #blocked>
      %inside0 = arith.cmpi slt, %ks, %end0 : tensor<1x32xi32, #blocked>
      %mask0 = tt.broadcast %inside0 : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v0 = tt.load %p, %mask0, %zero {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>
      %done = arith.muli %i, %c32 : i32
      %left1 = arith.subi %m, %done : i32
      %end1 = tt.splat %left1 : i32 -> tensor<1x32xi32, #blocked>
      %inside1 = arith.cmpi slt, %ks, %end1 : tensor<1x32xi32, #blocked>
      %mask1 = tt.broadcast %inside1 : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v1 = tt.load %p, %mask1, %zero {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>
      %start = tt.splat %done : i32 -> tensor<1x32xi32, #blocked>
      %at = arith.addi %start, %ks : tensor<1x32xi32, #blocked>
      %inside2 = arith.cmpi slt, %at, %n1 : tensor<1x32xi32, #blocked>
      %mask2 = tt.broadcast %inside2 : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v2 = tt.load %p, %mask2, %zero {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>
      %left3 = arith.subi %n, %done : i32
      %end3 = tt.splat %left3 : i32 -> tensor<1x32xi32, #blocked>
      %inside3 = arith.cmpi ult, %ks, %end3 : tensor<1x32xi32, #blocked>
      %mask3 = tt.broadcast %inside3 : tensor<1x32xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %v3 = tt.load %p, %mask3, %zero {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #blocked>
      %s0 = arith.addf %sum, %v0 : tensor<64x32xf16, #blocked>
      %s1 = arith.addf %s0, %v1 : tensor<64x32xf16, #blocked>
      %s2 = arith.addf %s1, %v2 : tensor<64x32xf16, #blocked>
      %s3 = arith.addf %s2, %v3 : tensor<64x32xf16, #blocked>
      scf.yield %s3 : tensor<64x32xf16, #blocked>
    }
    tt.return %r : tensor<64x32xf16, #blocked>
  }
}

// RUN: tile-opt %s -split-input-file -tritongpu-remove-layout-conversions | filecheck %s

// The layout of a load spreads to what is computed from it.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: [[W:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4]
  // CHECK-LABEL: @forward
  // CHECK-NOT: convert_layout
  // CHECK: math.exp {{.*}} : tensor<1024xf32, [[W]]>
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @forward(%p: tensor<1024x!tt.ptr<f32>, #wide>) {
    %0 = tt.load %p : tensor<1024x!tt.ptr<f32>, #wide>
    %1 = ttg.convert_layout %0 : tensor<1024xf32, #wide> -> tensor<1024xf32, #blocked>
    %2 = math.exp %1 : tensor<1024xf32, #blocked>
    %3 = ttg.convert_layout %2 : tensor<1024xf32, #blocked> -> tensor<1024xf32, #wide>
    tt.store %p, %3 : tensor<1024x!tt.ptr<f32>, #wide>
    tt.return
  }
}

// -----

// Addresses are computed in the layout of the access, from the range on.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: [[W:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4]
  // CHECK-LABEL: @backward
  // CHECK-NOT: convert_layout
  // CHECK: tt.make_range {{.*}} : tensor<1024xi32, [[W]]>
  // CHECK-NOT: convert_layout
  // CHECK: tt.load {{.*}}, [[W]]>
  tt.func @backward(%x: !tt.ptr<f32>, %i: i32) -> tensor<1024xf32, #wide> {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %s = tt.splat %i : i32 -> tensor<1024xi32, #blocked>
    %o = arith.addi %s, %r : tensor<1024xi32, #blocked>
    %b = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %b, %o : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %c = ttg.convert_layout %p : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #wide>
    %v = tt.load %c : tensor<1024x!tt.ptr<f32>, #wide>
    tt.return %v : tensor<1024xf32, #wide>
  }
}

// -----

// A loop that advances pointers carries them in the layout of the access, and in
// no other; its accumulator follows what is added to it.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: [[W:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4]
  // CHECK-LABEL: @loop
  // CHECK-NOT: convert_layout
  // CHECK: scf.for {{.*}} -> (tensor<1024xf32, [[W]]>, tensor<1024x!tt.ptr<f32>, [[W]]>)
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @loop(%x: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %step = arith.constant dense<1024> : tensor<1024xi32, #blocked>
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %b = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %b, %r : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<1024xf32, #blocked>, tensor<1024x!tt.ptr<f32>, #blocked>) : i32 {
      %c = ttg.convert_layout %q : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #wide>
      %v = tt.load %c : tensor<1024x!tt.ptr<f32>, #wide>
      %d = ttg.convert_layout %v : tensor<1024xf32, #wide> -> tensor<1024xf32, #blocked>
      %a = arith.addf %acc, %d : tensor<1024xf32, #blocked>
      %next = tt.addptr %q, %step : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
      scf.yield %a, %next : tensor<1024xf32, #blocked>, tensor<1024x!tt.ptr<f32>, #blocked>
    }
    %pc = ttg.convert_layout %p : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #wide>
    %sc = ttg.convert_layout %sum#0 : tensor<1024xf32, #blocked> -> tensor<1024xf32, #wide>
    tt.store %pc, %sc : tensor<1024x!tt.ptr<f32>, #wide>
    tt.return
  }
}

// -----

// Branches are followed both ways: loads inside, and what computes addresses.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: [[W:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4]
  // CHECK-LABEL: @branch
  // CHECK-NOT: convert_layout
  // CHECK: scf.if {{.*}} -> (tensor<1024xi32, [[W]]>)
  // CHECK-NOT: convert_layout
  // CHECK: tt.load {{.*}}, [[W]]>
  tt.func @branch(%x: !tt.ptr<f32>, %c: i1) -> tensor<1024xf32, #wide> {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %o = scf.if %c -> tensor<1024xi32, #blocked> {
      scf.yield %r : tensor<1024xi32, #blocked>
    } else {
      %two = arith.muli %r, %r : tensor<1024xi32, #blocked>
      scf.yield %two : tensor<1024xi32, #blocked>
    }
    %b = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %b, %o : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %pc = ttg.convert_layout %p : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #wide>
    %v = tt.load %pc : tensor<1024x!tt.ptr<f32>, #wide>
    tt.return %v : tensor<1024xf32, #wide>
  }
}

// -----

// A reduction works in the layout of its operand, even one to a scalar.
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: [[W:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 4]
  // CHECK-LABEL: @reduce
  // CHECK-NOT: convert_layout
  // CHECK: }) : (tensor<32x128xf32, [[W]]>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = [[W]]}>>
  // CHECK-NOT: convert_layout
  // CHECK: }) : (tensor<32xf32, #ttg.slice<{dim = 1, parent = [[W]]}>>) -> f32
  tt.func @reduce(%p: tensor<32x128x!tt.ptr<f32>, #wide>) -> f32 {
    %v = tt.load %p : tensor<32x128x!tt.ptr<f32>, #wide>
    %c = ttg.convert_layout %v : tensor<32x128xf32, #wide> -> tensor<32x128xf32, #blocked>
    %0 = "tt.reduce"(%c) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<32x128xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %1 = "tt.reduce"(%0) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>) -> f32
    tt.return %1 : f32
  }
}

// -----

// A large load is not repeated to spare a conversion.
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @large_load
  // CHECK: tt.load
  // CHECK: ttg.convert_layout
  // CHECK-NOT: tt.load
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @large_load(%p: tensor<64x64x!tt.ptr<f32>, #row>, %q: tensor<64x64x!tt.ptr<f32>, #col>) {
    %v = tt.load %p : tensor<64x64x!tt.ptr<f32>, #row>
    %c = ttg.convert_layout %v : tensor<64x64xf32, #row> -> tensor<64x64xf32, #col>
    tt.store %q, %c : tensor<64x64x!tt.ptr<f32>, #col>
    tt.return
  }
}

// -----

// One of few elements is: every thread has them at hand.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @small_load
  // CHECK-NOT: convert_layout
  // CHECK: tt.load {{.*}} : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #blocked}>>
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func @small_load(%x: !tt.ptr<f32>) -> tensor<1x64xf32, #row> {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %b = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %b, %r : tensor<64x!tt.ptr<f32>, #blocked>, tensor<64xi32, #blocked>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>, #blocked>
    %c = ttg.convert_layout %v : tensor<64xf32, #blocked> -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #row}>>
    %e = tt.expand_dims %c {axis = 0 : i32} : tensor<64xf32, #ttg.slice<{dim = 0, parent = #row}>> -> tensor<1x64xf32, #row>
    tt.return %e : tensor<1x64xf32, #row>
  }
}

// RUN: tile-opt %s -split-input-file -tritongpu-coalesce | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // 16 bytes per thread: four floats.
  // CHECK: [[V4:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
  // CHECK-LABEL: @vector_load
  tt.func @vector_load(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) -> tensor<1024xf32, #blocked> {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %b = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %b, %r : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    // CHECK: [[P:%.*]] = ttg.convert_layout {{.*}} -> tensor<1024x!tt.ptr<f32>, [[V4]]>
    // CHECK: [[V:%.*]] = tt.load [[P]] : tensor<1024x!tt.ptr<f32>, [[V4]]>
    // CHECK: ttg.convert_layout [[V]] : tensor<1024xf32, [[V4]]> -> tensor<1024xf32, #blocked{{[0-9]*}}>
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return %v : tensor<1024xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Two elements for each of 128 threads, though four would be aligned; nothing
  // is known about the other pointer.
  // CHECK-DAG: [[V2:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32]
  // CHECK-DAG: [[V1:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32]
  // CHECK-LABEL: @every_thread_has_work
  tt.func @every_thread_has_work(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: tensor<256x!tt.ptr<f32>, #blocked>) {
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %b = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %b, %r : tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xi32, #blocked>
    // CHECK: tt.load {{.*}} : tensor<256x!tt.ptr<f32>, [[V2]]>
    %v = tt.load %p : tensor<256x!tt.ptr<f32>, #blocked>
    // CHECK: tt.store {{.*}} : tensor<256x!tt.ptr<f32>, [[V1]]>
    tt.store %y, %v : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Loads that meet share the widest of their layouts; a store takes no more
  // than one instruction writes.
  // CHECK-DAG: [[V8:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32]
  // CHECK-DAG: [[V4:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32]
  // CHECK-LABEL: @shared_layout
  tt.func @shared_layout(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %bx = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %px = tt.addptr %bx, %r : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %bh = tt.splat %h : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %ph = tt.addptr %bh, %r : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    // CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f16>, [[V8]]>
    %vh = tt.load %ph : tensor<1024x!tt.ptr<f16>, #blocked>
    // CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, [[V8]]>
    %vx = tt.load %px : tensor<1024x!tt.ptr<f32>, #blocked>
    // CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, [[V4]]>
    tt.store %px, %vx : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The contiguous dimension varies fastest, whichever it is.
  // CHECK: [[COL:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
  // CHECK-LABEL: @column_major
  tt.func @column_major(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %ss = tt.splat %s : i32 -> tensor<1x64xi32, #blocked>
    %cs = arith.muli %c2, %ss : tensor<1x64xi32, #blocked>
    %rb = tt.broadcast %r2 : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %cb = tt.broadcast %cs : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %o = arith.addi %rb, %cb : tensor<64x64xi32, #blocked>
    %b = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %p = tt.addptr %b, %o : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    // CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f16>, [[COL]]>
    %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Blocks that come through descriptors are row-major.
  // CHECK: [[ROW:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
  // CHECK-LABEL: @descriptor
  tt.func @descriptor(%d: !tt.tensordesc<tensor<64x64xf16>>, %i: i32) {
    // CHECK: tt.descriptor_load {{.*}} -> tensor<64x64xf16, [[ROW]]>
    %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #blocked>
    // CHECK: tt.descriptor_store {{.*}}, tensor<64x64xf16, [[ROW]]>
    tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {
  // 32 halves for 128 threads: what leads to a dot of the loop, two for a thread,
  // as many as the smallest asynchronous copy moves. Everything else, one.
  // CHECK-DAG: [[V2:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 16]
  // CHECK-DAG: [[V1:#blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32]
  // CHECK-LABEL: @scales
  tt.func @scales(%s: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x32xf16, #dot1>, %n: i32) -> tensor<32x32xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #blocked>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %base = tt.splat %s : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>, #blocked>
    %p = tt.addptr %base, %e : tensor<1x32x!tt.ptr<f16>, #blocked>, tensor<1x32xi32, #blocked>
    // CHECK: tt.load {{.*}} : tensor<1x32x!tt.ptr<f16>, [[V1]]>
    %before = tt.load %p : tensor<1x32x!tt.ptr<f16>, #blocked>
    tt.print "before" {hex = false, isSigned = array<i32: 0>} : %before : tensor<1x32xf16, #blocked>
    %result = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<32x32xf32, #blocked> : i32 {
      // CHECK: tt.load {{.*}} : tensor<1x32x!tt.ptr<f16>, [[V1]]>
      %v = tt.load %p : tensor<1x32x!tt.ptr<f16>, #blocked>
      %f = arith.extf %v : tensor<1x32xf16, #blocked> to tensor<1x32xf32, #blocked>
      %all = tt.broadcast %f : tensor<1x32xf32, #blocked> -> tensor<32x32xf32, #blocked>
      // CHECK: tt.load {{.*}} : tensor<1x32x!tt.ptr<f16>, [[V2]]>
      %u = tt.load %p : tensor<1x32x!tt.ptr<f16>, #blocked>
      %rows = tt.broadcast %u : tensor<1x32xf16, #blocked> -> tensor<32x32xf16, #blocked>
      %a = ttg.convert_layout %rows : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #dot0>
      %d = tt.dot %a, %b, %acc : tensor<32x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<32x32xf32, #blocked>
      %y = arith.mulf %d, %all : tensor<32x32xf32, #blocked>
      scf.yield %y : tensor<32x32xf32, #blocked>
    }
    tt.return %result : tensor<32x32xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Neighbours along both axes are in sectors of their own: those that are
  // added up belong to one thread.
  // CHECK: [[COLUMNS:#blocked[0-9]*]] = #ttg.blocked<{{.*}}order = [0, 1]}>
  // CHECK-LABEL: @scattered_and_reduced
  tt.func @scattered_and_reduced(%x: !tt.ptr<f32>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>> {
    %r0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %r1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %e0 = tt.expand_dims %r0 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %e1 = tt.expand_dims %r1 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %b0 = tt.broadcast %e0 : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %b1 = tt.broadcast %e1 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %period = arith.constant dense<784> : tensor<64x64xi32, #blocked>
    %stride = arith.constant dense<192> : tensor<64x64xi32, #blocked>
    %size = arith.constant dense<7923> : tensor<64x64xi32, #blocked>
    %rows = arith.muli %b0, %size : tensor<64x64xi32, #blocked>
    %sum = arith.addi %rows, %b1 : tensor<64x64xi32, #blocked>
    %rest = arith.remsi %sum, %period : tensor<64x64xi32, #blocked>
    %o = arith.muli %rest, %stride : tensor<64x64xi32, #blocked>
    %s = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xi32, #blocked>
    // CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f32>, [[COLUMNS]]>
    %v = tt.load %p : tensor<64x64x!tt.ptr<f32>, #blocked>
    %sums = "tt.reduce"(%v) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x64xf32, #blocked>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    tt.return %sums : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Neighbours along the second axis mostly share a sector.
  // CHECK-NOT: order = [0, 1]
  // CHECK-LABEL: @remainders_and_reduced
  tt.func @remainders_and_reduced(%x: !tt.ptr<f32>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>> {
    %r0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %r1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %e0 = tt.expand_dims %r0 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %e1 = tt.expand_dims %r1 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %b0 = tt.broadcast %e0 : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %b1 = tt.broadcast %e1 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %period = arith.constant dense<784> : tensor<64x64xi32, #blocked>
    %size = arith.constant dense<7923> : tensor<64x64xi32, #blocked>
    %rows = arith.muli %b0, %size : tensor<64x64xi32, #blocked>
    %sum = arith.addi %rows, %b1 : tensor<64x64xi32, #blocked>
    %o = arith.remsi %sum, %period : tensor<64x64xi32, #blocked>
    %s = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xi32, #blocked>
    %v = tt.load %p : tensor<64x64x!tt.ptr<f32>, #blocked>
    %sums = "tt.reduce"(%v) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x64xf32, #blocked>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    tt.return %sums : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Neighbours along the first axis mostly share a sector.
  // CHECK: [[COLUMNS:#blocked[0-9]*]] = #ttg.blocked<{{.*}}order = [0, 1]}>
  // CHECK-LABEL: @remainders_along_rows
  tt.func @remainders_along_rows(%x: !tt.ptr<f32>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>> {
    %r0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %r1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %e0 = tt.expand_dims %r0 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %e1 = tt.expand_dims %r1 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %b0 = tt.broadcast %e0 : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %b1 = tt.broadcast %e1 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %period = arith.constant dense<784> : tensor<64x64xi32, #blocked>
    %size = arith.constant dense<7923> : tensor<64x64xi32, #blocked>
    %rows = arith.muli %b1, %size : tensor<64x64xi32, #blocked>
    %sum = arith.addi %rows, %b0 : tensor<64x64xi32, #blocked>
    %o = arith.remsi %sum, %period : tensor<64x64xi32, #blocked>
    %s = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xi32, #blocked>
    // CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f32>, [[COLUMNS]]>
    %v = tt.load %p : tensor<64x64x!tt.ptr<f32>, #blocked>
    %sums = "tt.reduce"(%v) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x64xf32, #blocked>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    tt.return %sums : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#dot1 = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
// Of as many halves as threads, each thread loads one: with two for a thread, half
// of them would have none.
// CHECK: #[[ONE:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1]
// CHECK-NOT: sizePerThread = [1, 2]
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @as_many_as_threads
  tt.func @as_many_as_threads(%s: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x32xf16, #dot1>, %n: i32) -> tensor<4x32xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<4x32xf32, #blocked>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %all = tt.broadcast %e : tensor<1x32xi32, #blocked> -> tensor<4x32xi32, #blocked>
    %base = tt.splat %s : !tt.ptr<f16> -> tensor<4x32x!tt.ptr<f16>, #blocked>
    %p = tt.addptr %base, %all : tensor<4x32x!tt.ptr<f16>, #blocked>, tensor<4x32xi32, #blocked>
    %result = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<4x32xf32, #blocked> : i32 {
      // CHECK: tt.load {{.*}} : tensor<4x32x!tt.ptr<f16>, #[[ONE]]>
      %v = tt.load %p : tensor<4x32x!tt.ptr<f16>, #blocked>
      %a = ttg.convert_layout %v : tensor<4x32xf16, #blocked> -> tensor<4x32xf16, #dot0>
      %d = tt.dot %a, %b, %acc : tensor<4x32xf16, #dot0> * tensor<32x32xf16, #dot1> -> tensor<4x32xf32, #blocked>
      scf.yield %d : tensor<4x32xf32, #blocked>
    }
    tt.return %result : tensor<4x32xf32, #blocked>
  }
}

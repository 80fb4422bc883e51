// RUN: tile-opt %s -split-input-file -gluon-resolve-auto-encodings | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#slice = #ttg.slice<{dim = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // From a tensor with two dimensions back to the ranges that it is made of.
  // CHECK: #[[B:.+]] = #ttg.blocked
  // CHECK-LABEL: tt.func @backwards
  tt.func @backwards(%n: i32) -> tensor<64x32xi1, #blocked> {
    // CHECK: tt.make_range {{.*}} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #[[B]]}>>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    // CHECK: tt.splat %{{.*}} : i32 -> tensor<64x1xi32, #[[B]]>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32, #gluon.auto_encoding> -> tensor<64x1xi32, #gluon.auto_encoding>
    %2 = tt.splat %n : i32 -> tensor<64x1xi32, #gluon.auto_encoding>
    %3 = arith.cmpi slt, %1, %2 : tensor<64x1xi32, #gluon.auto_encoding>
    // CHECK-NOT: gluon
    // CHECK: tt.broadcast %{{.*}} : tensor<64x1xi1, #[[B]]> -> tensor<64x32xi1, #[[B]]>
    %4 = tt.broadcast %3 : tensor<64x1xi1, #gluon.auto_encoding> -> tensor<64x32xi1, #gluon.auto_encoding>
    %5 = gluon.set_auto_layout %4 : tensor<64x32xi1, #gluon.auto_encoding> -> tensor<64x32xi1, #blocked>
    tt.return %5 : tensor<64x32xi1, #blocked>
  }

  // From a use of one value to another value that is computed from it.
  // CHECK-LABEL: tt.func @forwards
  tt.func @forwards(%p: tensor<64x!tt.ptr<i32>, #slice>, %q: !tt.ptr<i32>) {
    // CHECK: tt.make_range {{.*}} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #[[B]]}>>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    %1 = gluon.set_auto_layout %0 : tensor<64xi32, #gluon.auto_encoding> -> tensor<64xi32, #slice>
    tt.store %p, %1 : tensor<64x!tt.ptr<i32>, #slice>
    // CHECK: tt.splat %{{.*}} -> tensor<64x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #[[B]]}>>
    %2 = tt.splat %q : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #gluon.auto_encoding>
    %3 = tt.addptr %2, %0 : tensor<64x!tt.ptr<i32>, #gluon.auto_encoding>, tensor<64xi32, #gluon.auto_encoding>
    // CHECK: tt.store %{{.*}} : tensor<64x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #[[B]]}>>
    tt.store %3, %0 : tensor<64x!tt.ptr<i32>, #gluon.auto_encoding>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Around loops and branches, to what is carried and to where that starts.
  // CHECK-LABEL: tt.func @control_flow
  // CHECK: arith.constant dense<0> : tensor<512xi32, #blocked>
  // CHECK: scf.for {{.*}} -> (tensor<512xi32, #blocked>)
  // CHECK: scf.if {{.*}} -> (tensor<512xi32, #blocked>)
  tt.func @control_flow(%n: i32, %b: i1) -> tensor<512xi32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<512xi32, #gluon.auto_encoding>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<512xi32, #gluon.auto_encoding>) : i32 {
      %s = tt.splat %i : i32 -> tensor<512xi32, #gluon.auto_encoding>
      %y = scf.if %b -> tensor<512xi32, #gluon.auto_encoding> {
        %t = arith.addi %x, %s : tensor<512xi32, #gluon.auto_encoding>
        scf.yield %t : tensor<512xi32, #gluon.auto_encoding>
      } else {
        scf.yield %x : tensor<512xi32, #gluon.auto_encoding>
      }
      scf.yield %y : tensor<512xi32, #gluon.auto_encoding>
    }
    %f = gluon.set_auto_layout %r : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #blocked>
    tt.return %f : tensor<512xi32, #blocked>
  }

  // One constant, two layouts: each use gets its own.
  // CHECK-LABEL: tt.func @constants
  // CHECK-DAG: arith.constant dense<0> : tensor<512xi32, #blocked>
  // CHECK-DAG: arith.constant dense<0> : tensor<512xi32, #ttg.slice
  tt.func @constants() -> (tensor<512xi32, #blocked>, tensor<512xi32, #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>}>>) {
    %zero = arith.constant dense<0> : tensor<512xi32, #gluon.auto_encoding>
    %0 = gluon.set_auto_layout %zero : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #blocked>
    %1 = gluon.set_auto_layout %zero : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>}>>
    tt.return %0, %1 : tensor<512xi32, #blocked>, tensor<512xi32, #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>}>>
  }

  // What nothing uses needs no layout.
  // CHECK-LABEL: tt.func @dead
  // CHECK-NEXT: tt.return
  tt.func @dead() {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    tt.return
  }
}

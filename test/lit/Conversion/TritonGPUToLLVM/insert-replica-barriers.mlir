// RUN: tile-opt %s -insert-replica-barriers | filecheck %s

#lanes = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#fours = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#all = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// CHECK-LABEL: @scalar
tt.func @scalar(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) -> i32 {
  // CHECK: tt.load
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store %arg1
  // CHECK-NEXT: tt.store %arg0
  // CHECK-NEXT: tt.store %arg0
  %0 = tt.load %p : !tt.ptr<i32>
  tt.store %q, %0 : !tt.ptr<i32>
  tt.store %p, %0 : !tt.ptr<i32>
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return %0 : i32
}

// In loops, arguments are taken not to overlap; the launcher has to know which.
// CHECK-LABEL: @two_arguments
// CHECK-SAME: tt.disjoint_arguments = array<i32: 0, 2>
tt.func @two_arguments(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %r: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK-NOT: ttg.barrier
  scf.for %i = %zero to %n step %one : i32 {
    %0 = tt.load %p : !tt.ptr<i32>
    tt.store %r, %0 : !tt.ptr<i32>
  }
  tt.return
}

// Elements for all warps are loaded once; 64 of 128 threads' are loaded twice.
// CHECK-LABEL: @blocks
tt.func @blocks(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>) {
  %p = tt.splat %a : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #all>
  %q = tt.splat %b : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #all>
  // CHECK: tt.load
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.atomic_rmw
  %true = arith.constant dense<true> : tensor<64xi1, #all>
  %0 = tt.load %p : tensor<128x!tt.ptr<i32>, #all>
  tt.store %p, %0 : tensor<128x!tt.ptr<i32>, #all>
  %1 = tt.load %q : tensor<64x!tt.ptr<i32>, #all>
  %2 = tt.atomic_rmw add, acq_rel, gpu, %q, %1, %true : (tensor<64x!tt.ptr<i32>, #all>, tensor<64xi32, #all>, tensor<64xi1, #all>) -> tensor<64xi32, #all>
  tt.return
}

// The lanes of a warp have copies, too.
// CHECK-LABEL: @lanes
tt.func @lanes(%p: tensor<16x!tt.ptr<i32>, #lanes>) {
  // CHECK: tt.load
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store
  %0 = tt.load %p : tensor<16x!tt.ptr<i32>, #lanes>
  tt.store %p, %0 : tensor<16x!tt.ptr<i32>, #lanes>
  tt.return
}

// What one thread writes all threads read; the load of one iteration comes
// before the store of the next.
// CHECK-LABEL: @loop
tt.func @loop(%p: !tt.ptr<i32>, %n: i32) -> i32 {
  // CHECK: scf.for
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.load
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %c0) -> i32 : i32 {
    tt.store %p, %v : !tt.ptr<i32>
    %1 = tt.load %p : !tt.ptr<i32>
    scf.yield %1 : i32
  }
  tt.return %0 : i32
}

// The barrier that the loop needs once is in front of it. The program's own
// barrier behind it is enough for the last store.
// CHECK-LABEL: @before_a_loop
tt.func @before_a_loop(%p: !tt.ptr<i32>, %n: i32) {
  // CHECK: tt.load
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: scf.for
  // CHECK-NOT: ttg.barrier
  // CHECK: gpu.barrier
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %q = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #fours>
  %v = tt.load %p : !tt.ptr<i32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tt.load %q : tensor<1024x!tt.ptr<i32>, #fours>
    tt.store %q, %x : tensor<1024x!tt.ptr<i32>, #fours>
  }
  gpu.barrier
  tt.store %p, %v : !tt.ptr<i32>
  tt.return
}

// A loop that needs the barrier in each iteration has none in front of it.
// CHECK-LABEL: @in_a_loop
tt.func @in_a_loop(%p: !tt.ptr<i32>, %n: i32) {
  // CHECK: tt.load
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: tt.print {{.*}} : i32
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tt.load %p : !tt.ptr<i32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %v : !tt.ptr<i32>
    %1 = tt.load %p : !tt.ptr<i32>
    tt.print "v" {hex = false, isSigned = array<i32: 1>} : %1 : i32
  }
  tt.return
}

// CHECK-LABEL: @branch
tt.func @branch(%p: !tt.ptr<i32>, %c: i1, %v: i32) {
  // CHECK: scf.if
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: tt.print {{.*}} : i32
  // CHECK-NEXT: }
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.barrier all
  // CHECK-NEXT: tt.store
  scf.if %c {
    %0 = tt.load %p : !tt.ptr<i32>
    tt.print "v" {hex = false, isSigned = array<i32: 1>} : %0 : i32
  }
  tt.store %p, %v : !tt.ptr<i32>
  %1 = tt.load %p : !tt.ptr<i32>
  ttg.barrier all
  tt.store %p, %1 : !tt.ptr<i32>
  tt.return
}

// One thread writes scalars, and reads those that must be fresh; others have the
// elements of blocks.
// CHECK-LABEL: @scalars_and_blocks
tt.func @scalars_and_blocks(%p: !tt.ptr<i32>, %q: tensor<128x!tt.ptr<i32>, #all>, %v: i32) -> i32 {
  // CHECK: tt.splat
  // CHECK-NEXT: tt.store %{{.*}}, %{{.*}} : tensor
  // CHECK-NEXT: tt.store %{{.*}}, %{{.*}} : tensor
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store %arg0
  // CHECK-NEXT: tt.store %arg0
  // CHECK-NEXT: tt.atomic_rmw
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.load {{.*}}isVolatile = true
  %true = arith.constant true
  %c = arith.constant dense<1> : tensor<128xi32, #all>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #all>
  tt.store %b, %c : tensor<128x!tt.ptr<i32>, #all>
  tt.store %b, %c : tensor<128x!tt.ptr<i32>, #all>
  tt.store %p, %v : !tt.ptr<i32>
  tt.store %p, %v : !tt.ptr<i32>
  %a = tt.atomic_rmw add, relaxed, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %x = tt.load %b : tensor<128x!tt.ptr<i32>, #all>
  tt.store %b, %x : tensor<128x!tt.ptr<i32>, #all>
  %y = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  tt.return %y : i32
}

// CHECK-LABEL: @calls
tt.func @calls(%p: !tt.ptr<i32>, %v: i32) {
  // CHECK: tt.load
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.call
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store
  %0 = tt.load %p : !tt.ptr<i32>
  tt.call @callee(%p) : (!tt.ptr<i32>) -> ()
  tt.store %p, %v : !tt.ptr<i32>
  tt.return
}

// Threads meet where they exchange elements through shared memory, and where
// they reduce across warps.
// CHECK-LABEL: @exchanges
tt.func @exchanges(%p: tensor<1024x!tt.ptr<i32>, #fours>, %q: tensor<1024x!tt.ptr<i32>, #all>, %n: !tt.ptr<i32>) {
  // CHECK-NOT: ttg.barrier
  %0 = tt.load %p : tensor<1024x!tt.ptr<i32>, #fours>
  %1 = ttg.convert_layout %0 : tensor<1024xi32, #fours> -> tensor<1024xi32, #all>
  tt.store %q, %1 : tensor<1024x!tt.ptr<i32>, #all>
  %2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
  ^bb0(%x: i32, %y: i32):
    %3 = arith.addi %x, %y : i32
    tt.reduce.return %3 : i32
  }) : (tensor<1024xi32, #all>) -> i32
  tt.store %n, %2 : !tt.ptr<i32>
  tt.return
}

// In another layout other threads have the elements.
// CHECK-LABEL: @layouts
tt.func @layouts(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %m: tensor<1024xi1, #all>) {
  // CHECK: tt.load
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.atomic_rmw
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.return
  %c = arith.constant dense<1> : tensor<1024xi32, #fours>
  %d = arith.constant dense<1> : tensor<1024xi32, #all>
  %a = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #fours>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #all>
  %e = tt.splat %q : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #all>
  %0 = tt.load %a : tensor<1024x!tt.ptr<i32>, #fours>
  tt.store %a, %0 : tensor<1024x!tt.ptr<i32>, #fours>
  tt.store %e, %d : tensor<1024x!tt.ptr<i32>, #all>
  %1 = tt.atomic_rmw add, relaxed, gpu, %b, %d, %m : (tensor<1024x!tt.ptr<i32>, #all>, tensor<1024xi32, #all>, tensor<1024xi1, #all>) -> tensor<1024xi32, #all>
  tt.store %a, %c : tensor<1024x!tt.ptr<i32>, #fours>
  tt.return
}

// Groups of warps have barriers of their own, and meet where they end.
// CHECK-LABEL: @groups
tt.func @groups(%p: !tt.ptr<i32>, %v: i32) {
  // CHECK: tt.load
  // CHECK-NEXT: ttg.warp_specialize
  // CHECK-NEXT: default {
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store
  // CHECK: partition0
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: tt.store
  // CHECK: } : (!tt.ptr<i32>) -> ()
  // CHECK-NEXT: tt.store
  %0 = tt.load %p : !tt.ptr<i32>
  ttg.warp_specialize(%p)
  default {
    %1 = tt.load %p : !tt.ptr<i32>
    tt.store %p, %1 : !tt.ptr<i32>
    ttg.warp_yield
  }
  partition0(%q: !tt.ptr<i32>) num_warps(2) {
    %1 = tt.load %q : !tt.ptr<i32>
    tt.store %q, %1 : !tt.ptr<i32>
    ttg.warp_return
  } : (!tt.ptr<i32>) -> ()
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return
}

tt.func private @callee(%p: !tt.ptr<i32>) attributes {noinline = true} {
  %0 = tt.load %p : !tt.ptr<i32>
  tt.print "v" {hex = false, isSigned = array<i32: 1>} : %0 : i32
  tt.return
}


// Pieces of one block are at different places. Of another block, they need not
// be.
// CHECK-LABEL: @pieces
tt.func @pieces(%p: tensor<1024x!tt.ptr<i32>, #lanes>, %q: tensor<512x!tt.ptr<i32>, #fours>, %x: tensor<1024xi32, #lanes>, %y: tensor<512xi32, #fours>) {
  // CHECK: tt.store
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.barrier
  // CHECK-NEXT: tt.store
  tt.store %p, %x {tt.piece = array<i32: 0, 1536>} : tensor<1024x!tt.ptr<i32>, #lanes>
  tt.store %q, %y {tt.piece = array<i32: 1, 1536>} : tensor<512x!tt.ptr<i32>, #fours>
  tt.store %p, %x {tt.piece = array<i32: 0, 1280>} : tensor<1024x!tt.ptr<i32>, #lanes>
  tt.return
}
}

// RUN: tile-opt %s -tritongpu-assign-latencies=num-stages=3 | filecheck %s
// RUN: sed 's/module attributes {/&"ttg.overlapping-arguments", /' %s | tile-opt -tritongpu-assign-latencies=num-stages=3 | filecheck %s --check-prefix=OVERLAP

// What keeps the load of a loop in its own iteration.

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!ptrs = tensor<512x!tt.ptr<f32>, #blocked>
!floats = tensor<512xf32, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Nothing.
  // CHECK-LABEL: tt.func @free
  // CHECK: tt.load {{.*}}tt.latency
  tt.func @free(%ps: !ptrs, %o: tensor<512xi32, #blocked>, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = tt.addptr %ps, %o {tt.contiguity = dense<512> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %x = tt.load %p : !ptrs
      %s = arith.addf %acc, %x : !floats
      scf.yield %s : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }

  // An atomic operation that acquires; one that does not, on another argument.
  // CHECK-LABEL: tt.func @acquire
  // CHECK: tt.load
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @acquire_release
  // CHECK: tt.load
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @compare_and_swap
  // CHECK: tt.load
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @release
  // CHECK: tt.load {{.*}}tt.latency
  // CHECK-LABEL: tt.func @relaxed_nested
  // CHECK: tt.load {{.*}}tt.latency
  // OVERLAP-LABEL: tt.func @acquire
  // OVERLAP-LABEL: tt.func @release
  // OVERLAP: tt.load
  // OVERLAP-NOT: tt.latency
  // OVERLAP-LABEL: tt.func @relaxed_nested
  // OVERLAP: tt.load
  // OVERLAP-NOT: tt.latency
  // OVERLAP-LABEL: tt.func @barrier
  tt.func @acquire(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %lock: !tt.ptr<i32>, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %old = tt.atomic_rmw add, acquire, gpu, %lock, %one : (!tt.ptr<i32>, i32) -> i32
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @acquire_release(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %lock: !tt.ptr<i32>, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      %old = tt.atomic_rmw add, acq_rel, gpu, %lock, %one : (!tt.ptr<i32>, i32) -> i32
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @compare_and_swap(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %lock: !tt.ptr<i32>, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %old = tt.atomic_cas acq_rel, gpu, %lock, %one, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @release(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %lock: !tt.ptr<i32>, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      %old = tt.atomic_rmw add, release, gpu, %lock, %one : (!tt.ptr<i32>, i32) -> i32
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @relaxed_nested(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %count: !tt.ptr<i32>, %zero: !floats, %n: index, %c: i1) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      scf.if %c {
        %old = tt.atomic_rmw add, relaxed, gpu, %count, %one : (!tt.ptr<i32>, i32) -> i32
      }
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }

  // Barriers, volatile loads, assembly and calls; prints and assumptions are
  // no obstacle.
  // CHECK-LABEL: tt.func @barrier
  // CHECK: tt.load
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @volatile
  // CHECK: tt.load
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @not_cached
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @assembly
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @pure_assembly
  // CHECK: tt.load {{.*}}tt.latency
  // CHECK-LABEL: tt.func @call
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @print
  // CHECK: tt.load {{.*}}tt.latency
  // CHECK-LABEL: tt.func @assert
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func private @callee
  tt.func @barrier(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      gpu.barrier
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @volatile(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %flag: !tt.ptr<f32>, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %seen = tt.load %flag {isVolatile = true} : !tt.ptr<f32>
      %more = tt.splat %seen : f32 -> !floats
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      %z = arith.addf %y, %more : !floats
      scf.yield %z : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @not_cached(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %x = tt.load %p cacheModifier = cv : !ptrs
      %y = arith.addf %acc, %x : !floats
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @assembly(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      %z = tt.elementwise_inline_asm "membar.gl; mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %y : !floats -> !floats
      scf.yield %z : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @pure_assembly(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      %z = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %y : !floats -> !floats
      scf.yield %z : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @call(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %zero: !floats, %n: index) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      tt.call @callee() : () -> ()
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func @print(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %zero: !floats, %n: index, %c: i1) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      tt.print " y: " {hex = false, isSigned = array<i32: 0>} : %y : !floats
      llvm.intr.assume %c : i1
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  // It may say that the address of the next load is a good one.
  tt.func @assert(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %zero: !floats, %n: index, %c: i1) -> !floats {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!floats) {
      tt.assert %c, "no good" : i1
      %x = tt.load %p : !ptrs
      %y = arith.addf %acc, %x : !floats
      scf.yield %y : !floats
    } {tt.num_stages = 3 : i32}
    tt.return %r : !floats
  }
  tt.func private @callee() {
    tt.return
  }

  // A pointer that a loop around carries is no memory of its own; nor is one
  // that is chosen. One that is read from memory may point anywhere.
  // CHECK-LABEL: tt.func @carried_by_while
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @chosen
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @read
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @branch_argument
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func private @device
  // CHECK-NOT: tt.latency
  // CHECK-LABEL: tt.func @scratch
  // CHECK: tt.load {{.*}}tt.latency
  tt.func @carried_by_while(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %c: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<512> : tensor<512xi32, #blocked>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %end:2 = scf.while (%at = %p, %k = %c0) : (!ptrs, i32) -> (!ptrs, i32) {
      %more = arith.cmpi slt, %k, %n : i32
      scf.condition(%more) %at, %k : !ptrs, i32
    } do {
    ^bb0(%at: !ptrs, %k: i32):
      scf.for %i = %c0 to %n step %c1 : i32 {
        %x = tt.load %at : !ptrs
        tt.store %p, %x : !ptrs
      } {tt.num_stages = 3 : i32}
      %next = tt.addptr %at, %step : !ptrs, tensor<512xi32, #blocked>
      %k1 = arith.addi %k, %c1 : i32
      scf.yield %next, %k1 : !ptrs, i32
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : !ptrs
      tt.store %end#0, %x : !ptrs
    } {tt.num_stages = 3 : i32}
    tt.return
  }
  tt.func @chosen(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %c: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %either = arith.select %c, %a, %b : !tt.ptr<f32>
    %s = tt.splat %either : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %t = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %q = tt.addptr %t, %range : !ptrs, tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %q : !ptrs
      tt.store %p, %x : !ptrs
    } {tt.num_stages = 3 : i32}
    tt.return
  }
  tt.func @read(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %table: !tt.ptr<!tt.ptr<f32>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %some = tt.load %table : !tt.ptr<!tt.ptr<f32>>
    %s = tt.splat %some : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %t = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %q = tt.addptr %t, %range : !ptrs, tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %q : !ptrs
      tt.store %p, %x : !ptrs
    } {tt.num_stages = 3 : i32}
    tt.return
  }
  tt.func @branch_argument(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %q = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    cf.br ^next(%q : !ptrs)
  ^next(%p: !ptrs):
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %q : !ptrs
      tt.store %p, %x : !ptrs
    } {tt.num_stages = 3 : i32}
    tt.return
  }
  tt.func private @device(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %s = tt.splat %b : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %t = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %q = tt.addptr %t, %range : !ptrs, tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %q : !ptrs
      tt.store %p, %x : !ptrs
    } {tt.num_stages = 3 : i32}
    tt.return
  }
  tt.func @scratch(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %own = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 2048 : i32} : !tt.ptr<f32>
    %s = tt.splat %own : !tt.ptr<f32> -> !ptrs
    %p = tt.addptr %s, %range : !ptrs, tensor<512xi32, #blocked>
    %t = tt.splat %a : !tt.ptr<f32> -> !ptrs
    %q = tt.addptr %t, %range : !ptrs, tensor<512xi32, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %q : !ptrs
      tt.store %p, %x : !ptrs
    } {tt.num_stages = 3 : i32}
    tt.return
  }
}

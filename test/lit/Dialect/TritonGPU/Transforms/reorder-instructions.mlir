// RUN: tile-opt %s -tritongpu-reorder-instructions | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#sharedT = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory

// A read moves to its first use, past what does not touch its memory.

// CHECK-LABEL: @sink_load
tt.func @sink_load(%m: !ttg.memdesc<64x64xf16, #shared, #smem>, %p: tensor<64x64x!tt.ptr<f32>, #blocked>) -> tensor<64x64xf32, #blocked> {
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: %[[A:.*]] = ttg.local_load
  // CHECK-NEXT: arith.extf %[[A]]
  %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
  %b = tt.load %p : tensor<64x64x!tt.ptr<f32>, #blocked>
  tt.store %p, %b : tensor<64x64x!tt.ptr<f32>, #blocked>
  %c = arith.extf %a : tensor<64x64xf16, #blocked> to tensor<64x64xf32, #blocked>
  %d = arith.addf %b, %c : tensor<64x64xf32, #blocked>
  tt.return %d : tensor<64x64xf32, #blocked>
}

// Two operands that are where they should be keep their order.

// CHECK-LABEL: @operands
tt.func @operands(%m: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: !ttg.memdesc<64x64xf16, #shared, #smem>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: ttg.local_load %arg0
  // CHECK-NEXT: ttg.local_load %arg1
  // CHECK-NEXT: tt.dot
  %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #dot0>
  %e = arith.mulf %c, %c : tensor<64x64xf32, #mma>
  %b = ttg.local_load %n : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  %d = tt.dot %a, %b, %e : tensor<64x64xf16, #dot0> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
  tt.return %d : tensor<64x64xf32, #mma>
}

// CHECK-LABEL: @keep_load
tt.func @keep_load(%m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %s: tensor<64x64xf16, #blocked>) -> (tensor<64x64xf16, #blocked>, tensor<64x64xf16, #blocked>) {
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.barrier local
  %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
  ttg.local_store %s, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %b = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
  ttg.barrier local
  %c = arith.addf %a, %a : tensor<64x64xf16, #blocked>
  %d = arith.addf %b, %b : tensor<64x64xf16, #blocked>
  tt.return %c, %d : tensor<64x64xf16, #blocked>, tensor<64x64xf16, #blocked>
}

// A store to the buffer is in the way, the allocation of another is not.

// CHECK-LABEL: @alloc_and_store
tt.func @alloc_and_store(%s: tensor<64x64xf16, #blocked>) -> (tensor<64x64xf16, #blocked>, tensor<64x64xf16, #blocked>) {
  // CHECK: %[[M:.*]] = ttg.local_alloc
  // CHECK-NEXT: %[[A:.*]] = ttg.local_load %[[M]]
  // CHECK-NEXT: ttg.local_store %arg0, %[[M]]
  // CHECK-NEXT: %[[N:.*]] = ttg.local_alloc : ()
  // CHECK-NEXT: arith.addf %[[A]], %[[A]]
  // CHECK-NEXT: %[[B:.*]] = ttg.local_load %[[M]]
  // CHECK-NEXT: arith.addf %[[B]], %[[B]]
  %m = ttg.local_alloc %s : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
  ttg.local_store %s, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %b = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
  %n = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %c = arith.addf %a, %a : tensor<64x64xf16, #blocked>
  %d = arith.addf %b, %b : tensor<64x64xf16, #blocked>
  ttg.local_store %s, %n : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return %c, %d : tensor<64x64xf16, #blocked>, tensor<64x64xf16, #blocked>
}

// An operand of a product takes more registers than the tensor.

// CHECK-LABEL: @sink_convert
tt.func @sink_convert(%t: tensor<64x64xf16, #mma>, %b: tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>,
                      %c: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: tt.dot
  %a = ttg.convert_layout %t : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
  %e = arith.mulf %c, %c : tensor<64x64xf32, #mma>
  %d = tt.dot %a, %b, %e : tensor<64x64xf16, #dot0> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
  tt.return %d : tensor<64x64xf32, #mma>
}

// In front of a loop, not into it.

// CHECK-LABEL: @not_into_loops
tt.func @not_into_loops(%t: tensor<64x64xf16, #mma>, %n: i32) {
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: scf.for
  %a = ttg.convert_layout %t : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot0>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %b = arith.addf %a, %a : tensor<64x64xf16, #dot0>
    tt.print "b" {hex = false, isSigned = array<i32: 0>} : %b : tensor<64x64xf16, #dot0>
  }
  tt.return
}

// CHECK-LABEL: @hoist
tt.func @hoist(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f32>, #blocked>, %m: !ttg.memdesc<64x64xf16, #shared, #smem>, %t: tensor<64x64xf16, #dot0>) {
  // CHECK-NEXT: ttg.convert_layout %arg3
  // CHECK-NEXT: ttg.memdesc_trans %arg2
  // CHECK-NEXT: %[[A:.*]] = tt.load %arg0
  // CHECK-NEXT: ttg.local_alloc %[[A]]
  // CHECK-NEXT: tt.load %arg1
  %a = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
  %b = tt.load %q : tensor<64x64x!tt.ptr<f32>, #blocked>
  %c = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %d = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #sharedT, #smem>
  %e = ttg.convert_layout %t : tensor<64x64xf16, #dot0> -> tensor<64x64xf16, #blocked>
  tt.return
}

// Another user of the source needs its registers anyway. It does not wait for
// the barriers of the conversion.

// CHECK-LABEL: @source_lives_on
tt.func @source_lives_on(%q: tensor<64x64x!tt.ptr<f16>, #dot0>, %t: tensor<64x64xf16, #dot0>) -> tensor<64x64xf16, #blocked> {
  // CHECK-NEXT: tt.store %arg0, %arg1
  // CHECK-NEXT: ttg.convert_layout %arg1
  tt.store %q, %t : tensor<64x64x!tt.ptr<f16>, #dot0>
  %e = ttg.convert_layout %t : tensor<64x64xf16, #dot0> -> tensor<64x64xf16, #blocked>
  tt.return %e : tensor<64x64xf16, #blocked>
}

// An operand that a loop uses in each iteration is read there if the loop has
// too few registers to keep it, and in front of it otherwise.

// CHECK-LABEL: @crowded_loop
// CHECK-NOT: ttg.local_load
// CHECK: scf.for
// CHECK: ttg.local_load
// CHECK: ttg.local_load
// CHECK: tt.dot
#mmaRows = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
tt.func @crowded_loop(%q: tensor<128x64xf16, #blocked>, %k: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %acc: tensor<128x128xf32, #mmaRows>, %n: i32) -> tensor<128x128xf32, #mmaRows> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mmaRows>
  %m = ttg.local_alloc %q : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
  %a = ttg.local_load %m : !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaRows, kWidth = 2}>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %acc) -> tensor<128x128xf32, #mmaRows> : i32 {
    %b = ttg.local_load %k : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaRows, kWidth = 2}>>
    %s = tt.dot %a, %b, %zero : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaRows, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaRows, kWidth = 2}>> -> tensor<128x64xf32, #mmaRows>
    %t = arith.mulf %x, %x : tensor<128x128xf32, #mmaRows>
    tt.print "s" {hex = false, isSigned = array<i32: 0>} : %s : tensor<128x64xf32, #mmaRows>
    scf.yield %t : tensor<128x128xf32, #mmaRows>
  }
  tt.return %r : tensor<128x128xf32, #mmaRows>
}

// What uses the operand behind such a loop reads it there. The loop would hold
// its registers for nothing.
// CHECK-LABEL: @behind_crowded_loop
// CHECK-NOT: ttg.local_load
// CHECK: scf.for
// CHECK: %[[A:.*]] = ttg.local_load
// CHECK: tt.print
// CHECK-SAME: %[[A]]
// CHECK: scf.yield
// CHECK: %[[LAST:.*]] = ttg.local_load
// CHECK: tt.print
// CHECK-SAME: %[[LAST]]
tt.func @behind_crowded_loop(%q: tensor<128x64xf16, #blocked>, %acc: tensor<128x128xf32, #mmaRows>, %n: i32) -> tensor<128x128xf32, #mmaRows> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = ttg.local_alloc %q : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
  %a = ttg.local_load %m : !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaRows, kWidth = 2}>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %acc) -> tensor<128x128xf32, #mmaRows> : i32 {
    %t = arith.mulf %x, %x : tensor<128x128xf32, #mmaRows>
    tt.print "a" {hex = false, isSigned = array<i32: 0>} : %a : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaRows, kWidth = 2}>>
    scf.yield %t : tensor<128x128xf32, #mmaRows>
  }
  tt.print "last" {hex = false, isSigned = array<i32: 0>} : %a : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaRows, kWidth = 2}>>
  tt.return %r : tensor<128x128xf32, #mmaRows>
}

// CHECK-LABEL: @roomy_loop
// CHECK: ttg.local_load
// CHECK-NEXT: scf.for
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.dot
tt.func @roomy_loop(%q: tensor<64x64xf16, #blocked>, %k: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %acc: tensor<64x64xf32, #mmaRows>, %n: i32) -> tensor<64x64xf32, #mmaRows> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = ttg.local_alloc %q : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaRows, kWidth = 2}>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %acc) -> tensor<64x64xf32, #mmaRows> : i32 {
    %b = ttg.local_load %k : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaRows, kWidth = 2}>>
    %s = tt.dot %a, %b, %x : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaRows, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaRows, kWidth = 2}>> -> tensor<64x64xf32, #mmaRows>
    scf.yield %s : tensor<64x64xf32, #mmaRows>
  }
  tt.return %r : tensor<64x64xf32, #mmaRows>
}

// An operand that all four warps would have takes four times the registers.

// CHECK-LABEL: @all_warps_have_it
// CHECK-NOT: ttg.local_load
// CHECK: scf.for
// CHECK: ttg.local_load %{{.*}} -> tensor<16x128xf16
// CHECK: tt.dot
#mmaColumns = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
tt.func @all_warps_have_it(%q: tensor<16x128xf16, #blocked>, %k: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %acc: tensor<16x64xf32, #mmaColumns>, %n: i32) -> tensor<16x64xf32, #mmaColumns> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = ttg.local_alloc %q : (tensor<16x128xf16, #blocked>) -> !ttg.memdesc<16x128xf16, #shared, #smem>
  %a = ttg.local_load %m : !ttg.memdesc<16x128xf16, #shared, #smem> -> tensor<16x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaColumns, kWidth = 2}>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %acc) -> tensor<16x64xf32, #mmaColumns> : i32 {
    %b = ttg.local_load %k : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaColumns, kWidth = 2}>>
    %s = tt.dot %a, %b, %x : tensor<16x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaColumns, kWidth = 2}>> * tensor<128x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaColumns, kWidth = 2}>> -> tensor<16x64xf32, #mmaColumns>
    scf.yield %s : tensor<16x64xf32, #mmaColumns>
  }
  tt.return %r : tensor<16x64xf32, #mmaColumns>
}

// So it is where the loop is in a branch.

// CHECK-LABEL: @in_a_branch
// CHECK-NOT: ttg.local_load
// CHECK: scf.for
// CHECK: ttg.local_load %{{.*}} -> tensor<16x128xf16
// CHECK: tt.dot
tt.func @in_a_branch(%q: tensor<16x128xf16, #blocked>, %k: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %acc: tensor<16x64xf32, #mmaColumns>, %n: i32, %cond: i1) -> tensor<16x64xf32, #mmaColumns> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = ttg.local_alloc %q : (tensor<16x128xf16, #blocked>) -> !ttg.memdesc<16x128xf16, #shared, #smem>
  %a = ttg.local_load %m : !ttg.memdesc<16x128xf16, #shared, #smem> -> tensor<16x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaColumns, kWidth = 2}>>
  %y = scf.if %cond -> tensor<16x64xf32, #mmaColumns> {
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %acc) -> tensor<16x64xf32, #mmaColumns> : i32 {
      %b = ttg.local_load %k : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaColumns, kWidth = 2}>>
      %s = tt.dot %a, %b, %x : tensor<16x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaColumns, kWidth = 2}>> * tensor<128x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaColumns, kWidth = 2}>> -> tensor<16x64xf32, #mmaColumns>
      scf.yield %s : tensor<16x64xf32, #mmaColumns>
    }
    scf.yield %r : tensor<16x64xf32, #mmaColumns>
  } else {
    scf.yield %acc : tensor<16x64xf32, #mmaColumns>
  }
  tt.return %y : tensor<16x64xf32, #mmaColumns>
}

// Copies that are started before a loop do not wait for a tensor that the loop
// needs as well: it goes to shared memory behind them, and is read at the loop.

// CHECK-LABEL: @behind_copies
// CHECK: tt.load
// CHECK: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_commit_group
// CHECK: ttg.local_alloc %{{.*}} : (tensor<64x64xf16
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: scf.for
tt.func @behind_copies(%qp: tensor<64x64x!tt.ptr<f16>, #blocked>, %kp: tensor<64x64x!tt.ptr<f16>, #blocked>, %acc: tensor<64x64xf32, #mmaRows>, %n: i32) -> tensor<64x64xf32, #mmaRows> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %q = tt.load %qp : tensor<64x64x!tt.ptr<f16>, #blocked>
  %m = ttg.local_alloc %q : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaRows, kWidth = 2}>>
  %k = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %t = ttg.async_copy_global_to_local %kp, %k : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
  %g = ttg.async_commit_group tokens %t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %acc) -> tensor<64x64xf32, #mmaRows> : i32 {
    %w = ttg.async_wait %g {num = 0 : i32}
    %b = ttg.local_load %k token %w : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaRows, kWidth = 2}>>
    %s = tt.dot %a, %b, %x : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mmaRows, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mmaRows, kWidth = 2}>> -> tensor<64x64xf32, #mmaRows>
    scf.yield %s : tensor<64x64xf32, #mmaRows>
  }
  tt.return %r : tensor<64x64xf32, #mmaRows>
}

// What goes through shared memory waits for its load. So it is behind other
// loads, as long as few registers wait.

// CHECK-LABEL: @behind_loads
tt.func @behind_loads(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>) -> (tensor<64x64xf16, #mma>, tensor<64x64xf16, #blocked>) {
  // CHECK-NEXT: %[[A:.*]] = tt.load %arg0
  // CHECK-NEXT: %[[B:.*]] = tt.load %arg1
  // CHECK-NEXT: ttg.local_alloc %[[A]]
  // CHECK: ttg.convert_layout %[[B]]
  %a = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
  %m = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %b = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
  %c = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
  %r = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
  tt.return %c, %r : tensor<64x64xf16, #mma>, tensor<64x64xf16, #blocked>
}

// CHECK-LABEL: @behind_loads_by_conversion
tt.func @behind_loads_by_conversion(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>) -> tensor<64x64xf16, #mma> {
  // CHECK-NEXT: %[[A:.*]] = tt.load %arg0
  // CHECK-NEXT: %[[B:.*]] = tt.load %arg1
  // CHECK: ttg.convert_layout %[[A]]
  %a = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
  %c = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
  %b = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
  %d = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
  %s = arith.addf %c, %d : tensor<64x64xf16, #mma>
  tt.return %s : tensor<64x64xf16, #mma>
}

// Another buffer begins before the second load. A conversion behind that load
// would need memory beside it.
// CHECK-LABEL: @before_a_buffer
tt.func @before_a_buffer(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>) -> (tensor<64x64xf16, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) {
  // CHECK-NEXT: %[[A:.*]] = tt.load %arg0
  // CHECK-NEXT: ttg.convert_layout %[[A]]
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: tt.load %arg1
  %a = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
  %c = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
  %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %b = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
  ttg.local_store %b, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return %c, %m : tensor<64x64xf16, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
}

// CHECK-LABEL: @many_wait
tt.func @many_wait(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>) -> (tensor<64x64xf16, #blocked>, tensor<128x64xf16, #blocked>) {
  // CHECK-NEXT: %[[A:.*]] = tt.load %arg0
  // CHECK-NEXT: ttg.local_alloc %[[A]]
  %a = tt.load %p : tensor<128x64x!tt.ptr<f16>, #blocked>
  %m = ttg.local_alloc %a : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
  %b = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
  %r = ttg.local_load %m : !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf16, #blocked>
  tt.return %b, %r : tensor<64x64xf16, #blocked>, tensor<128x64xf16, #blocked>
}

// More threads have fewer registers each.

// CHECK-LABEL: @crowded_by_threads
// CHECK-NOT: ttg.local_load
// CHECK: scf.for
// CHECK: ttg.local_load
// CHECK: ttg.local_load
// CHECK: tt.dot
#blocked16 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [16, 1], order = [1, 0]}>
#mma16 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [16, 1], instrShape = [16, 8]}>
module attributes {"ttg.num-warps" = 16 : i32, ttg.target = "cuda:80"} {
  tt.func @crowded_by_threads(%q: tensor<256x64xf16, #blocked16>, %k: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %acc: tensor<256x64xf32, #mma16>, %n: i32) -> tensor<256x64xf32, #mma16> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc %q : (tensor<256x64xf16, #blocked16>) -> !ttg.memdesc<256x64xf16, #shared, #smem>
    %a = ttg.local_load %m : !ttg.memdesc<256x64xf16, #shared, #smem> -> tensor<256x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma16, kWidth = 2}>>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %acc) -> tensor<256x64xf32, #mma16> : i32 {
      %b = ttg.local_load %k : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma16, kWidth = 2}>>
      %s = tt.dot %a, %b, %x : tensor<256x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma16, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma16, kWidth = 2}>> -> tensor<256x64xf32, #mma16>
      scf.yield %s : tensor<256x64xf32, #mma16>
    }
    tt.return %r : tensor<256x64xf32, #mma16>
  }
}

// A conversion that goes through shared memory does not move to where a buffer
// is filled already.

// CHECK-LABEL: @beside_a_buffer
tt.func @beside_a_buffer(%a: tensor<64x64xf16, #blocked>, %s: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: ttg.local_alloc
  %0 = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #dot0>
  %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  ttg.local_store %s, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %b = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  %d = tt.dot %0, %b, %c : tensor<64x64xf16, #dot0> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
  tt.return %d : tensor<64x64xf32, #mma>
}

// What meets the result of a product is read behind the wait for it where the
// loop has no registers for both.

#group = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#columns = #ttg.slice<{dim = 0, parent = #group}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#operand = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @full_loop
  // CHECK: ttnvgpu.warp_group_dot_wait
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.expand_dims
  // CHECK-NEXT: tt.broadcast
  // CHECK-NEXT: arith.subf
  tt.func @full_loop(%a: !ttg.memdesc<64x64xf16, #operand, #smem>, %b: !ttg.memdesc<64x64xf16, #operand, #smem>, %m: !ttg.memdesc<64xf32, #line, #smem, mutable>, %carried: tensor<256x64xf32, #group>, %n: i32) -> tensor<256x64xf32, #group> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #group>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %carried) -> tensor<256x64xf32, #group> : i32 {
      %d = ttnvgpu.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #operand, #smem> * !ttg.memdesc<64x64xf16, #operand, #smem> -> tensor<64x64xf32, #group>
      %l = ttg.local_load %m : !ttg.memdesc<64xf32, #line, #smem, mutable> -> tensor<64xf32, #columns>
      %e = tt.expand_dims %l {axis = 0 : i32} : tensor<64xf32, #columns> -> tensor<1x64xf32, #group>
      %f = tt.broadcast %e : tensor<1x64xf32, #group> -> tensor<64x64xf32, #group>
      %w = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #group>
      %s = arith.subf %w, %f : tensor<64x64xf32, #group>
      tt.print "s" {hex = false, isSigned = array<i32: 0>} : %s : tensor<64x64xf32, #group>
      %y = arith.mulf %x, %x : tensor<256x64xf32, #group>
      scf.yield %y : tensor<256x64xf32, #group>
    }
    tt.return %r : tensor<256x64xf32, #group>
  }

  // CHECK-LABEL: @loop_with_room
  // CHECK: ttnvgpu.warp_group_dot
  // CHECK-NEXT: ttg.local_load
  // CHECK: ttnvgpu.warp_group_dot_wait
  // CHECK-NEXT: arith.subf
  tt.func @loop_with_room(%a: !ttg.memdesc<64x64xf16, #operand, #smem>, %b: !ttg.memdesc<64x64xf16, #operand, #smem>, %m: !ttg.memdesc<64xf32, #line, #smem, mutable>, %carried: tensor<64x64xf32, #group>, %n: i32) -> tensor<64x64xf32, #group> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #group>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %carried) -> tensor<64x64xf32, #group> : i32 {
      %d = ttnvgpu.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #operand, #smem> * !ttg.memdesc<64x64xf16, #operand, #smem> -> tensor<64x64xf32, #group>
      %l = ttg.local_load %m : !ttg.memdesc<64xf32, #line, #smem, mutable> -> tensor<64xf32, #columns>
      %e = tt.expand_dims %l {axis = 0 : i32} : tensor<64xf32, #columns> -> tensor<1x64xf32, #group>
      %f = tt.broadcast %e : tensor<1x64xf32, #group> -> tensor<64x64xf32, #group>
      %w = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #group>
      %s = arith.subf %w, %f : tensor<64x64xf32, #group>
      scf.yield %s : tensor<64x64xf32, #group>
    }
    tt.return %r : tensor<64x64xf32, #group>
  }

  // Elements get more bits behind the wait in front of their first use, in a
  // crowded loop.

  // CHECK-LABEL: @widened_behind_wait
  // CHECK: scf.for
  // CHECK-NEXT: ttnvgpu.warp_group_dot
  // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
  // CHECK-NEXT: arith.extf
  // CHECK-NEXT: arith.mulf
  tt.func @widened_behind_wait(%a: !ttg.memdesc<64x64xf16, #operand, #smem>, %b: !ttg.memdesc<64x64xf16, #operand, #smem>, %h: tensor<64x64xf16, #group>, %carried: tensor<128x64xf32, #group>, %n: i32) -> tensor<128x64xf32, #group> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #group>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %carried) -> tensor<128x64xf32, #group> : i32 {
      %d = ttnvgpu.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #operand, #smem> * !ttg.memdesc<64x64xf16, #operand, #smem> -> tensor<64x64xf32, #group>
      %e = arith.extf %h : tensor<64x64xf16, #group> to tensor<64x64xf32, #group>
      %w = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #group>
      %s = arith.mulf %w, %e : tensor<64x64xf32, #group>
      tt.print "s" {hex = false, isSigned = array<i32: 0>} : %s : tensor<64x64xf32, #group>
      %y = arith.mulf %x, %x : tensor<128x64xf32, #group>
      scf.yield %y : tensor<128x64xf32, #group>
    }
    tt.return %r : tensor<128x64xf32, #group>
  }

  // Where there is room they do during the product.

  // CHECK-LABEL: @widened_during_product
  // CHECK: scf.for
  // CHECK-NEXT: ttnvgpu.warp_group_dot
  // CHECK-NEXT: arith.extf
  // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
  tt.func @widened_during_product(%a: !ttg.memdesc<64x64xf16, #operand, #smem>, %b: !ttg.memdesc<64x64xf16, #operand, #smem>, %h: tensor<64x64xf16, #group>, %carried: tensor<64x64xf32, #group>, %n: i32) -> tensor<64x64xf32, #group> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #group>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %carried) -> tensor<64x64xf32, #group> : i32 {
      %d = ttnvgpu.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #operand, #smem> * !ttg.memdesc<64x64xf16, #operand, #smem> -> tensor<64x64xf32, #group>
      %e = arith.extf %h : tensor<64x64xf16, #group> to tensor<64x64xf32, #group>
      %w = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #group>
      %s = arith.mulf %w, %e : tensor<64x64xf32, #group>
      scf.yield %s : tensor<64x64xf32, #group>
    }
    tt.return %r : tensor<64x64xf32, #group>
  }
}

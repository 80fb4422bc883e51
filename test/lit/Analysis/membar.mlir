// RUN: tile-opt %s -test-print-membar | filecheck %s

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
!buffer = !ttg.memdesc<32x32xf16, #A, #smem, mutable>
!tensor = tensor<32x32xf16, #blocked>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {

// CHECK-LABEL: @write_read_write
tt.func @write_read_write(%x: !tensor) {
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: tt.return
  %a = ttg.local_alloc %x : (!tensor) -> !buffer
  %0 = ttg.local_load %a : !buffer -> !tensor
  ttg.local_store %0, %a : !tensor -> !buffer
  tt.return
}

// Reads need no barrier between them, nor accesses to different buffers.
// CHECK-LABEL: @independent
tt.func @independent(%x: !tensor) {
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  %a = ttg.local_alloc %x : (!tensor) -> !buffer
  %b = ttg.local_alloc %x : (!tensor) -> !buffer
  %0 = ttg.local_load %a : !buffer -> !tensor
  %1 = ttg.local_load %b : !buffer -> !tensor
  %2 = ttg.local_load %a : !buffer -> !tensor
  tt.return
}

// The store of one iteration comes before the load of the next.
// CHECK-LABEL: @loop
tt.func @loop(%x: !tensor, %lb: index, %ub: index, %st: index) {
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: }
  %a = ttg.local_alloc %x : (!tensor) -> !buffer
  scf.for %i = %lb to %ub step %st {
    %0 = ttg.local_load %a : !buffer -> !tensor
    ttg.local_store %0, %a : !tensor -> !buffer
  }
  tt.return
}

// The same without structure.
// CHECK-LABEL: @branches
tt.func @branches(%x: !tensor, %cond: i1) {
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: cf.br
  // CHECK: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: cf.cond_br
  %a = ttg.local_alloc %x : (!tensor) -> !buffer
  cf.br ^body
^body:
  %0 = ttg.local_load %a : !buffer -> !tensor
  ttg.local_store %0, %a : !tensor -> !buffer
  cf.cond_br %cond, ^body, ^exit
^exit:
  tt.return
}

// A barrier on one path only does not help the other.
// CHECK-LABEL: @if_one_side
tt.func @if_one_side(%x: !tensor, %cond: i1) {
  // CHECK: scf.if
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: }
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  %a = ttg.local_alloc %x : (!tensor) -> !buffer
  scf.if %cond {
    ttg.barrier local
  }
  %0 = ttg.local_load %a : !buffer -> !tensor
  tt.return
}

// Copies of other threads are visible only after a barrier behind the wait.
// CHECK-LABEL: @async
tt.func @async(%p: tensor<32x32x!tt.ptr<f16>, #blocked>) {
  // CHECK: ttg.async_wait
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  %a = ttg.local_alloc : () -> !buffer
  %t = ttg.async_copy_global_to_local %p, %a : tensor<32x32x!tt.ptr<f16>, #blocked> -> !buffer
  %g = ttg.async_commit_group tokens %t
  %w = ttg.async_wait %g {num = 0 : i32}
  %0 = ttg.local_load %a token %w : !buffer -> !tensor
  tt.return
}

// The token of another copy says nothing of a copy before the load. That
// may have been waited for by what is no wait of ours.
// CHECK-LABEL: @token_of_another_copy
tt.func @token_of_another_copy(%p: tensor<32x32x!tt.ptr<f16>, #blocked>) {
  // CHECK: ttg.async_wait
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.async_copy_global_to_local
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  %a = ttg.local_alloc : () -> !buffer
  %b = ttg.local_alloc : () -> !buffer
  %t = ttg.async_copy_global_to_local %p, %b : tensor<32x32x!tt.ptr<f16>, #blocked> -> !buffer
  %g = ttg.async_commit_group tokens %t
  %w = ttg.async_wait %g {num = 0 : i32}
  %u = ttg.async_copy_global_to_local %p, %a : tensor<32x32x!tt.ptr<f16>, #blocked> -> !buffer
  %0 = ttg.local_load %a token %w : !buffer -> !tensor
  %1 = ttg.local_load %b token %w : !buffer -> !tensor
  tt.return
}

// A copy for the next iteration goes elsewhere: the load takes the token of
// the same copy, from the iteration before.
// CHECK-LABEL: @token_of_the_iteration_before
tt.func @token_of_the_iteration_before(%p: tensor<32x32x!tt.ptr<f16>, #blocked>, %first: !ttg.async.token, %lb: index, %ub: index, %st: index) {
  // CHECK: scf.for
  // CHECK-NEXT: ttg.async_wait
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.async_copy_global_to_local
  // CHECK-NEXT: ttg.async_commit_group
  // CHECK-NEXT: ttg.local_load
  %a = ttg.local_alloc : () -> !buffer
  %r = scf.for %i = %lb to %ub step %st iter_args(%t = %first) -> !ttg.async.token {
    %w = ttg.async_wait %t {num = 0 : i32}
    %u = ttg.async_copy_global_to_local %p, %a : tensor<32x32x!tt.ptr<f16>, #blocked> -> !buffer
    %g = ttg.async_commit_group tokens %u
    %0 = ttg.local_load %a token %w : !buffer -> !tensor
    scf.yield %g : !ttg.async.token
  }
  tt.return
}

// Only a wait orders copies: no barrier stands between two of them.
// CHECK-LABEL: @two_copies
tt.func @two_copies(%p: tensor<32x32x!tt.ptr<f16>, #blocked>) {
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NEXT: ttg.async_copy_global_to_local
  // CHECK-NOT: ttg.barrier
  // CHECK: ttg.async_wait
  // CHECK-NEXT: ttg.barrier local
  %a = ttg.local_alloc : () -> !buffer
  %t = ttg.async_copy_global_to_local %p, %a : tensor<32x32x!tt.ptr<f16>, #blocked> -> !buffer
  %u = ttg.async_copy_global_to_local %p, %a : tensor<32x32x!tt.ptr<f16>, #blocked> -> !buffer
  %g = ttg.async_commit_group tokens %t, %u
  %w = ttg.async_wait %g {num = 0 : i32}
  %0 = ttg.local_load %a token %w : !buffer -> !tensor
  tt.return
}

// Each reduction has a barrier inside; with scratch of their own none is needed
// between them, round a loop included.
// CHECK-LABEL: @reductions
tt.func @reductions(%x: tensor<128xf32, #row>, %lb: index, %ub: index, %st: index) {
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  scf.for %i = %lb to %ub step %st {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %b : f32
      tt.reduce.return %m : f32
    }) : (tensor<128xf32, #row>) -> f32
    %1 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.addf %a, %b : f32
      tt.reduce.return %m : f32
    }) : (tensor<128xf32, #row>) -> f32
  }
  tt.return
}

tt.func private @callee(%x: !tensor) {
  %a = ttg.local_alloc %x : (!tensor) -> !buffer
  %0 = ttg.local_load %a : !buffer -> !tensor
  tt.return
}

// A second call reuses the frame.
// CHECK-LABEL: @calls
tt.func @calls(%x: !tensor) {
  // CHECK: tt.call
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tt.call
  // CHECK-NEXT: tt.return
  tt.call @callee(%x) : (!tensor) -> ()
  tt.call @callee(%x) : (!tensor) -> ()
  tt.return
}

tt.func private @read(%a: !buffer) -> !tensor {
  %0 = ttg.local_load %a : !buffer -> !tensor
  tt.return %0 : !tensor
}
tt.func private @write(%a: !buffer, %x: !tensor) {
  ttg.local_store %x, %a : !tensor -> !buffer
  tt.return
}
tt.func private @write_through(%a: !buffer, %b: !buffer, %x: !tensor) {
  tt.call @write(%b, %x) : (!buffer, !tensor) -> ()
  tt.return
}

// What a callee does to buffers that it is given counts as done at the call.
// CHECK-LABEL: @buffers_of_callees
tt.func @buffers_of_callees(%x: !tensor) {
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tt.call @read
  // CHECK-NEXT: tt.call @read
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tt.call @write(
  // CHECK-NEXT: tt.call @read
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tt.call @write_through
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: tt.call @read
  // CHECK-NEXT: tt.return
  %a = ttg.local_alloc %x : (!tensor) -> !buffer
  %b = ttg.local_alloc %x : (!tensor) -> !buffer
  %0 = tt.call @read(%a) : (!buffer) -> !tensor
  %1 = tt.call @read(%a) : (!buffer) -> !tensor
  tt.call @write(%a, %x) : (!buffer, !tensor) -> ()
  %2 = tt.call @read(%b) : (!buffer) -> !tensor
  %3 = ttg.local_load %a : !buffer -> !tensor
  tt.call @write_through(%b, %a, %x) : (!buffer, !buffer, !tensor) -> ()
  %4 = ttg.local_load %b : !buffer -> !tensor
  %5 = tt.call @read(%a) : (!buffer) -> !tensor
  tt.return
}

// Inside of it, two arguments may be one buffer; its own is none of them.
// CHECK-LABEL: @arguments
tt.func private @arguments(%a: !buffer, %b: !buffer, %x: !tensor) -> !tensor {
  // CHECK: ttg.local_store %arg2, %arg0
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load %arg1
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.local_load %arg0
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_store
  ttg.local_store %x, %a : !tensor -> !buffer
  %0 = ttg.local_load %b : !buffer -> !tensor
  %own = ttg.local_alloc %x : (!tensor) -> !buffer
  %1 = ttg.local_load %a : !buffer -> !tensor
  ttg.local_store %0, %own : !tensor -> !buffer
  tt.return %1 : !tensor
}
}

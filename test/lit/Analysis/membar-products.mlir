// RUN: sed -e 's/COLUMNS/2/' -e 's/WARPS/8/' %s | tile-opt -test-print-membar | filecheck %s --check-prefixes=CHECK,TWO
// RUN: sed -e 's/COLUMNS/1/' -e 's/WARPS/4/' %s | tile-opt -test-print-membar | filecheck %s

// What two warp groups, and what one, must do before they overwrite operands of
// asynchronous products.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, COLUMNS], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, COLUMNS], instrShape = [16, 32, 16]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = WARPS : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A product reads its operands until it is waited for, whatever barriers come
  // before that; another warp group may wait for longer. One group is alone.
  // CHECK-LABEL: @product
  tt.func @product(%a: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    // CHECK: ttg.local_alloc
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
    // TWO-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    %buf = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %d = ttnvgpu.warp_group_dot %buf, %buf, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    ttg.barrier local
    %e:2 = ttnvgpu.warp_group_dot_wait %d, %buf {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %a, %buf : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return %e#0 : tensor<64x64xf32, #mma>
  }

  // One that is waited for at once.
  // CHECK-LABEL: @synchronous
  tt.func @synchronous(%a: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    // CHECK: ttnvgpu.warp_group_dot
    // TWO-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    %buf = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %d = ttnvgpu.warp_group_dot %buf, %buf, %c {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    ttg.local_store %a, %buf : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // What other warps read with ordinary loads is theirs until a barrier.
  // CHECK-LABEL: @load_and_product
  tt.func @load_and_product(%a: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> (tensor<64x64xf16, #blocked>, tensor<64x64xf32, #mma>) {
    // CHECK: ttg.local_load
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    %buf = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %x = ttg.local_load %buf : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    %d = ttnvgpu.warp_group_dot %buf, %buf, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %e:2 = ttnvgpu.warp_group_dot_wait %d, %buf {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %a, %buf : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return %x, %e#0 : tensor<64x64xf16, #blocked>, tensor<64x64xf32, #mma>
  }

  // A copy that was started behind the wait goes to another part of the buffer.
  // CHECK-LABEL: @copy_for_later
  tt.func @copy_for_later(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %c: tensor<64x64xf32, #mma>, %i: i32, %j: i32) -> tensor<64x64xf32, #mma> {
    // CHECK: ttg.async_wait
    // CHECK-NEXT: ttg.barrier local
    // CHECK: ttg.async_copy_global_to_local
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    // CHECK-NEXT: tt.return
    %ring = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %here = ttg.memdesc_index %ring[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %there = ttg.memdesc_index %ring[%j] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %s = ttg.async_copy_global_to_local %p, %here : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %s
    %w = ttg.async_wait %g {num = 0 : i32}
    %t = ttg.async_copy_global_to_local %p, %there : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    %d = ttnvgpu.warp_group_dot %here, %here, %c {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // A wait that leaves one product unfinished says nothing of that one.
  // CHECK-LABEL: @two_products
  tt.func @two_products(%a: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    // CHECK: ttg.local_alloc
    // CHECK-NEXT: ttg.local_alloc
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
    // TWO-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
    // TWO-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.local_store
    %x = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %y = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %d = ttnvgpu.warp_group_dot %x, %x, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %e = ttnvgpu.warp_group_dot %y, %y, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %f:2 = ttnvgpu.warp_group_dot_wait %d, %x {pendings = 1 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %a, %x : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %g:2 = ttnvgpu.warp_group_dot_wait %e, %y {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %a, %y : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return %f#0, %g#0 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }

  // The wait in a loop is for the product of the iteration before it, which
  // other warp groups may still run.
  // CHECK-LABEL: @product_of_each_iteration
  tt.func @product_of_each_iteration(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %c: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    // CHECK: scf.for
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32, #mma>) : i32 {
      // CHECK: ttnvgpu.warp_group_dot
      // CHECK-NEXT: ttnvgpu.warp_group_dot_wait
      // TWO-NEXT: ttg.barrier local
      // CHECK-NEXT: ttg.async_copy_global_to_local
      %x = ttg.memdesc_index %ring[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %d = ttnvgpu.warp_group_dot %x, %x, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %e:2 = ttnvgpu.warp_group_dot_wait %d, %x {pendings = 1 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %t = ttg.async_copy_global_to_local %p, %x : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %t
      %w = ttg.async_wait %g {num = 1 : i32}
      scf.yield %e#0 : tensor<64x64xf32, #mma>
    }
    tt.return %sum : tensor<64x64xf32, #mma>
  }
}

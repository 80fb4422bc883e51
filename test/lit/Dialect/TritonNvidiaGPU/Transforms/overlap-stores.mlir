// RUN: tile-opt %s -split-input-file -triton-nvidia-overlap-stores | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @in_loop
  // CHECK: %[[OWN:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[OWN]]
  // CHECK-NEXT: ttnvgpu.fence_async_shared
  // CHECK-NEXT: ttnvgpu.async_tma_copy_local_to_global %{{.*}} %[[OWN]]
  // CHECK-NEXT: }
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_dealloc %[[OWN]]
  // Behind a loop there is nothing to overlap with, and somebody may be waiting
  // for what is to be complete.
  // CHECK: ttg.local_alloc %{{.*}} : (tensor<64x64xf16, #mma>)
  // CHECK: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {pendings = 0 : i32}
  // CHECK: scf.for
  // CHECK: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {complete, pendings = 0 : i32}
  tt.func @in_loop(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #mma>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %buf = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t1 = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %c0] %buf : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t1 {pendings = 0 : i32}
    }
    %buf = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ttnvgpu.fence_async_shared {bCluster = false}
    ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
    %t2 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %c0] %buf : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
    ttnvgpu.async_tma_store_wait %t2 {pendings = 0 : i32}
    scf.for %i = %c0 to %n step %c1 : i32 {
      %seen = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t3 = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %c0] %seen : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t3 {complete, pendings = 0 : i32}
    }
    tt.return
  }

  // What threads write for a product has a barrier before that: the wait for the
  // copy of before, behind which a barrier is needed, too, goes there.
  // CHECK-LABEL: @behind_operand
  // CHECK: scf.for
  // CHECK-NEXT: ttg.local_alloc %{{.*}} : (tensor<64x64xf16, #mma>)
  // CHECK-NEXT: ttnvgpu.fence_async_shared
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK-NEXT: ttg.memdesc_trans
  // CHECK-NEXT: ttnvgpu.warp_group_dot
  // CHECK-NEXT: arith.truncf
  // CHECK-NEXT: ttg.local_store
  tt.func @behind_operand(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #mma>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %c: tensor<64x64xf32, #mma>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %t = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #turned, #smem>
      %d = ttnvgpu.warp_group_dot %t, %b, %c {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #turned, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %y = arith.truncf %d : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %buf = ttg.local_alloc %y : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t4 = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %c0] %buf : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t4 {pendings = 0 : i32}
    }
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Three blocks of 64 KB fit on a multiprocessor, two of 128 KB do not.
  // CHECK-LABEL: @no_room
  // CHECK: scf.for
  // CHECK-COUNT-2: ttg.local_alloc %{{.*}} : (tensor<256x128xf16, #mma>)
  // CHECK: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {pendings = 0 : i32}
  tt.func @no_room(%desc: !tt.tensordesc<tensor<256x128xf16, #shared>>, %x: tensor<256x128xf16, #mma>, %n: i32) -> tensor<256x64xf16, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %before = ttg.local_alloc %x : (tensor<256x128xf16, #mma>) -> !ttg.memdesc<256x128xf16, #shared, #smem>
      %z = ttg.local_load %before : !ttg.memdesc<256x128xf16, #shared, #smem> -> tensor<256x128xf16, #mma>
      %buf = ttg.local_alloc %z : (tensor<256x128xf16, #mma>) -> !ttg.memdesc<256x128xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t5 = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %c0] %buf : !tt.tensordesc<tensor<256x128xf16, #shared>>, !ttg.memdesc<256x128xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t5 {pendings = 0 : i32}
    }
    %other = ttg.local_alloc : () -> !ttg.memdesc<256x64xf16, #shared, #smem, mutable>
    %y = ttg.local_load %other : !ttg.memdesc<256x64xf16, #shared, #smem, mutable> -> tensor<256x64xf16, #mma>
    tt.return %y : tensor<256x64xf16, #mma>
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What has a place of its own anyhow costs nothing more: 192 KB in all. The
  // store of a tile is in a branch.
  // CHECK-LABEL: @room_of_its_own
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<256x256xf16
  // CHECK: %[[OWN:.*]] = ttg.local_alloc : () -> !ttg.memdesc<256x128xf16
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[OWN]]
  // CHECK-NEXT: ttnvgpu.fence_async_shared
  // CHECK-NEXT: ttnvgpu.async_tma_copy_local_to_global %{{.*}} %[[OWN]]
  // CHECK-NEXT: }
  tt.func @room_of_its_own(%desc: !tt.tensordesc<tensor<256x128xf16, #shared>>, %x: tensor<256x128xf16, #mma>, %last: i1, %n: i32) -> tensor<256x256xf16, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %other = ttg.local_alloc : () -> !ttg.memdesc<256x256xf16, #shared, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.if %last {
        %buf = ttg.local_alloc %x : (tensor<256x128xf16, #mma>) -> !ttg.memdesc<256x128xf16, #shared, #smem>
        ttnvgpu.fence_async_shared {bCluster = false}
        ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
        %t6 = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %c0] %buf : !tt.tensordesc<tensor<256x128xf16, #shared>>, !ttg.memdesc<256x128xf16, #shared, #smem> -> !ttg.async.token
        ttnvgpu.async_tma_store_wait %t6 {pendings = 0 : i32}
      }
    }
    %y = ttg.local_load %other : !ttg.memdesc<256x256xf16, #shared, #smem, mutable> -> tensor<256x256xf16, #mma>
    tt.return %y : tensor<256x256xf16, #mma>
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The second half of a tile does not wait for the first; what may touch it does.
  // CHECK-LABEL: @halves
  // CHECK: scf.for
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK: ttnvgpu.async_tma_copy_local_to_global
  // CHECK-NOT: ttnvgpu.async_tma_store_wait
  // CHECK: ttnvgpu.async_tma_copy_local_to_global
  // CHECK: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK: ttnvgpu.async_tma_copy_local_to_global
  // CHECK-NEXT: }
  tt.func @halves(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #mma>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %left = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t7 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %i] %left : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t7 {pendings = 0 : i32}
      %next = arith.addi %i, %c64 : i32
      %right = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t8 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %next] %right : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t8 {pendings = 0 : i32}
      %touching = arith.addi %i, %c63 : i32
      %over = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t9 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %touching] %over : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t9 {pendings = 0 : i32}
    }
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Where not all parts of a tile have room, they take buffers in turns: the
  // third waits until the first has been read, though its values are there.
  // CHECK-LABEL: @in_turns
  // CHECK: %[[FIRST:.*]] = ttg.local_alloc : () -> !ttg.memdesc<128x128xf16
  // CHECK: %[[SECOND:.*]] = ttg.local_alloc : () -> !ttg.memdesc<128x128xf16
  // CHECK: scf.for
  // CHECK: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK: ttg.local_store %{{.*}}, %[[FIRST]]
  // CHECK-NEXT: ttnvgpu.fence_async_shared
  // CHECK-NEXT: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global %{{.*}} %[[FIRST]]
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[SECOND]]
  // CHECK-NEXT: ttnvgpu.fence_async_shared
  // CHECK-NEXT: ttnvgpu.async_tma_copy_local_to_global %{{.*}} %[[SECOND]]
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {pendings = 1 : i32}
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[FIRST]]
  // CHECK-NEXT: ttnvgpu.fence_async_shared
  // CHECK-NEXT: ttnvgpu.async_tma_copy_local_to_global %{{.*}} %[[FIRST]]
  // CHECK-NEXT: }
  // CHECK-NEXT: ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
  tt.func @in_turns(%desc: !tt.tensordesc<tensor<128x128xf16, #shared>>, %x: tensor<128x128xf16, #mma>, %n: i32) -> tensor<512x128xf16, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %c256 = arith.constant 256 : i32
    %other = ttg.local_alloc : () -> !ttg.memdesc<512x128xf16, #shared, #smem, mutable>
    %more = ttg.local_alloc : () -> !ttg.memdesc<4096xf64, #line, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %second = arith.addi %i, %c128 : i32
      %third = arith.addi %i, %c256 : i32
      %a = ttg.local_alloc %x : (tensor<128x128xf16, #mma>) -> !ttg.memdesc<128x128xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t10 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %i] %a : !tt.tensordesc<tensor<128x128xf16, #shared>>, !ttg.memdesc<128x128xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t10 {pendings = 0 : i32}
      %b = ttg.local_alloc %x : (tensor<128x128xf16, #mma>) -> !ttg.memdesc<128x128xf16, #shared, #smem>
      %c = ttg.local_alloc %x : (tensor<128x128xf16, #mma>) -> !ttg.memdesc<128x128xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t11 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %second] %b : !tt.tensordesc<tensor<128x128xf16, #shared>>, !ttg.memdesc<128x128xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t11 {pendings = 0 : i32}
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t12 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %third] %c : !tt.tensordesc<tensor<128x128xf16, #shared>>, !ttg.memdesc<128x128xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t12 {pendings = 0 : i32}
    }
    ttg.local_dealloc %more : !ttg.memdesc<4096xf64, #line, #smem, mutable>
    %y = ttg.local_load %other : !ttg.memdesc<512x128xf16, #shared, #smem, mutable> -> tensor<512x128xf16, #mma>
    tt.return %y : tensor<512x128xf16, #mma>
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A store to where the one before the last wrote waits for it, though the last
  // one did too until its wait went; and it does behind both.
  // CHECK-LABEL: @back_again
  // CHECK: scf.for
  // CHECK: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK: ttnvgpu.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %[[I:.*]]]
  // CHECK-NOT: ttnvgpu.async_tma_store_wait
  // CHECK: ttnvgpu.async_tma_copy_local_to_global
  // CHECK: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK: ttg.local_store
  // CHECK: ttnvgpu.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %[[I]]]
  // CHECK-NEXT: }
  tt.func @back_again(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #mma>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %next = arith.addi %i, %c64 : i32
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t13 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %i] %a : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t13 {pendings = 0 : i32}
      %b = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t14 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %next] %b : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t14 {pendings = 0 : i32}
      %c = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t15 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %i] %c : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t15 {pendings = 0 : i32}
    }
    tt.return
  }

  // So does one whose buffer was written before the other's copy started.
  // CHECK-LABEL: @written_early
  // CHECK: scf.for
  // CHECK: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK: ttnvgpu.async_tma_copy_local_to_global
  // CHECK: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
  // CHECK: ttg.local_store
  // CHECK: ttnvgpu.async_tma_copy_local_to_global
  // CHECK-NEXT: }
  tt.func @written_early(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #mma>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %b = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t16 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %i] %a : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t16 {pendings = 0 : i32}
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      %t17 = ttnvgpu.async_tma_copy_local_to_global %desc[%c0, %i] %b : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
      ttnvgpu.async_tma_store_wait %t17 {pendings = 0 : i32}
    }
    tt.return
  }
}

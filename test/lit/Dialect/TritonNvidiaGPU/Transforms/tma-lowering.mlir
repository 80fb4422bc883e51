// RUN: tile-opt %s -triton-nvidia-tma-lowering | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#shared3 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, rank = 3}>
#flat = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32, rank = 1}>
#padded = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @load
  // CHECK-SAME: (%[[DESC:[^:]*]]: {{.*}}, %[[I:[^:]*]]: i32, %[[J:[^:]*]]: i32)
  tt.func @load(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %i: i32, %j: i32) -> tensor<64x64xf16, #blocked> {
    // CHECK-NEXT: %[[BUF:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: %[[BAR:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #[[B:.*]], #smem, mutable>
    // CHECK-NEXT: ttnvgpu.init_barrier %[[BAR]], 1
    // CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
    // CHECK-NEXT: ttnvgpu.barrier_expect %[[BAR]], 8192, %[[TRUE]]
    // CHECK-NEXT: ttnvgpu.async_tma_copy_global_to_local %[[DESC]][%[[I]], %[[J]]] %[[BUF]], %[[BAR]], %[[TRUE]] evictionPolicy = evict_first : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #[[B]], #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : i32
    // CHECK-NEXT: ttnvgpu.wait_barrier %[[BAR]], %[[C0]]
    // CHECK-NEXT: ttnvgpu.inval_barrier %[[BAR]]
    // CHECK-NEXT: %[[X:.*]] = ttg.local_load %[[BUF]] : {{.*}} -> tensor<64x64xf16, #blocked>
    // CHECK-NEXT: tt.return %[[X]]
    %x = tt.descriptor_load %desc[%i, %j] evictionPolicy = evict_first : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    tt.return %x : tensor<64x64xf16, #blocked>
  }

  // Products read the buffer that was copied to, others what is loaded from it.
  // CHECK-LABEL: @load_for_products
  tt.func @load_for_products(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %i: i32) -> (!ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #turned, #smem>) {
    // CHECK: %[[BUF:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: ttnvgpu.inval_barrier
    // CHECK-NEXT: %[[X:.*]] = ttg.local_load %[[BUF]]
    // CHECK-NEXT: %[[A:.*]] = ttg.memdesc_reinterpret %[[BUF]] : {{.*}} -> !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK-NEXT: %[[B:.*]] = ttg.local_alloc %[[X]]
    // CHECK-NEXT: tt.return %[[A]], %[[B]]
    %x = tt.descriptor_load %desc[%i, %i] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %b = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #turned, #smem>
    tt.return %a, %b : !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #turned, #smem>
  }

  // The buffer leaves out what the tensor leaves out.
  // CHECK-LABEL: @load_of_lower_rank
  tt.func @load_of_lower_rank(%desc: !tt.tensordesc<tensor<1x32x32xf16, #shared3>>, %i: i32) -> tensor<32x32xf16, #blocked> {
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #[[S2:.*]], #smem, mutable>
    // CHECK: ttnvgpu.barrier_expect %{{.*}}, 2048,
    // CHECK: ttnvgpu.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] %{{.*}} -> !ttg.memdesc<32x32xf16, #[[S2]], #smem, mutable>
    %x = tt.descriptor_load %desc[%i, %i, %i] : !tt.tensordesc<tensor<1x32x32xf16, #shared3>> -> tensor<32x32xf16, #blocked>
    tt.return %x : tensor<32x32xf16, #blocked>
  }

  // CHECK-LABEL: @store
  // CHECK-SAME: (%[[DESC:[^:]*]]: {{.*}}, %[[X:[^:]*]]: tensor<64x64xf16, {{.*}}>, %[[I:[^:]*]]: i32)
  tt.func @store(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #blocked>, %i: i32) {
    // CHECK-NEXT: %[[BUF:.*]] = ttg.local_alloc %[[X]] : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK-NEXT: ttnvgpu.fence_async_shared {bCluster = false}
    // CHECK-NEXT: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global %[[DESC]][%[[I]], %[[I]]] %[[BUF]]
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {pendings = 0 : i32}
    tt.descriptor_store %desc[%i, %i], %x : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
    // CHECK-NEXT: ttg.local_alloc
    // CHECK-NEXT: ttnvgpu.fence_async_shared
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait {complete
    // CHECK-NEXT: %[[T:.*]] = ttnvgpu.async_tma_reduce max, %[[DESC]][%[[I]], %[[I]]]
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]]
    tt.descriptor_reduce max, %desc[%i, %i], %x : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64x64xf16, #blocked>
    // CHECK-NEXT: tt.return
    tt.return
  }

  // Row numbers go four to a warp.
  // CHECK-LABEL: @rows
  // CHECK-SAME: (%[[DESC:[^:]*]]: {{.*}}, %[[R:[^:]*]]: tensor<32xi32, {{.*}}>, %[[Y:[^:]*]]: i32)
  tt.func @rows(%desc: !tt.tensordesc<tensor<1x64xf16, #shared>>, %r: tensor<32xi32, #line>, %y: i32) {
    // CHECK: %[[R4:.*]] = ttg.convert_layout %[[R]] : tensor<32xi32, #{{.*}}> -> tensor<32xi32, #ttg.slice<{dim = 0, parent = #[[G:.*]]}>>
    // CHECK: ttnvgpu.barrier_expect %{{.*}}, 4096,
    // CHECK: ttnvgpu.async_tma_gather %[[DESC]][%[[R4]], %[[Y]]]
    // CHECK: %[[X:.*]] = ttg.local_load
    %x = tt.descriptor_gather %desc[%r, %y] : (!tt.tensordesc<tensor<1x64xf16, #shared>>, tensor<32xi32, #line>, i32) -> tensor<32x64xf16, #blocked>
    // CHECK: %[[BUF:.*]] = ttg.local_alloc %[[X]]
    // CHECK: ttnvgpu.async_tma_scatter %[[DESC]][%{{.*}}, %[[Y]]] %[[BUF]]
    tt.descriptor_scatter %desc[%r, %y], %x : !tt.tensordesc<tensor<1x64xf16, #shared>>, tensor<32xi32, #line>, i32, tensor<32x64xf16, #blocked>
    tt.return
  }

  // A box is as wide as the swizzle, and all lists start with the inner dimension.
  // CHECK-LABEL: @make
  // CHECK-SAME: (%[[BASE:[^:]*]]: !tt.ptr<f16>, %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[S:[^:]*]]: i64)
  tt.func @make(%base: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64) -> !tt.tensordesc<tensor<32x128xf16, #shared>> {
    %c1 = arith.constant 1 : i64
    // CHECK: %[[MAP:.*]] = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
    // An empty tensor becomes an element of padding behind the map.
    // CHECK: %[[PADDING:.*]] = tt.addptr %[[MAP]], %{{.*}}
    // CHECK: tt.store %{{.*}}, %{{.*}} : !tt.ptr<i64>
    // CHECK-NEXT: ttnvgpu.fence_async_global
    // CHECK: %[[NO_M:.*]] = arith.cmpi slt, %[[M]], %[[ONE:.*]] : i32
    // CHECK: %[[NO_N:.*]] = arith.cmpi slt, %[[N]], %[[ONE]] : i32
    // CHECK: %[[EMPTY:.*]] = arith.ori %[[NO_M]], %[[NO_N]]
    // CHECK: %[[START:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[BASE]] : !tt.ptr<f16>
    // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
    // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 2 : i64
    // CHECK: %[[STRIDE:.*]] = arith.muli %[[S]], %[[BYTES]] : i64
    // CHECK: %[[COLUMNS:.*]] = arith.select %[[EMPTY]], %[[ONE]], %[[N]]
    // CHECK: %[[ROWS:.*]] = arith.select %[[EMPTY]], %[[ONE]], %[[M]]
    // CHECK: ttnvgpu.tensormap_create %[[MAP]], %[[START]], [%[[C64]], %[[C32]]], [%[[COLUMNS]], %[[ROWS]]], [%[[STRIDE]]], [%{{.*}}, %{{.*}}] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32}
    // CHECK: ttnvgpu.tensormap_fenceproxy_acquire %[[MAP]]
    // CHECK: ttnvgpu.reinterpret_tensor_descriptor %[[MAP]] : !tt.ptr<i8> to !tt.tensordesc<tensor<32x128xf16, #shared>>
    %desc = tt.make_tensor_descriptor %base, [%m, %n], [%s, %c1] : <f16>, <tensor<32x128xf16, #shared>>
    tt.return %desc : !tt.tensordesc<tensor<32x128xf16, #shared>>
  }

  // A byte of padded 4-bit elements is two elements of the map. A tensor without
  // elements has 128, all zero.
  // CHECK-LABEL: @make_padded
  // CHECK-COUNT-8: tt.store
  // CHECK: %[[A:.*]] = arith.constant 128 : i32
  // CHECK: %[[B:.*]] = arith.constant 64 : i32
  // CHECK: %[[TWO:.*]] = arith.constant 2 : i32
  // CHECK: %[[TWICE:.*]] = arith.muli %arg1, %[[TWO]] : i32
  // CHECK: %[[N:.*]] = arith.select %{{.*}}, %{{.*}}, %[[TWICE]] : i32
  // CHECK: ttnvgpu.tensormap_create %{{.*}}, %{{.*}}, [%[[A]], %[[B]]], [%[[N]], %{{.*}}], [%{{.*}}], [%{{.*}}, %{{.*}}] {elem_type = 14 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32}
  tt.func @make_padded(%base: !tt.ptr<i8>, %n: i32, %s: i64) -> !tt.tensordesc<tensor<64x128xi8, #padded>> {
    %c1 = arith.constant 1 : i64
    %desc = tt.make_tensor_descriptor %base, [%n, %n], [%s, %c1] : <i8>, <tensor<64x128xi8, #padded>>
    tt.return %desc : !tt.tensordesc<tensor<64x128xi8, #padded>>
  }

  // CHECK-LABEL: @make_flat
  tt.func @make_flat(%base: !tt.ptr<f32>, %n: i32) -> !tt.tensordesc<tensor<512xf32, #flat>> {
    %c1 = arith.constant 1 : i64
    // CHECK: %[[C256:.*]] = arith.constant 256 : i32
    // CHECK: ttnvgpu.tensormap_create %{{.*}}, %{{.*}}, [%[[C256]]], [%{{.*}}], [], [%{{.*}}] {elem_type = 7 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 0 : i32}
    %desc = tt.make_tensor_descriptor %base, [%n], [%c1] {padding = 2 : i32} : <f32>, <tensor<512xf32, #flat>>
    tt.return %desc : !tt.tensordesc<tensor<512xf32, #flat>>
  }

  // What threads write where TMA reads is fenced, what they write elsewhere not.
  // CHECK-LABEL: @written_by_threads
  tt.func public @written_by_threads(%base: !tt.ptr<f32>, %other: !tt.ptr<f32>, %n: i32, %x: f32) -> tensor<512xf32, #line> {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %desc = tt.make_tensor_descriptor %base, [%n], [%c1] : <f32>, <tensor<512xf32, #flat>>
    // CHECK: tt.store %{{.*}}, %{{.*}} : !tt.ptr<f32>
    // CHECK-NEXT: tt.store %{{.*}}, %{{.*}} : !tt.ptr<f32>
    // CHECK-NEXT: ttnvgpu.fence_async_global
    tt.store %other, %x : !tt.ptr<f32>
    tt.store %base, %x : !tt.ptr<f32>
    // CHECK: tt.atomic_rmw
    // CHECK-NEXT: ttnvgpu.fence_async_global
    %true = arith.constant true
    %old = tt.atomic_rmw fadd, acquire, gpu, %other, %x, %true : (!tt.ptr<f32>, f32, i1) -> f32
    // CHECK: ttnvgpu.async_tma_copy_global_to_local
    %y = tt.descriptor_load %desc[%c0] : !tt.tensordesc<tensor<512xf32, #flat>> -> tensor<512xf32, #line>
    tt.return %y : tensor<512xf32, #line>
  }

  // Of what orders threads after others, the last before a copy is fenced, and
  // behind a loop that waits.
  // CHECK-LABEL: @waits
  tt.func public @waits(%base: !tt.ptr<f32>, %flag: !tt.ptr<i32>, %n: i32) -> tensor<512xf32, #line> {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %desc = tt.make_tensor_descriptor %base, [%n], [%c1] : <f32>, <tensor<512xf32, #flat>>
    // CHECK: gpu.barrier
    // CHECK-NOT: fence_async_global
    // CHECK: scf.while
    // CHECK-NOT: fence_async_global
    // CHECK: scf.yield
    // CHECK-NEXT: }
    // CHECK-NEXT: ttnvgpu.fence_async_global
    // CHECK: ttnvgpu.async_tma_copy_global_to_local
    // CHECK-NOT: fence_async_global
    // CHECK: tt.return
    gpu.barrier
    scf.while : () -> () {
      %old = tt.atomic_rmw add, acquire, gpu, %flag, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %again = arith.cmpi slt, %old, %n : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    %y = tt.descriptor_load %desc[%c0] : !tt.tensordesc<tensor<512xf32, #flat>> -> tensor<512xf32, #line>
    gpu.barrier
    tt.return %y : tensor<512xf32, #line>
  }

  // In a loop that copies, a copy may always follow. A barrier of the block
  // acquires nothing itself.
  // CHECK-LABEL: @copies_in_turns
  tt.func public @copies_in_turns(%base: !tt.ptr<f32>, %flag: !tt.ptr<i32>, %n: i32) {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %one = arith.constant 1 : i32
    %desc = tt.make_tensor_descriptor %base, [%n], [%c1] : <f32>, <tensor<512xf32, #flat>>
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %one : i32 {
      // CHECK: ttnvgpu.async_tma_copy_global_to_local
      %y = tt.descriptor_load %desc[%i] : !tt.tensordesc<tensor<512xf32, #flat>> -> tensor<512xf32, #line>
      // CHECK: tt.atomic_rmw
      // CHECK-NEXT: ttnvgpu.fence_async_global
      %old = tt.atomic_rmw add, acquire, gpu, %flag, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
      // CHECK-NEXT: gpu.barrier
      // CHECK-NOT: fence_async_global
      gpu.barrier
    }
    tt.return
  }

  // A descriptor that nobody uses has no map.
  // CHECK-LABEL: @unused
  // CHECK-NOT: ttnvgpu.tensormap_create
  tt.func public @unused(%base: !tt.ptr<f32>, %n: i32) {
    %c1 = arith.constant 1 : i64
    %desc = tt.make_tensor_descriptor %base, [%n], [%c1] : <f32>, <tensor<512xf32, #flat>>
    tt.return
  }

  // Where something may see a store, it is complete before what follows.
  // CHECK-LABEL: @read_by_threads
  tt.func public @read_by_threads(%base: !tt.ptr<f32>, %n: i32, %x: tensor<512xf32, #line>) -> f32 {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %desc = tt.make_tensor_descriptor %base, [%n], [%c1] : <f32>, <tensor<512xf32, #flat>>
    // CHECK: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {complete, pendings = 0 : i32}
    tt.descriptor_store %desc[%c0], %x : !tt.tensordesc<tensor<512xf32, #flat>>, tensor<512xf32, #line>
    %y = tt.load %base : !tt.ptr<f32>
    tt.return %y : f32
  }

  // So may copies that threads start, of the same memory and of no other.
  // CHECK-LABEL: @read_by_copies
  tt.func public @read_by_copies(%base: !tt.ptr<f32>, %other: !tt.ptr<f32>, %n: i32, %x: tensor<512xf32, #line>, %to: !ttg.memdesc<512xf32, #flat, #smem, mutable>) {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %desc = tt.make_tensor_descriptor %base, [%n], [%c1] : <f32>, <tensor<512xf32, #flat>>
    %p = tt.splat %base : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    // CHECK: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {complete, pendings = 0 : i32}
    tt.descriptor_store %desc[%c0], %x : !tt.tensordesc<tensor<512xf32, #flat>>, tensor<512xf32, #line>
    %t = ttg.async_copy_global_to_local %p, %to : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #flat, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: @others_read_by_copies
  tt.func public @others_read_by_copies(%base: !tt.ptr<f32>, %other: !tt.ptr<f32>, %n: i32, %x: tensor<512xf32, #line>, %to: !ttg.memdesc<512xf32, #flat, #smem, mutable>) {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %desc = tt.make_tensor_descriptor %base, [%n], [%c1] : <f32>, <tensor<512xf32, #flat>>
    %p = tt.splat %other : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    // CHECK: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {pendings = 0 : i32}
    tt.descriptor_store %desc[%c0], %x : !tt.tensordesc<tensor<512xf32, #flat>>, tensor<512xf32, #line>
    %t = ttg.async_copy_global_to_local %p, %to : tensor<512x!tt.ptr<f32>, #line> -> <512xf32, #flat, #smem, mutable>
    tt.return
  }

  // What comes before the store sees nothing of it, whoever else goes on.
  // CHECK-LABEL: @told_before
  tt.func public @told_before(%desc: !tt.tensordesc<tensor<512xf32, #flat>>, %flag: !tt.ptr<i32>, %x: tensor<512xf32, #line>) {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %old = tt.atomic_rmw add, release, gpu, %flag, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
    // CHECK: ttg.local_alloc
    // CHECK-NEXT: ttnvgpu.fence_async_shared
    // CHECK-NEXT: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {pendings = 0 : i32}
    tt.descriptor_store %desc[%c0], %x : !tt.tensordesc<tensor<512xf32, #flat>>, tensor<512xf32, #line>
    tt.return
  }

  // CHECK-LABEL: @told_behind
  tt.func public @told_behind(%desc: !tt.tensordesc<tensor<512xf32, #flat>>, %flag: !tt.ptr<i32>, %x: tensor<512xf32, #line>, %c: i1) {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    scf.if %c {
      // CHECK: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
      // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {complete, pendings = 0 : i32}
      tt.descriptor_store %desc[%c0], %x : !tt.tensordesc<tensor<512xf32, #flat>>, tensor<512xf32, #line>
    }
    %old = tt.atomic_rmw add, release, gpu, %flag, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }

  // In a loop what comes before comes behind, too; and the copy itself comes again.
  // CHECK-LABEL: @told_in_a_loop
  tt.func public @told_in_a_loop(%desc: !tt.tensordesc<tensor<512xf32, #flat>>, %flag: !tt.ptr<i32>, %x: tensor<512xf32, #line>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %true = arith.constant true
    scf.for %i = %c0 to %n step %one : i32 {
      %old = tt.atomic_rmw add, release, gpu, %flag, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
      // CHECK: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
      // CHECK-NEXT: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
      // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {complete, pendings = 0 : i32}
      tt.descriptor_store %desc[%i], %x : !tt.tensordesc<tensor<512xf32, #flat>>, tensor<512xf32, #line>
    }
    tt.return
  }

  // Who called goes on.
  // CHECK-LABEL: @called
  tt.func private @called(%desc: !tt.tensordesc<tensor<512xf32, #flat>>, %x: tensor<512xf32, #line>) {
    %c0 = arith.constant 0 : i32
    // CHECK: ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
    // CHECK-NEXT: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global
    // CHECK-NEXT: ttnvgpu.async_tma_store_wait %[[T]] {complete, pendings = 0 : i32}
    tt.descriptor_store %desc[%c0], %x : !tt.tensordesc<tensor<512xf32, #flat>>, tensor<512xf32, #line>
    tt.return
  }
}

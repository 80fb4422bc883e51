// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | filecheck %s

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#rows = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @tiled
  // CHECK-SAME: (%[[D:[^:]*]]: {{.*}}, %[[BUF:[^:]*]]: {{.*}}, %[[BAR:[^:]*]]: {{.*}}, %[[X:[^:]*]]: i32, %[[PRED:[^:]*]]: i1,
  tt.func @tiled(%desc: !tt.tensordesc<tensor<64x64xf16, #f16>>, %buf: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>,
                 %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %pred: i1,
                 %descs: !tt.tensordesc<tensor<1x64x64xf16>>, %descf: !tt.tensordesc<tensor<64x32xf32, #f32>>,
                 %buff: !ttg.memdesc<64x32xf32, #f32, #smem>) {
    // CHECK: ttnvgpu.async_tma_copy_global_to_local %[[D]][%[[X]], %[[X]]] %[[BUF]], %[[BAR]], %[[PRED]] : !tt.tensordesc<tensor<64x64xf16, #[[S:.*]]>>, !ttg.memdesc<1xi64, {{.*}}> -> !ttg.memdesc<64x64xf16, #[[S]], #smem, mutable>
    ttnvgpu.async_tma_copy_global_to_local %desc[%x, %x] %buf, %bar, %pred : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
    // CHECK: ttnvgpu.async_tma_copy_global_to_local {{.*}}, %[[PRED]] cacheModifier = ca evictionPolicy = evict_first {isVolatile = true} :
    ttnvgpu.async_tma_copy_global_to_local %desc[%x, %x] %buf, %bar, %pred cacheModifier = ca evictionPolicy = evict_first {isVolatile = true} : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
    // A buffer may leave out leading ones.
    // CHECK: ttnvgpu.async_tma_copy_global_to_local %{{.*}}[%[[X]], %[[X]], %[[X]]] %[[BUF]]
    ttnvgpu.async_tma_copy_global_to_local %descs[%x, %x, %x] %buf, %bar, %pred : !tt.tensordesc<tensor<1x64x64xf16>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
    // CHECK: ttnvgpu.async_tma_copy_local_to_global %[[D]][%[[X]], %[[X]]] %[[BUF]] : !tt.tensordesc<tensor<64x64xf16, #[[S]]>>, !ttg.memdesc<64x64xf16, #[[S]], #smem, mutable>
    ttnvgpu.async_tma_copy_local_to_global %desc[%x, %x] %buf : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
    // CHECK: ttnvgpu.async_tma_reduce add, %{{.*}}[%[[X]], %[[X]]] %{{.*}} : !tt.tensordesc<tensor<64x32xf32, #{{.*}}>>, !ttg.memdesc<64x32xf32
    ttnvgpu.async_tma_reduce add, %descf[%x, %x] %buff : !tt.tensordesc<tensor<64x32xf32, #f32>>, !ttg.memdesc<64x32xf32, #f32, #smem>
    // CHECK: ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    // CHECK: %[[T:.*]] = ttnvgpu.async_tma_copy_local_to_global {{.*}} : !tt.tensordesc<tensor<64x64xf16, #[[S]]>>, !ttg.memdesc<64x64xf16, #[[S]], #smem, mutable> -> !ttg.async.token
    %t = ttnvgpu.async_tma_copy_local_to_global %desc[%x, %x] %buf : !tt.tensordesc<tensor<64x64xf16, #f16>>, !ttg.memdesc<64x64xf16, #f16, #smem, mutable> -> !ttg.async.token
    // CHECK: %[[U:.*]] = ttnvgpu.async_tma_reduce add, {{.*}} -> !ttg.async.token
    %u = ttnvgpu.async_tma_reduce add, %descf[%x, %x] %buff : !tt.tensordesc<tensor<64x32xf32, #f32>>, !ttg.memdesc<64x32xf32, #f32, #smem> -> !ttg.async.token
    // CHECK: ttnvgpu.async_tma_store_wait %[[T]], %[[U]] {complete, pendings = 0 : i32}
    ttnvgpu.async_tma_store_wait %t, %u {complete, pendings = 0 : i32}
    tt.return
  }

  // CHECK-LABEL: @pixels
  // CHECK-SAME: (%[[D:[^:]*]]: !ttnvgpu.tensordesc_im2col<tensor<64x64xf16, #{{[^:]*}}>>, %[[BUF:[^:]*]]: {{.*}}, %[[BAR:[^:]*]]: {{.*}}, %[[X:[^:]*]]: i32, %[[R:[^:]*]]: i16, %[[PRED:[^:]*]]: i1)
  tt.func @pixels(%desc: !ttnvgpu.tensordesc_im2col<64x64xf16, #f16>, %buf: !ttg.memdesc<64x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %x: i32, %r: i16, %pred: i1) {
    // CHECK: ttnvgpu.async_tma_copy_global_to_local %[[D]][%[[X]], %[[X]], %[[X]], %[[X]]] offsets = [%[[R]], %[[R]]] %[[BUF]], %[[BAR]], %[[PRED]] : !ttnvgpu.tensordesc_im2col<
    ttng.async_tma_copy_global_to_local %desc[%x, %x, %x, %x] offsets = [%r, %r] %buf, %bar, %pred : !ttng.tensordesc_im2col<64x64xf16, #f16>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #f16, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: @rows
  // CHECK-SAME: (%[[D:[^:]*]]: {{.*}}, %[[R:[^:]*]]: tensor<32xi32, #{{[^:]*}}>, %[[Y:[^:]*]]: i32, %[[BUF:[^:]*]]: {{.*}}, %[[BAR:[^:]*]]: {{.*}}, %[[PRED:[^:]*]]: i1)
  tt.func @rows(%desc: !tt.tensordesc<tensor<1x64xf16, #f16>>, %rows: tensor<32xi32, #rows>, %y: i32,
                %buf: !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %pred: i1) {
    // CHECK: ttnvgpu.async_tma_gather %[[D]][%[[R]], %[[Y]]] %[[BUF]], %[[BAR]], %[[PRED]] : !tt.tensordesc<{{.*}}>, tensor<32xi32, #{{.*}}>, i32, !ttg.memdesc<1xi64, {{.*}}>, !ttg.memdesc<32x64xf16, {{.*}}>, i1
    ttnvgpu.async_tma_gather %desc[%rows, %y] %buf, %bar, %pred : !tt.tensordesc<tensor<1x64xf16, #f16>>, tensor<32xi32, #rows>, i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<32x64xf16, #f16, #smem, mutable>, i1
    // CHECK: ttnvgpu.async_tma_scatter %[[D]][%[[R]], %[[Y]]] %[[BUF]] : !tt.tensordesc<{{.*}}>, tensor<32xi32, #{{.*}}>, i32, !ttg.memdesc<32x64xf16
    ttnvgpu.async_tma_scatter %desc[%rows, %y] %buf : !tt.tensordesc<tensor<1x64xf16, #f16>>, tensor<32xi32, #rows>, i32, !ttg.memdesc<32x64xf16, #f16, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: @tensormap
  // CHECK-SAME: (%[[P:[^:]*]]: !tt.ptr<i8>, %[[BASE:[^:]*]]: !tt.ptr<f16>, %[[C:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[STRIDE:[^:]*]]: i64)
  tt.func @tensormap(%p: !tt.ptr<i8>, %base: !tt.ptr<f16>, %c: i32, %n: i32, %stride: i64) -> !tt.tensordesc<tensor<64x64xf16, #f16>> {
    // CHECK: ttnvgpu.tensormap_create %[[P]], %[[BASE]], [%[[C]], %[[C]]], [%[[N]], %[[N]]], [%[[STRIDE]]], [%[[C]], %[[C]]] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttnvgpu.tensormap_create %p, %base, [%c, %c], [%n, %n], [%stride], [%c, %c] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    // CHECK: ttnvgpu.tensormap_create %[[P]], %[[BASE]], [%[[C]]], [%[[N]]], [], [%[[C]]] {
    ttnvgpu.tensormap_create %p, %base, [%c], [%n], [], [%c] {elem_type = 0 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 0 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32) -> ()
    // CHECK: ttnvgpu.tensormap_fenceproxy_acquire %[[P]] : !tt.ptr<i8>
    ttnvgpu.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>
    // CHECK: ttnvgpu.reinterpret_tensor_descriptor %[[P]] : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #{{.*}}>>
    %desc = ttnvgpu.reinterpret_tensor_descriptor %p : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #f16>>
    tt.return %desc : !tt.tensordesc<tensor<64x64xf16, #f16>>
  }
}

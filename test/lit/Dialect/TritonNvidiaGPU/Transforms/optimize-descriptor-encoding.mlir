// RUN: tile-opt %s -split-input-file -triton-nvidia-optimize-descriptor-encoding | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory

// CHECK-DAG: #[[NARROW:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[WIDE:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[MIDDLE:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[FLAT:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 1}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What the block is copied to shared memory for decides.
  // CHECK-LABEL: @from_use
  // CHECK-SAME: !tt.tensordesc<tensor<64x64xf16, #[[NARROW]]>>
  tt.func @from_use(%desc: !tt.tensordesc<tensor<64x64xf16>>, %i: i32) -> !ttg.memdesc<64x64xf16, #shared, #smem> {
    // CHECK: tt.descriptor_load {{.*}} : !tt.tensordesc<tensor<64x64xf16, #[[NARROW]]>> ->
    %x = tt.descriptor_load %desc[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #blocked>
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.return %a : !ttg.memdesc<64x64xf16, #shared, #smem>
  }

  // TMA cannot transpose.
  // CHECK-LABEL: @impossible_use
  // CHECK-SAME: !tt.tensordesc<tensor<64x64xf16, #[[WIDE]]>>
  tt.func @impossible_use(%desc: !tt.tensordesc<tensor<64x64xf16>>, %i: i32) -> !ttg.memdesc<64x64xf16, #turned, #smem> {
    %x = tt.descriptor_load %desc[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #blocked>
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #turned, #smem>
    tt.return %a : !ttg.memdesc<64x64xf16, #turned, #smem>
  }

  // CHECK-LABEL: @defaults
  // CHECK-SAME: tensor<64x32xf16, #[[MIDDLE]]>
  // CHECK-SAME: tensor<1x64xf16, #[[WIDE]]>
  // CHECK-SAME: tensor<256xf16, #[[FLAT]]>
  tt.func @defaults(%store: !tt.tensordesc<tensor<64x32xf16>>, %gather: !tt.tensordesc<tensor<1x64xf16>>, %flat: !tt.tensordesc<tensor<256xf16>>,
                    %x: tensor<64x32xf16, #blocked>, %rows: tensor<32xi32, #line>, %i: i32) -> tensor<32x64xf16, #blocked> {
    tt.descriptor_store %store[%i, %i], %x : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16, #blocked>
    %y = tt.descriptor_gather %gather[%rows, %i] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32, #line>, i32) -> tensor<32x64xf16, #blocked>
    tt.return %y : tensor<32x64xf16, #blocked>
  }

  // One class: through the loop, the select, the call.
  // CHECK-LABEL: @callee
  // CHECK-SAME: (%{{.*}}: !tt.tensordesc<tensor<64x64xf16, #[[NARROW]]>>) -> !tt.tensordesc<tensor<64x64xf16, #[[NARROW]]>>
  tt.func private @callee(%desc: !tt.tensordesc<tensor<64x64xf16>>) -> !tt.tensordesc<tensor<64x64xf16>> {
    tt.return %desc : !tt.tensordesc<tensor<64x64xf16>>
  }
  // CHECK-LABEL: @connected
  tt.func @connected(%base: !tt.ptr<f16>, %n: i32, %s: i64, %p: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c1_i64 = arith.constant 1 : i64
    // CHECK-COUNT-2: tt.make_tensor_descriptor {{.*}} <tensor<64x64xf16, #[[NARROW]]>>
    %d0 = tt.make_tensor_descriptor %base, [%n, %n], [%s, %c1_i64] : <f16>, <tensor<64x64xf16>>
    %d1 = tt.make_tensor_descriptor %base, [%n, %n], [%s, %c1_i64] : <f16>, <tensor<64x64xf16>>
    // CHECK: scf.for {{.*}} -> (!tt.tensordesc<tensor<64x64xf16, #[[NARROW]]>>)
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%arg = %d0) -> (!tt.tensordesc<tensor<64x64xf16>>) : i32 {
      // CHECK: arith.select {{.*}} : !tt.tensordesc<tensor<64x64xf16, #[[NARROW]]>>
      %next = arith.select %p, %arg, %d1 : !tt.tensordesc<tensor<64x64xf16>>
      scf.yield %next : !tt.tensordesc<tensor<64x64xf16>>
    }
    // CHECK: tt.call @callee{{.*}} : (!tt.tensordesc<tensor<64x64xf16, #[[NARROW]]>>) -> !tt.tensordesc<tensor<64x64xf16, #[[NARROW]]>>
    %e = tt.call @callee(%d) : (!tt.tensordesc<tensor<64x64xf16>>) -> !tt.tensordesc<tensor<64x64xf16>>
    %x = tt.descriptor_load %e[%n, %n] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #blocked>
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.return
  }
}

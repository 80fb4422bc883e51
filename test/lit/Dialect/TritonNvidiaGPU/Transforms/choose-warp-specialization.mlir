// RUN: tile-opt %s -split-input-file -triton-nvidia-choose-warp-specialization | filecheck %s
// RUN: tile-opt %s -split-input-file -triton-nvidia-choose-warp-specialization --remarks-filter=".*" 2>&1 | filecheck %s -check-prefix REMARK

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
!out = !tt.tensordesc<tensor<128x128xf32, #shared>>
!block = tensor<128x64xf16, #blocked>
!buffer = !ttg.memdesc<128x64xf16, #shared, #smem>
!turned = !ttg.memdesc<64x128xf16, #shared, #smem>
!sum = !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @tiles
  // CHECK: } {tt.warp_specialize}
  // CHECK-NEXT: tt.return
  tt.func public @tiles(%pa: !tt.ptr<f16>, %pb: !tt.ptr<f16>, %pc: !tt.ptr<f32>, %n: i32, %steps: i32, %width: i64) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %a = tt.make_tensor_descriptor %pa, [%n, %n], [%width, %one] : !tt.ptr<f16>, !desc
    %b = tt.make_tensor_descriptor %pb, [%n, %n], [%width, %one] : !tt.ptr<f16>, !desc
    %c = tt.make_tensor_descriptor %pc, [%n, %n], [%width, %one] : !tt.ptr<f32>, !out
    %false = arith.constant false
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = scf.for %k = %c0 to %steps step %c1 iter_args(%adds = %false) -> (i1) : i32 {
        %x = tt.descriptor_load %a[%i, %k] : !desc -> !block
        %y = tt.descriptor_load %b[%i, %k] : !desc -> !block
        %p = ttg.local_alloc %x : (!block) -> !buffer
        %q = ttg.local_alloc %y : (!block) -> !buffer
        %t = ttg.memdesc_trans %q {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<64x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem>
        ttnvgpu.tc_gen5_mma %p, %t, %d, %adds, %true : !buffer, !ttg.memdesc<64x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem>, !sum
        scf.yield %true : i1
      }
      %s = ttnvgpu.tmem_load %d : !sum -> tensor<128x128xf32, #rows>
      tt.descriptor_store %c[%i, %c0], %s : !out, tensor<128x128xf32, #rows>
    }
    tt.return
  }

  // A tile whose sum goes on from the tile before is multiplied after that.
  // CHECK-LABEL: @goes_on
  // CHECK-NOT: tt.warp_specialize
  // REMARK: its copies and dots get no warps of their own: a sum of it begins with something else than zero
  tt.func public @goes_on(%a: !desc, %b: !turned, %n: i32, %steps: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.for %k = %c0 to %steps step %c1 : i32 {
        %x = tt.descriptor_load %a[%i, %k] : !desc -> !block
        %p = ttg.local_alloc %x : (!block) -> !buffer
        ttnvgpu.tc_gen5_mma %p, %b, %d, %true, %true : !buffer, !turned, !sum
      }
    }
    tt.return
  }

  // CHECK-LABEL: @no_tiles
  // CHECK-NOT: tt.warp_specialize
  // REMARK: its copies and dots get no warps of their own: no loop over tiles is around it
  tt.func public @no_tiles(%a: !desc, %b: !turned, %steps: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %d = ttnvgpu.tmem_alloc : () -> !sum
    scf.for %k = %c0 to %steps step %c1 : i32 {
      %x = tt.descriptor_load %a[%c0, %k] : !desc -> !block
      %p = ttg.local_alloc %x : (!block) -> !buffer
      ttnvgpu.tc_gen5_mma %p, %b, %d, %true, %true : !buffer, !turned, !sum
    }
    tt.return
  }
}

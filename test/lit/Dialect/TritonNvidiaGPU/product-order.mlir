// RUN: tile-opt %s -triton-licm | filecheck %s

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#f16 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // A product works on memory of the chip alone: loads may pass it.
  // CHECK-LABEL: @silent
  // CHECK: tt.load
  // CHECK: scf.for
  // CHECK: ttnvgpu.tc_gen5_mma
  tt.func @silent(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>,
                  %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %p: !tt.ptr<f32>, %n: i32, %init: f32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (f32) : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
      %v = tt.load %p : !tt.ptr<f32>
      %s = arith.addf %acc, %v : f32
      scf.yield %s : f32
    }
    tt.return %r : f32
  }

  // So they may pass one that tells a barrier of its end: the dot itself hears
  // of nothing.
  // CHECK-LABEL: @announced
  // CHECK: tt.load
  // CHECK: scf.for
  // CHECK: ttnvgpu.tc_gen5_mma
  tt.func @announced(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>,
                     %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>,
                     %p: !tt.ptr<f32>, %n: i32, %init: f32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (f32) : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true, %bar[%true] {is_async} : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
      %v = tt.load %p : !tt.ptr<f32>
      %s = arith.addf %acc, %v : f32
      scf.yield %s : f32
    }
    tt.return %r : f32
  }

  // Whoever waits may hear of what others have stored.
  // CHECK-LABEL: @awaited
  // CHECK-NOT: tt.load
  // CHECK: scf.for
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: tt.load
  tt.func @awaited(%a: !ttg.memdesc<128x64xf16, #f16, #smem>, %b: !ttg.memdesc<64x128xf16, #f16, #smem>,
                     %d: !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>,
                     %p: !tt.ptr<f32>, %n: i32, %init: f32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (f32) : i32 {
      ttnvgpu.tc_gen5_mma %a, %b, %d, %true, %true, %bar[%true] {is_async} : !ttg.memdesc<128x64xf16, #f16, #smem>, !ttg.memdesc<64x128xf16, #f16, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      %v = tt.load %p : !tt.ptr<f32>
      %s = arith.addf %acc, %v : f32
      scf.yield %s : f32
    }
    tt.return %r : f32
  }
}

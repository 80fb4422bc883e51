// RUN: tile-opt %s -test-unfinished-products=between-passes=true -verify-diagnostics

// Between passes, a select hands a sum on as a branch does.

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @chosen(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!sum) : i32 {
    // expected-note @+1 {{this is the product}}
    %d = ttnvgpu.warp_group_dot %a, %b, %acc {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
    %s = arith.select %flag, %z, %d : !sum
    %w = ttnvgpu.warp_group_dot_wait %s {pendings = 1 : i32} : !sum
    // expected-error @+1 {{reads operand #1, the sum of a product that may still run; expected the result of a wait for it}}
    tt.store %p, %w : !ptrs
    scf.yield %w : !sum
  }
  tt.return
}
}

// RUN: tile-opt %s -cse -triton-loop-aware-cse -canonicalize | filecheck %s

// Waits count the products that run on. None of these may go, or become one
// with another: a wait that leaves the last one under way would be about
// another product.

#A = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
!b = !ttg.memdesc<64x64xf16, #A, #smem, mutable>
!d = tensor<64x64xf32, #mma>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @async
  tt.func @async(%a: !b, %c: !d) -> !d {
    // CHECK: %[[D:.*]] = ttnvgpu.warp_group_dot
    %0 = ttnvgpu.warp_group_dot %a, %a, %c {inputPrecision = 0 : i32, isAsync = true} : !b * !b -> !d
    // CHECK-NEXT: ttnvgpu.warp_group_dot
    %1 = ttnvgpu.warp_group_dot %a, %a, %c {inputPrecision = 0 : i32, isAsync = true} : !b * !b -> !d
    // CHECK-NEXT: ttnvgpu.warp_group_dot_wait %[[D]] {pendings = 1 : i32}
    %2 = ttnvgpu.warp_group_dot_wait %0 {pendings = 1 : i32} : !d
    tt.return %2 : !d
  }

  // What is waited for at once, nobody counts.
  // CHECK-LABEL: @sync
  tt.func @sync(%a: !b, %c: !d) -> !d {
    // CHECK-NEXT: %[[D:.*]] = ttnvgpu.warp_group_dot
    %0 = ttnvgpu.warp_group_dot %a, %a, %c {inputPrecision = 0 : i32} : !b * !b -> !d
    %1 = ttnvgpu.warp_group_dot %a, %a, %c {inputPrecision = 0 : i32} : !b * !b -> !d
    // CHECK-NEXT: tt.return %[[D]]
    tt.return %1 : !d
  }
}

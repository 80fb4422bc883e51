// RUN: tile-opt %s -tritonamdgpu-sink-layout-conversions | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
#few = #ttg.slice<{dim = 1, parent = #blocked}>
#fewer = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // In front of what uses it, be that in a loop's body.
  // CHECK-LABEL: @past_a_loop
  // CHECK: scf.for
  // CHECK: }
  // CHECK: %[[X:.*]] = ttg.convert_layout %arg0
  // CHECK-NEXT: %[[Y:.*]] = ttg.convert_layout %arg1
  // CHECK-NEXT: arith.addf %[[X]], %[[Y]]
  tt.func @past_a_loop(%x: tensor<64x64xf32, #blocked>, %y: tensor<64x64xf32, #blocked>, %p: !tt.ptr<i32>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.convert_layout %x : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #mma>
    %b = ttg.convert_layout %y : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #mma>
    scf.for %i = %c0 to %n step %c1  : i32 {
      tt.store %p, %i : !tt.ptr<i32>
    }
    %d = arith.addf %a, %b : tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // The result takes one register in place of several.
  // CHECK-LABEL: @smaller
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: tt.store
  tt.func @smaller(%x: tensor<256xf32, #few>, %p: !tt.ptr<i32>, %n: i32) -> tensor<256xf32, #fewer> {
    %a = ttg.convert_layout %x : tensor<256xf32, #few> -> tensor<256xf32, #fewer>
    tt.store %p, %n : !tt.ptr<i32>
    %d = arith.addf %a, %a : tensor<256xf32, #fewer>
    tt.return %d : tensor<256xf32, #fewer>
  }
}

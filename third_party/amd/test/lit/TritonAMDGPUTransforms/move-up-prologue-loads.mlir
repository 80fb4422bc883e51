// RUN: tile-opt %s -tritonamdgpu-move-up-prologue-loads | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // With the addresses, and in their order.
  // CHECK-LABEL: @before_lds
  // CHECK-NEXT: %[[AT:.*]] = tt.addptr %arg1
  // CHECK-NEXT: tt.load %[[AT]]
  // CHECK-NEXT: tt.load %arg2
  // CHECK-NEXT: ttg.local_alloc %arg0
  tt.func @before_lds(%q: tensor<64x64xf16, #blocked>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %r: tensor<64x64x!tt.ptr<f16>, #blocked>, %o: tensor<64x64xi32, #blocked>, %z: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %m = ttg.local_alloc %q : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %x = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
    %at = tt.addptr %p, %o : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %k = tt.load %at : tensor<64x64x!tt.ptr<f16>, #blocked>
    %l = tt.load %r : tensor<64x64x!tt.ptr<f16>, #blocked>
    %kl = arith.addf %k, %l : tensor<64x64xf16, #blocked>
    %y = ttg.convert_layout %kl : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> (tensor<64x64xf32, #mma>)  : i32 {
      %d = tt.dot %x, %y, %sum : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %s : tensor<64x64xf32, #mma>
  }

  // Not before what may write it.
  // CHECK-LABEL: @behind_a_store
  // CHECK: tt.store
  // CHECK-NEXT: tt.load
  tt.func @behind_a_store(%q: tensor<64x64xf16, #blocked>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %z: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %m = ttg.local_alloc %q : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %x = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
    tt.store %p, %q : tensor<64x64x!tt.ptr<f16>, #blocked>
    %k = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
    %y = ttg.convert_layout %k : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> (tensor<64x64xf32, #mma>)  : i32 {
      %d = tt.dot %x, %y, %sum : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %s : tensor<64x64xf32, #mma>
  }
}

// RUN: tile-opt %s -tritonamdgpu-fence-products | filecheck %s

#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // One fence for all writes, behind the last product.
  // CHECK-LABEL: @writes_behind
  // CHECK: tt.dot
  // CHECK-NOT: rocdl.sched.barrier
  // CHECK: tt.dot
  // CHECK-NEXT: rocdl.sched.barrier 0
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.local_store
  tt.func public @writes_behind(%q: tensor<128x64xf16, #a>, %k: tensor<64x64xf16, #b>, %zero: tensor<128x64xf32, #mma>, %next: tensor<64x64xf16, #blocked>, %buffer: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %n: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %d = tt.dot %q, %k, %c : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      %e = tt.dot %q, %k, %d : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      ttg.local_store %next, %buffer : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttg.local_store %next, %buffer : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      scf.yield %e : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }

  // Phases that end with a product have fences of their own.
  // CHECK-LABEL: @writes_between
  // CHECK-NOT: rocdl.sched.barrier
  // CHECK: tt.return
  tt.func public @writes_between(%q: tensor<128x64xf16, #a>, %k: tensor<64x64xf16, #b>, %zero: tensor<128x64xf32, #mma>, %next: tensor<64x64xf16, #blocked>, %buffer: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %n: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %d = tt.dot %q, %k, %c : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      ttg.local_store %next, %buffer : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %e = tt.dot %q, %k, %d : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #mma>
      scf.yield %e : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}

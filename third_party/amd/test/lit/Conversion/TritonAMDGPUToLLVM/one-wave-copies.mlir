// RUN: tile-opt %s -split-input-file -tile-amd-llir | filecheck %s

// A program of one wave has no barriers that wait for its accesses to LDS, which what the machine
// copies may overtake.
// CHECK-LABEL: @store
// CHECK: llvm.store
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.wait.dscnt"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.tensor.store.from.lds
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.wait.dscnt"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.tensor.load.to.lds
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @store(%p: !tt.ptr<f16>, %m: i32, %s: i64, %i: i32) {
    %v = arith.constant dense<1.0> : tensor<64x32xf16, #blocked>
    %one = arith.constant 1 : i64
    %true = arith.constant true
    %d = tt.make_tensor_descriptor %p, [%m, %m], [%s, %one] : <f16>, <tensor<64x32xf16, #shared>>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    ttg.local_store %v, %b : tensor<64x32xf16, #blocked> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    amdg.async_tdm_copy_local_to_global %d[%i, %i] from %b : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<64x32xf16, #shared>>
    %w = amdg.async_tdm_wait {num = 0 : i32}
    %t = amdg.async_tdm_copy_global_to_local %d[%i, %i] into %b, %true : !tt.tensordesc<tensor<64x32xf16, #shared>> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    tt.return
  }
}

// -----

// The same of loads into LDS, of lanes and of waves.
// CHECK-LABEL: @lanes
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.wait.dscnt"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.global.load.async.to.lds.b128"
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @lanes(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !ttg.memdesc<256xf16, #shared, #smem, mutable>) {
    %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #blocked>
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #blocked>
    %a = tt.addptr %q, %r : tensor<256x!tt.ptr<f16>, #blocked>, tensor<256xi32, #blocked>
    %t = ttg.async_copy_global_to_local %a, %b : tensor<256x!tt.ptr<f16>, #blocked> -> <256xf16, #shared, #smem, mutable>
    tt.return
  }
}

// -----

// CHECK-LABEL: @wave
// CHECK: %[[LGKM:.*]] = llvm.mlir.constant(49279 : i32)
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"(%[[LGKM]])
// CHECK: llvm.call_intrinsic "llvm.amdgcn.global.load.lds"
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @wave(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !ttg.memdesc<512xf16, #shared, #smem, mutable>) {
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #blocked>
    %q = tt.splat %p : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #blocked>
    %a = tt.addptr %q, %r : tensor<512x!tt.ptr<f16>, #blocked>, tensor<512xi32, #blocked>
    %t = ttg.async_copy_global_to_local %a, %b : tensor<512x!tt.ptr<f16>, #blocked> -> <512xf16, #shared, #smem, mutable>
    tt.return
  }
}

// RUN: tile-opt %s -tile-amd-llir | filecheck %s

// On gfx1250 each lane says where it writes, so that rows may be swizzled; where the mask is false, it
// writes zeros. The copies have a counter of their own.
// CHECK-LABEL: @swizzled
// CHECK-NOT: llvm.amdgcn.readfirstlane
// CHECK: llvm.call_intrinsic "llvm.amdgcn.global.load.async.to.lds.b128"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32) -> ()
// CHECK: llvm.store %{{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.wait.asynccnt"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.barrier"

// What is narrower than a word, but for bytes, and values for what is masked off take registers.
// CHECK-LABEL: @narrow
// CHECK-NOT: load.async
// CHECK: llvm.store
// CHECK-LABEL: @bytes
// CHECK: llvm.call_intrinsic "llvm.amdgcn.global.load.async.to.lds.b8"
// CHECK-LABEL: @others
// CHECK-NOT: load.async
// CHECK: llvm.store
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
#phases = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @swizzled(%p: tensor<64x64x!tt.ptr<f16>, #rows> {tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %yes: i1) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #phases, #smem, mutable>
    %mask = tt.splat %yes : i1 -> tensor<64x64xi1, #rows>
    %t = ttg.async_copy_global_to_local %p, %m mask %mask : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #phases, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    tt.return
  }
  tt.func public @narrow(%p: tensor<64x!tt.ptr<f16>, #blocked>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %m : tensor<64x!tt.ptr<f16>, #blocked> -> <64xf16, #shared, #smem, mutable>
    tt.return
  }
  tt.func public @bytes(%p: tensor<64x!tt.ptr<i8>, #blocked>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64xi8, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %m : tensor<64x!tt.ptr<i8>, #blocked> -> <64xi8, #shared, #smem, mutable>
    tt.return
  }
  tt.func public @others(%p: tensor<64x!tt.ptr<f32>, #blocked>, %mask: tensor<64xi1, #blocked>) {
    %ones = arith.constant dense<1.0> : tensor<64xf32, #blocked>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %m mask %mask other %ones : tensor<64x!tt.ptr<f32>, #blocked> -> <64xf32, #shared, #smem, mutable>
    tt.return
  }
}

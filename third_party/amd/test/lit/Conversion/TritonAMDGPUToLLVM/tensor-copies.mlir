// RUN: tile-opt %s -split-input-file -tile-amd-llir | filecheck %s

// Four waves copy 16 rows each: of 32 elements of 2 bytes, with gaps of 4 words
// after 64 (0x7510000).
// CHECK-LABEL: @load
// CHECK-DAG: %[[SHAPE:.*]] = llvm.mlir.constant(122748928 : i32) : i32
// CHECK-DAG: %[[ROWS:.*]] = llvm.mlir.constant(16 : i32) : i32
// CHECK-DAG: llvm.call_intrinsic "llvm.amdgcn.readfirstlane"(%[[SHAPE]])
// CHECK-DAG: llvm.call_intrinsic "llvm.amdgcn.readfirstlane"(%[[ROWS]])
// CHECK: llvm.call_intrinsic "llvm.amdgcn.tensor.load.to.lds.d2"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<4xi32>, vector<8xi32>, i32) -> ()
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.wait.tensorcnt"
// CHECK-LABEL: @store
// CHECK: llvm.call_intrinsic "llvm.amdgcn.tensor.store.from.lds"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (vector<4xi32>, vector<8xi32>, vector<4xi32>, vector<4xi32>, i32) -> ()
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.wait.tensorcnt"
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#cube = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [2, 1, 0]}>
#padded = #ttg.padded_shared<[128:+8] {order = [1, 0], shape = [64, 32]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @load(%p: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64, %i: i32, %j: i32) {
    %one = arith.constant 1 : i64
    %yes = arith.constant true
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f16>, <tensor<64x32xf16, #plain>>
    %x = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #padded, #smem, mutable>
    %t = amdg.async_tdm_copy_global_to_local %d[%i, %j] into %x, %yes : !tt.tensordesc<tensor<64x32xf16, #plain>> -> !ttg.memdesc<64x32xf16, #padded, #smem, mutable>
    %w = amdg.async_tdm_wait %t {num = 0 : i32}
    tt.return
  }
  tt.func public @store(%p: !tt.ptr<i8>, %m: i32, %s: i64, %i: i32) {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%m, %m, %m], [%s, %s, %one] : <i8>, <tensor<2x4x64xi8, #cube>>
    %x = ttg.local_alloc : () -> !ttg.memdesc<2x4x64xi8, #cube, #smem, mutable>
    amdg.async_tdm_copy_local_to_global %d[%i, %i, %i] from %x : !ttg.memdesc<2x4x64xi8, #cube, #smem, mutable> -> !tt.tensordesc<tensor<2x4x64xi8, #cube>>
    %w = amdg.async_tdm_intrinsic_wait {count = 0 : i32}
    tt.return
  }
}

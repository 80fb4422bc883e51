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
// Updates of a descriptor add up, and the last predicate counts. Rows that are stored with a gap of 8
// elements are 40 elements wide (2621440 = 40 << 16), of which the tensor has at most 32.
// CHECK-LABEL: @updated
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i64, %[[I:[a-z0-9]+]]: i32, %[[P:[a-z0-9]+]]: i32, %[[Q:[a-z0-9]+]]: i32
// CHECK: llvm.mlir.constant(2621440 : i32)
// CHECK: llvm.icmp "ne" %[[Q]]
// CHECK-NOT: %[[P]]
// CHECK: llvm.add %[[I]], %[[I]]
// CHECK: llvm.call_intrinsic "llvm.amdgcn.tensor.load.to.lds.d2"
// CHECK: llvm.intr.smin
// CHECK: llvm.call_intrinsic "llvm.amdgcn.tensor.store.from.lds.d2"
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#cube = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [2, 1, 0]}>
#padded = #ttg.padded_shared<[128:+8] {order = [1, 0], shape = [64, 32]}>
#rows = #ttg.padded_shared<[32:+8] {order = [1, 0], shape = [64, 32]}>
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
  tt.func public @updated(%p: !tt.ptr<f16>, %n: i32, %s: i64, %i: i32, %first: i32, %last: i32) {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <tensor<64x32xf16, #plain>>
    %x = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #rows, #smem, mutable>
    %e = amdg.update_tensor_descriptor %d add_offsets = [%i, %i] pred = %first {clamp_bounds} : !tt.tensordesc<tensor<64x32xf16, #plain>>
    %f = amdg.update_tensor_descriptor %e add_offsets = [%i, %i] pred = %last {clamp_bounds} : !tt.tensordesc<tensor<64x32xf16, #plain>>
    %t = amdg.async_tdm_copy_global_to_local %f into %x : !tt.tensordesc<tensor<64x32xf16, #plain>> -> !ttg.memdesc<64x32xf16, #rows, #smem, mutable>
    %u = amdg.async_tdm_copy_local_to_global %d[%i, %i] from %x : !ttg.memdesc<64x32xf16, #rows, #smem, mutable> -> !tt.tensordesc<tensor<64x32xf16, #plain>>
    tt.return
  }
}

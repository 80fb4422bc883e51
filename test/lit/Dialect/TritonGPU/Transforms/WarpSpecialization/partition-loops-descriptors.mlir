// RUN: tile-opt %s -tritongpu-partition-loops -canonicalize | filecheck %s

// A descriptor of each tile. Before the producer makes it again, all of its
// copies are done: it waits for the two buffers that may be filled just then.

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @tiles
  // CHECK: default {
  // CHECK: partition0({{.*}}) num_warps(1) {
  // CHECK: scf.for {{.*}} iter_args(%[[STAGE:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}})
  // CHECK: %[[BEFORE:.*]] = arith.xori %[[PHASE]]
  // CHECK: %[[FIRST:.*]] = ttg.memdesc_index %[[FULL:.*]][%[[STAGE]]]
  // CHECK: ttnvgpu.wait_barrier %[[FIRST]], %[[BEFORE]]
  // CHECK: %[[SECOND:.*]] = ttg.memdesc_index %[[FULL]][
  // CHECK: ttnvgpu.wait_barrier %[[SECOND]]
  // CHECK-NOT: ttnvgpu.wait_barrier
  // CHECK: tt.make_tensor_descriptor
  // CHECK: scf.for
  // CHECK: ttnvgpu.wait_barrier
  // CHECK: ttnvgpu.async_tma_copy_global_to_local
  tt.func @tiles(%p: !tt.ptr<f16>, %out: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %s: i64) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c1_i64 = arith.constant 1 : i64
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    scf.for %t = %c0 to %n step %c1 : i32 {
      %at = tt.addptr %p, %t : !tt.ptr<f16>, i32
      %desc = tt.make_tensor_descriptor %at, [%n, %n], [%s, %c1_i64] : <f16>, <tensor<64x64xf16, #shared>>
      %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf16, #blocked>) : i32 {
        %x = tt.descriptor_load %desc[%c0, %k] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
        %next = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
        scf.yield %next : tensor<64x64xf16, #blocked>
      } {tt.num_stages = 2 : i32}
      tt.store %out, %sum : tensor<64x64x!tt.ptr<f16>, #blocked>
    } {tt.warp_specialize}
    tt.return
  }
}

//===-- AsyncStoreOps.td - Stores that arrive at barriers --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_ASYNCSTOREOPS_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_ASYNCSTOREOPS_TD

include "tile/Dialect/Triton/IR/TritonTypes.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUOpBase.td"

def TTNG_AsyncSharedStoreOp : TTNG_Op<"async_shared_store", [
    TTG_AsyncCopy<["arrivesAtBarrier"]>, TTG_BarrierUserOpInterface]> {
  let summary = "Write a tensor to shared memory in the background";
  let description = [{
    Writes `value` over all of `dst`, which may be in other blocks of the cluster.
    The bytes count towards the current phase of `barrier` in the block that they
    come to, which a `barrier_expect` announced them to. The conversion to LLVM
    refuses it in programs without a cluster: GPUs stop at the instruction there.

    Example:

    ```mlir
    ttnvgpu.async_shared_store %v, %dst, %bar : tensor<128xi32, #blocked> -> !ttg.memdesc<128xi32, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "destination", [MemWrite<TTNG_SharedMemory>]>:$dst,
    TT_Tensor:$value,
    Arg<TTNG_MemDesc, "barrier",
        [MemRead<TTNG_SharedMemory>, MemWrite<TTNG_SharedMemory>]>:$barrier);
  let assemblyFormat = [{
    $value `,` $dst `,` $barrier attr-dict `:` type($value) `->`
    qualified(type($dst)) `,` qualified(type($barrier))
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_ASYNCSTOREOPS_TD

//===-- ClusterLaunchOps.td - Taking over other blocks -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_CLUSTERLAUNCHOPS_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_CLUSTERLAUNCHOPS_TD

include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUOpBase.td"

//===----------------------------------------------------------------------===//
// Cluster launch control: a running cluster asks the hardware for the work of a
// cluster that has not started yet. The answer is 16 opaque bytes.
//===----------------------------------------------------------------------===//

def TTNG_CLCTryCancelOp : TTNG_Op<"clc_try_cancel"> {
  let summary = "Ask for the work of a cluster that has not started";
  let description = [{
    Asks the hardware not to start one of the waiting clusters. The answer is
    written to `result`, 16 bytes of shared memory, asynchronously: the barrier
    learns of it as of a copy of that many bytes. The blocks of a cluster ask once,
    and every block gets the answer, at the same place, as `result` says. So
    `multicast` changes nothing. It is there for text that has it.

    Example:

    ```mlir
    ttnvgpu.clc_try_cancel %answer, %bar {multicast} : !ttg.memdesc<2xi64, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "result", [MemWrite<TTNG_SharedMemory>]>:$result,
    Arg<TTNG_MemDesc, "barrier",
        [MemRead<TTNG_SharedMemory>, MemWrite<TTNG_SharedMemory>]>:$mbarrier,
    UnitAttr:$multicast);
  let assemblyFormat = [{
    $result `,` $mbarrier attr-dict
    `:` qualified(type($result)) `,` qualified(type($mbarrier))
  }];
  let hasVerifier = 1;
}

def TTNG_CLCTryCancelSyncOp : TTNG_Op<"clc_try_cancel_sync"> {
  let summary = "Ask for the work of a cluster that has not started, and get the answer";
  let description = [{
    The answer as a tensor, as if it were there at once. A loop asks at its start, and
    puts the answer into a buffer, which it reads at its end.
    `triton-nvidia-gpu-lower-clc` makes a `clc_try_cancel` and a wait of it.

    Example:

    ```mlir
    %answer = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, #linear>
    ```
  }];
  let results = (outs TTNG_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TTNG_CLCLoadResultOp : TTNG_Op<"clc_load_result"> {
  let summary = "Read the answer to clc_try_cancel";
  let description = [{
    Example:

    ```mlir
    %answer = ttnvgpu.clc_load_result %buf : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> i128
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "source", [MemRead<TTNG_SharedMemory>]>:$src);
  let results = (outs I128:$result);
  let assemblyFormat = [{
    $src attr-dict `:` qualified(type($src)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TTNG_CLCIsCanceledOp : TTNG_Op<"clc_is_canceled", [Pure]> {
  let summary = "Whether there was a cluster to take over";
  let description = [{
    Example:

    ```mlir
    %taken = ttnvgpu.clc_is_canceled %answer : i128 -> i1
    ```
  }];
  let arguments = (ins I128:$clc_result);
  let results = (outs I1:$result);
  let assemblyFormat =
    "$clc_result attr-dict `:` type($clc_result) `->` type($result)";
}

def TTNG_CLCGetProgramIdOp : TTNG_Op<"clc_get_program_id", [Pure]> {
  let summary = "The program that the cancelled cluster would have been";
  let description = [{
    The index, along `dim`, of the first block of the cluster. It means nothing
    unless `clc_is_canceled` holds.

    Example:

    ```mlir
    %pid = ttnvgpu.clc_get_program_id %answer, x : i128 -> i32
    ```
  }];
  let arguments = (ins I128:$clc_result, TT_ProgramIDDimAttr:$dim);
  let results = (outs I32:$result);
  let assemblyFormat = [{
    $clc_result `,` $dim attr-dict `:` type($clc_result) `->` type($result)
  }];
}

def TTNG_CLCProgramIdOp : TTNG_Op<"clc_program_id", [
    Pure, DeclareOpInterfaceMethods<InferIntRangeInterface,
                                    ["inferResultRanges"]>]> {
  let summary = "The program that an iteration of a loop over programs runs";
  let description = [{
    A loop over programs (`ttnvgpu.over_programs`) runs one program in each
    iteration. This is the number of that program along `dim`. The number of the
    iteration stands for it: nobody knows it before the hardware has answered.
    `triton-nvidia-gpu-to-clc` puts the answers in its place.

    Example:

    ```mlir
    %pid = ttnvgpu.clc_program_id %i, x : i32
    ```
  }];
  let arguments = (ins I32:$iteration, TT_ProgramIDDimAttr:$dim);
  let results = (outs I32:$result);
  let assemblyFormat = "$iteration `,` $dim attr-dict `:` type($result)";
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_CLUSTERLAUNCHOPS_TD

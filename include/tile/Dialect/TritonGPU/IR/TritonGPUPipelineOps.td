//===-- TritonGPUPipelineOps.td - Pipelining ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_PIPELINEOPS_TD
#define TILE_TRITONGPU_PIPELINEOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

def TTG_PredicateStageOp : TTG_Op<"predicate_stage", [
    Pure, AllTypesMatch<["iv", "ub", "step"]>]> {
  let summary = "whether a stage of a pipelined loop has work";
  let description = [{
    True where stage `stage` of a loop pipelined into stages 0 to `maxStage`
    still works on an iteration of the original loop:
    `iv < ub - step * (maxStage - stage)`.

    Example:

    ```mlir
    %p = ttg.predicate_stage %iv, %ub, %step maxStage 2 stage 0 : i32 -> i1
    ```
  }];
  let arguments = (ins
    SignlessIntegerLike:$iv,
    SignlessIntegerLike:$ub,
    SignlessIntegerLike:$step,
    I32Attr:$maxStage,
    I32Attr:$stage
  );
  let results = (outs I1:$result);
  let assemblyFormat = [{
    $iv `,` $ub `,` $step `maxStage` $maxStage `stage` $stage attr-dict `:`
    type($iv) `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TTG_MaskOp : TTG_Op<"mask", [
    SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "operations under a predicate";
  let description = [{
    The effects of the operations in the region happen only where `pred` is
    true; the results are unspecified where it is false. The pipeliner uses it
    for operations that it cannot predicate directly, and a later step turns it
    into predicated operations or a branch.

    Example:

    ```mlir
    %0 = ttg.mask %p {
      %1 = arith.constant 1 : i32
      ttg.mask.return %1 : i32
    } : i32
    ```
  }];
  let arguments = (ins I1:$pred);
  let results = (outs Variadic<AnyType>:$result);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def TTG_MaskReturnOp : TTG_Op<"mask.return", [
    HasParent<"MaskOp">, Pure, Terminator, ReturnLike]> {
  let summary = "end of a ttg.mask region";
  let description = [{
    Gives the results of the enclosing `ttg.mask`.

    Example:

    ```mlir
    ttg.mask.return %1 : i32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "($result^ `:` type($result))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* no results */ }]>];
}

#endif // TILE_TRITONGPU_PIPELINEOPS_TD

//===-- MMAOps.td - wgmma and tcgen05 multiplications ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_MMAOPS_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_MMAOPS_TD

include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUOpBase.td"

//===----------------------------------------------------------------------===//
// Warp-group multiplication (wgmma)
//===----------------------------------------------------------------------===//

def TTNG_WarpGroupDotOp : TTNG_Op<"warp_group_dot", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"the result has the type of the accumulator",
                   "d", "c", "$_self">,
    TT_MatrixProduct<["canOverwriteAccumulator", "getUseAccumulator",
                        "setUseAccumulator", "isAsync", "setAsync",
                        "canWaitInOrder", "createWait", "isWaitedInOrder",
                        "finishesForAllWarps"]>]> {
  let summary = "Multiply matrices with a warp group: d = a * b + c";
  let description = [{
    `b` is in shared memory, `a` in shared memory or in registers, `c` and `d` are
    in registers with an `nvidia_mma` layout of version 3. Where `useC` is given
    and false, the dot alone is the result.

    With `isAsync` the operation returns before the multiplication is done: neither
    the result may be read nor the buffers written before a `warp_group_dot_wait`.
    `maxNumImpreciseAcc` bounds how many multiplied fp8 are added at the reduced
    precision of the tensor core. 0 asks for full precision after each instruction.

    Example:

    ```mlir
    %d = ttnvgpu.warp_group_dot %a, %b, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<128x32xf16, #shared, #smem, mutable> * !ttg.memdesc<32x128xf16, #shared1, #smem, mutable> -> tensor<128x128xf32, #mma>
    %e = ttnvgpu.warp_group_dot %a, %b, %c, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<128x32xf16, #shared, #smem> * !ttg.memdesc<32x128xf16, #shared1, #smem> -> tensor<128x128xf32, #mma>
    ```
  }];
  let arguments = (ins
    TTNG_TensorOrMemDesc:$a,
    TTNG_MemDesc:$b,
    TTNG_Tensor:$c,
    Optional<I1>:$useC,
    DefaultValuedAttr<TT_InputPrecisionAttr,
                      "::mlir::triton::InputPrecision::IEEE">:$inputPrecision,
    DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>,
                      "0">:$maxNumImpreciseAcc,
    DefaultValuedAttr<BoolAttr, "false">:$isAsync);
  let results = (outs TTNG_Tensor:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` $useC^)? attr-dict
    `:` type($a) `*` qualified(type($b)) `->` type($d)
  }];
  let extraClassDeclaration = [{
    /// Whether products have to be added up in full precision outside of the
    /// tensor core from time to time.
    bool needsPartialAccumulator();
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TTNG_WarpGroupDotWaitOp : TTNG_Op<"warp_group_dot_wait", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<TT_MatrixProductWaitOpInterface>]> {
  let summary = "Wait for asynchronous warp-group multiplications";
  let description = [{
    Waits until at most `pendings` (0 to 7) of the issued multiplications are
    unfinished. The inputs are handed on: results of multiplications become readable, and
    buffers listed here are known to be in use until this point.

    Example:

    ```mlir
    %0:2 = ttnvgpu.warp_group_dot_wait %d, %a {pendings = 1 : i32} : tensor<128x128xf32, #mma>, !ttg.memdesc<128x32xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Variadic<TTNG_TensorOrMemDesc>:$inputs,
    ConfinedAttr<I32Attr, [IntNonNegative]>:$pendings);
  let results = (outs Variadic<TTNG_TensorOrMemDesc>:$outputs);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fifth-generation tensor core (tcgen05)
//===----------------------------------------------------------------------===//

class TTNG_MMAv5Traits<list<string> productMethods = []> {
  list<Trait> traits = [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TT_MatrixProduct<!listconcat(productMethods,
        ["canOverwriteAccumulator", "getUseAccumulator", "setUseAccumulator",
         "isAsync", "setAsync", "getCompletionBarriers"])>,
    DeclareOpInterfaceMethods<TTNG_MMAv5OpInterface>,
    TTG_BarrierUserOpInterface
  ];
}

def TTNG_TCGen5MMAOp : TTNG_Op<"tc_gen5_mma", TTNG_MMAv5Traits<>.traits> {
  let summary = "Multiply matrices into tensor memory: d = a * b (+ d)";
  let description = [{
    `a` is in shared or tensor memory, `b` in shared memory, the accumulator `d` in
    tensor memory. Where `useD` is false the accumulator is overwritten. Nothing at
    all happens where `pred` is false, arrival at barriers included.

    With `is_async` the operation returns at once and arrives at each barrier whose
    predicate holds when the multiplication is done. `two_ctas` lets two blocks of a
    cluster multiply together, each holding half of the operands. With `multicast`
    the barriers of all blocks hear of it that share an operand with this one.

    Elements of type `i8` have a sign. With `is_unsigned` they are from 0 to 255 in
    both operands, with `a_is_unsigned` or `b_is_unsigned` in one of them.

    A token, where there is one, orders accesses of the accumulator: the operand in
    brackets after `d` is the token of the access before this one.

    Example:

    ```mlir
    ttnvgpu.tc_gen5_mma %a, %b, %d, %useD, %pred, %bar[%barPred] {is_async} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x128xf16, #shared, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %1 = ttnvgpu.tc_gen5_mma %a, %b, %d[%0], %useD, %pred : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x128xf16, #shared, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ```
  }];
  let arguments = (ins
    TTNG_MemDesc:$a,
    TTNG_MemDesc:$b,
    TTNG_MemDesc:$d,
    Optional<TTNG_Token>:$acc_dep,
    I1:$useD,
    I1:$pred,
    Variadic<TTNG_MemDesc>:$barriers,
    Variadic<I1>:$barrier_preds,
    UnitAttr:$is_async,
    UnitAttr:$two_ctas,
    UnitAttr:$multicast,
    UnitAttr:$is_unsigned,
    UnitAttr:$a_is_unsigned,
    UnitAttr:$b_is_unsigned);
  let results = (outs Optional<TTNG_Token>:$token);
  let assemblyFormat = [{
    $a `,` $b `,` $d `` custom<Token>($acc_dep, type($token)) `,` $useD `,` $pred
    `` custom<BarriersAndPreds>($barriers, $barrier_preds) attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($d))
    (`,` qualified(type($barriers))^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$token, "::mlir::Value":$a,
                   "::mlir::Value":$b, "::mlir::Value":$d,
                   "::mlir::Value":$accDep, "::mlir::Value":$useD,
                   "::mlir::Value":$pred, CArg<"bool", "false">:$isAsync,
                   CArg<"bool", "false">:$twoCTAs,
                   CArg<"::mlir::ValueRange", "{}">:$barriers,
                   CArg<"::mlir::ValueRange", "{}">:$barrierPreds)>
  ];
  let skipDefaultBuilders = 1;
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TTNG_TCGen5MMAScaledOp : TTNG_Op<"tc_gen5_mma_scaled",
    TTNG_MMAv5Traits<["getFactors"]>.traits> {
  let summary = "Multiply block-scaled matrices into tensor memory";
  let description = [{
    As `tc_gen5_mma`, with one scale for each block of elements along K: the scales
    are in tensor memory. `lhs` and `rhs` name the element formats; `e2m1` elements
    are packed two to an `i8`, along K.

    Example:

    ```mlir
    ttnvgpu.tc_gen5_mma_scaled %a, %b, %d, %aScale, %bScale, %useD, %pred lhs = e4m3 rhs = e4m3 : !ttg.memdesc<128x128xf8E4M3FN, #shared, #smem>, !ttg.memdesc<128x128xf8E4M3FN, #shared, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>, !ttg.memdesc<128x4xi8, #scales, #ttnvgpu.tensor_memory>
    ```
  }];
  let arguments = (ins
    TTNG_MemDesc:$a,
    TTNG_MemDesc:$b,
    TTNG_MemDesc:$d,
    Optional<TTNG_Token>:$acc_dep,
    TTNG_MemDesc:$a_scale,
    TTNG_MemDesc:$b_scale,
    TT_ScaleDotElemTypeAttr:$a_type,
    TT_ScaleDotElemTypeAttr:$b_type,
    I1:$useD,
    I1:$pred,
    Variadic<TTNG_MemDesc>:$barriers,
    Variadic<I1>:$barrier_preds,
    UnitAttr:$is_async,
    UnitAttr:$two_ctas,
    UnitAttr:$multicast);
  let results = (outs Optional<TTNG_Token>:$token);
  let assemblyFormat = [{
    $a `,` $b `,` $d `` custom<Token>($acc_dep, type($token)) `,` $a_scale `,`
    $b_scale `,` $useD `,` $pred `lhs` `=` $a_type `rhs` `=` $b_type
    `` custom<BarriersAndPreds>($barriers, $barrier_preds) attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($d)) `,`
    qualified(type($a_scale)) `,` qualified(type($b_scale))
    (`,` qualified(type($barriers))^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$token, "::mlir::Value":$a,
                   "::mlir::Value":$b, "::mlir::Value":$d,
                   "::mlir::Value":$accDep, "::mlir::Value":$aScale,
                   "::mlir::Value":$bScale,
                   "::mlir::triton::ScaleDotElemType":$aType,
                   "::mlir::triton::ScaleDotElemType":$bType,
                   "::mlir::Value":$useD, "::mlir::Value":$pred,
                   CArg<"bool", "false">:$isAsync,
                   CArg<"bool", "false">:$twoCTAs,
                   CArg<"::mlir::ValueRange", "{}">:$barriers,
                   CArg<"::mlir::ValueRange", "{}">:$barrierPreds)>
  ];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// M, N and K of the multiplication, in elements of the formats (a packed
    /// `e2m1` pair counts as two).
    int64_t getBlockM();
    int64_t getBlockN();
    int64_t getBlockK();
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TTNG_TCGen5CommitOp : TTNG_Op<"tc_gen5_commit", [
    AttrSizedOperandSegments, TTG_NativeOpTrait<"ArrivesAfterTensorCores">,
    TTG_BarrierUserOpInterface, TTG_PredicatedOpInterface]> {
  let summary = "Arrive at a barrier when all multiplications so far are done";
  let description = [{
    Once every `tc_gen5_mma`, `tc_gen5_mma_scaled` and `tmem_copy` issued before is
    done, arrives at the barrier; with `two_ctas` at that of both blocks. `descs` are
    operands: the barriers of all blocks that share one with this block hear of it.
    Nothing happens where `pred` is given and false.

    Example:

    ```mlir
    ttnvgpu.tc_gen5_commit %bar : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttnvgpu.tc_gen5_commit %bar, %pred descs %a : !ttg.memdesc<1xi64, #shared, #smem, mutable>, !ttg.memdesc<128x64xf16, #shared1, #smem>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "barrier",
        [MemRead<TTNG_SharedMemory>, MemWrite<TTNG_SharedMemory>]>:$barrier,
    Optional<I1>:$pred,
    Variadic<TTNG_MemDesc>:$descs,
    UnitAttr:$two_ctas);
  let assemblyFormat = [{
    $barrier (`,` $pred^)? (`descs` $descs^)? attr-dict
    `:` qualified(type($barrier)) (`,` qualified(type($descs))^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$barrier,
                   CArg<"::mlir::Value", "{}">:$pred,
                   CArg<"bool", "false">:$twoCTAs), [{
      build($_builder, $_state, barrier, pred, ::mlir::ValueRange(), twoCTAs);
    }]>
  ];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_MMAOPS_TD

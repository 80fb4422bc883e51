//===-- NVWSOps.td - Operations of the nvws dialect --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_NVWS_IR_OPS_TD
#define TILE_DIALECT_NVWS_IR_OPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/NVWS/IR/NVWSDialect.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUTypes.td"

class NVWS_Op<string mnemonic, list<Trait> traits = []>
    : Op<NVWS_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Asynchronous references. They declare no memory effects: an operation of
// unknown effects stays where it is.
//===----------------------------------------------------------------------===//

def NVWS_ArefCreateOp : NVWS_Op<"aref.create", [
    TypesMatchWith<"the reference is to buffers of these types",
                   "result", "buffers",
                   "::llvm::cast<ArefType>($_self).getTypes()">]> {
  let summary = "Make a ring of buffers";
  let description = [{
    Example:

    ```mlir
    %aref = nvws.aref.create %a, %b : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]>
    ```
  }];
  let arguments = (ins Variadic<TTNG_MemDesc>:$buffers);
  let results = (outs NVWS_ArefType:$result);
  let assemblyFormat = "$buffers attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NVWS_ArefDestroyOp : NVWS_Op<"aref.destroy"> {
  let summary = "End the life of a ring";
  let description = [{
    All slots are empty there, or become so. Where tensor cores read them, the end
    waits for that.

    Example:

    ```mlir
    nvws.aref.destroy %aref : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]>
    ```
  }];
  let arguments = (ins NVWS_ArefType:$aref);
  let assemblyFormat = "$aref attr-dict `:` type($aref)";
}

class NVWS_ArefEnterOp<string mnemonic>
    : NVWS_Op<mnemonic, [AttrSizedOperandSegments]> {
  let arguments = (ins NVWS_ArefType:$aref, Optional<I32>:$stage,
                       Optional<I32>:$phase);
  let results = (outs Variadic<TTNG_MemDesc>:$buffers, TTNG_Token:$token);
  let assemblyFormat = [{
    $aref (`[` $stage^ `,` $phase `]`)? attr-dict
    `:` type($aref) `->` custom<BuffersAndToken>(type($buffers), type($token))
  }];
  let hasVerifier = 1;
}

class NVWS_ArefExitOp<string mnemonic> : NVWS_Op<mnemonic> {
  let arguments = (ins NVWS_ArefType:$aref, Optional<I32>:$stage,
                       TTNG_Token:$token, NVWS_AsyncOpArrayAttr:$async_ops);
  let assemblyFormat = [{
    $aref (`[` $stage^ `]`)? `,` $token $async_ops attr-dict
    `:` type($aref) `,` type($token)
  }];
}

def NVWS_ArefPutEnterOp : NVWS_ArefEnterOp<"aref.put.enter"> {
  let summary = "Wait for an empty slot, to fill it";
  let description = [{
    Example:

    ```mlir
    %buf, %token = nvws.aref.put.enter %aref[%stage, %phase] : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, !ttg.async.token
    ```
  }];
}

def NVWS_ArefPutExitOp : NVWS_ArefExitOp<"aref.put.exit"> {
  let summary = "Say that a slot is full";
  let description = [{
    It is full once the asynchronous operations of these kinds are done.

    Example:

    ```mlir
    nvws.aref.put.exit %aref[%stage], %token [#nvws.async_op<tma_load>] : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]>, !ttg.async.token
    ```
  }];
}

def NVWS_ArefGetEnterOp : NVWS_ArefEnterOp<"aref.get.enter"> {
  let summary = "Wait for a full slot, to read it";
  let description = [{
    Example:

    ```mlir
    %buf, %token = nvws.aref.get.enter %aref : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]> -> !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.async.token
    ```
  }];
}

def NVWS_ArefGetExitOp : NVWS_ArefExitOp<"aref.get.exit"> {
  let summary = "Say that a slot is empty";
  let description = [{
    It is empty once the asynchronous operations of these kinds have read it.

    Example:

    ```mlir
    nvws.aref.get.exit %aref, %token [#nvws.async_op<tc5mma>] : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]>, !ttg.async.token
    ```
  }];
}

def NVWS_ArefBufferOp : NVWS_Op<"aref.buffer"> {
  let summary = "The buffers of the slot that was entered";
  let description = [{
    Example:

    ```mlir
    %buf = nvws.aref.buffer %aref, %token : <[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]>, !ttg.async.token -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins NVWS_ArefType:$aref, Optional<I32>:$stage,
                       TTNG_Token:$token);
  let results = (outs Variadic<TTNG_MemDesc>:$buffers);
  let assemblyFormat = [{
    $aref (`[` $stage^ `]`)? `,` $token attr-dict
    `:` type($aref) `,` type($token) `->` type($buffers)
  }];
  let hasVerifier = 1;
}

def NVWS_DescriptorLoadOp : NVWS_Op<"descriptor_load"> {
  let summary = "Copy a block of a tensor into the slot that was entered";
  let description = [{
    `txCount` is the number of bytes that the copy announces.

    Example:

    ```mlir
    nvws.descriptor_load %desc[%i, %j] 16384 %buf : !tt.tensordesc<128x64xf16, #shared>, i32, i32, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins TTNG_TensorDesc:$desc, Variadic<I32>:$indices,
                       I32Attr:$txCount, TTNG_MemDesc:$result);
  let assemblyFormat = [{
    $desc `[` $indices `]` $txCount $result attr-dict
    `:` custom<DescriptorLoadTypes>(type($desc), type($indices), type($result))
  }];
}

def NVWS_CLCTryCancelOp : NVWS_Op<"clc_try_cancel"> {
  let summary = "Ask for the work of a cluster, into the slot that was entered";
  let description = [{
    Example:

    ```mlir
    nvws.clc_try_cancel %buf : !ttg.memdesc<2xi64, #shared, #smem, mutable, 2x2>
    ```
  }];
  let arguments = (ins TTNG_MemDesc:$result);
  let assemblyFormat = "$result attr-dict `:` qualified(type($result))";
}

def NVWS_ArefPhiOp : NVWS_Op<"aref.phi", [
    Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "A value that some partitions have from one operation, the rest from another";
  let description = [{
    Each partition in `ttg.partition` has the operand that is in this partition.

    Example:

    ```mlir
    %x = nvws.aref.phi %a, %b {ttg.partition = array<i32: 0, 1>} : i32
    ```
  }];
  let arguments = (ins AnyType:$lhs, AnyType:$rhs);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

def NVWS_TokenTensor : RankedTensorOf<[NVWS_TokenType]>;

def NVWS_CreateTokenOp : NVWS_Op<"create_token"> {
  let summary = "Make a ring of slots";
  let description = [{
    Example:

    ```mlir
    %tokens = nvws.create_token {loadType = 2 : i32, numBuffers = 3 : i32} : tensor<3x!nvws.token>
    ```
  }];
  let arguments = (ins I32Attr:$numBuffers, I32Attr:$loadType);
  let results = (outs NVWS_TokenTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

class NVWS_TokenOp<string mnemonic, dag args> : NVWS_Op<mnemonic> {
  let arguments = args;
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

defvar NVWS_SlotAndPhase = (ins NVWS_TokenTensor:$token, I32:$idx, I1:$phase);
defvar NVWS_Slot = (ins NVWS_TokenTensor:$token, I32:$idx);

def NVWS_ProducerAcquireOp : NVWS_TokenOp<"producer_acquire", NVWS_SlotAndPhase> {
  let summary = "Wait until a slot is empty";
  let description = [{
    Example:

    ```mlir
    nvws.producer_acquire %tokens, %slot, %phase : tensor<3x!nvws.token>, i32, i1
    ```
  }];
}
def NVWS_ProducerCommitOp : NVWS_TokenOp<"producer_commit", NVWS_Slot> {
  let summary = "Say that a slot is full";
  let description = [{
    Example:

    ```mlir
    nvws.producer_commit %tokens, %slot : tensor<3x!nvws.token>, i32
    ```
  }];
}
def NVWS_ConsumerWaitOp : NVWS_TokenOp<"consumer_wait", NVWS_SlotAndPhase> {
  let summary = "Wait until a slot is full";
  let description = [{
    Example:

    ```mlir
    nvws.consumer_wait %tokens, %slot, %phase : tensor<3x!nvws.token>, i32, i1
    ```
  }];
}
def NVWS_ConsumerReleaseOp : NVWS_TokenOp<"consumer_release", NVWS_Slot> {
  let summary = "Say that a slot is empty";
  let description = [{
    Example:

    ```mlir
    nvws.consumer_release %tokens, %slot : tensor<3x!nvws.token>, i32
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

def NVWS_WarpGroupOp : NVWS_Op<"warp_group", [
    RecursiveMemoryEffects, NoRegionArguments]> {
  let summary = "Run partitions of warps side by side";
  let description = [{
    Each region runs on as many warps of its own as `numWarps` says for it. The
    results are what the first one yields.

    Example:

    ```mlir
    %r = nvws.warp_group
    partition0 num_warps(4) {
      nvws.warp_group.yield %x : i32
    }
    partition1 num_warps(8) {
      nvws.warp_group.return
    } -> (i32)
    ```
  }];
  let arguments = (ins DenseI32ArrayAttr:$numWarps);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<SizedRegion<1>>:$partitions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def NVWS_WarpGroupYieldOp : NVWS_Op<"warp_group.yield", [
    Pure, Terminator, ReturnLike, HasParent<"WarpGroupOp">]> {
  let summary = "End the first partition, whose values are the results";
  let description = "Example: see `nvws.warp_group`.";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^)? attr-dict (`:` type($values)^)?";
}

def NVWS_WarpGroupReturnOp : NVWS_Op<"warp_group.return", [
    Pure, Terminator, HasParent<"WarpGroupOp">]> {
  let summary = "End a partition without results";
  let description = "Example: see `nvws.warp_group`.";
  let assemblyFormat = "attr-dict";
}

#endif // TILE_DIALECT_NVWS_IR_OPS_TD

//===-- AMDGTensorOps.td - Tensor data movement ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGTENSOROPS
#define AMD_IR_AMDGTENSOROPS

include "amd/IR/AMDGAsyncOps.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

//===----------------------------------------------------------------------===//
// gfx1250 copies blocks of tensors between memory and LDS through descriptors.
//===----------------------------------------------------------------------===//

def AMDG_UpdateTensorDescriptorOp
    : AMDG_Op<"update_tensor_descriptor",
              [Pure, AttrSizedOperandSegments, AllTypesMatch<["desc", "result"]>]> {
  let summary = "A descriptor of the block at other indices";
  let description = [{
    Moves the tensor's start by `add_offsets`; with `clamp_bounds`, its end stays
    where it is. Copies through the result that say no indices copy the block at
    its start, if `pred` is not zero. It replaces the one of `desc`.

    Example:

    ```mlir
    %0 = amdg.update_tensor_descriptor %desc add_offsets = [%i, %j] pred = %p {clamp_bounds} : !tt.tensordesc<tensor<64x64xf16, #shared>>
    ```
  }];
  let arguments = (ins TT_TensorDescType:$desc, Variadic<I32>:$add_offsets,
                       Optional<I32>:$pred, UnitAttr:$clamp_bounds);
  let results = (outs TT_TensorDescType:$result);
  let assemblyFormat = [{
    $desc (`add_offsets` `=` `[` $add_offsets^ `]`)? (`pred` `=` $pred^)?
    attr-dict `:` qualified(type($desc))
  }];
  let hasVerifier = 1;
}

def AMDG_AsyncTDMCopyGlobalToLocalOp
    : AMDG_Op<"async_tdm_copy_global_to_local",
              [AttrSizedOperandSegments, TTG_AsyncCopy<>,
               TTG_PredicatedOpInterface]> {
  let summary = "Start to copy a block of a tensor into LDS";
  let description = [{
    Where `pred` is false, nothing is copied. What lies behind the end of the
    tensor becomes zero; so does all of a block that starts before the tensor.
    The buffer holds the rows of the block one after the other, maybe with gaps
    at equal distances. With a barrier, the copy arrives at it when done. Without
    indices, `amdg.update_tensor_descriptor` has said which block.

    Example:

    ```mlir
    %t = amdg.async_tdm_copy_global_to_local %desc[%i, %j] into %x, %pred : !tt.tensordesc<tensor<64x64xf16, #shared>> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %u = amdg.async_tdm_copy_global_to_local %desc into %x : !tt.tensordesc<tensor<64x64xf16, #shared>> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TT_TensorDescType, "", [MemRead<GlobalMemory>]>:$desc,
    Variadic<I32>:$indices,
    Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$result,
    Optional<I1>:$pred, Optional<TTG_MemDescType>:$barrier);
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = [{
    $desc (`[` $indices^ `]`)? `into` $result (`,` $pred^)?
    (`barrier` `=` $barrier^)? attr-dict `:` qualified(type($desc))
    (`,` qualified(type($barrier))^)? `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def AMDG_AsyncTDMCopyLocalToGlobalOp
    : AMDG_Op<"async_tdm_copy_local_to_global"> {
  let summary = "Start to copy a block of a tensor from LDS";
  let description = [{
    Where the block lies outside of the tensor, nothing is written; nothing at
    all of a block that starts before the tensor. Gaps in the buffer come after
    whole rows. Without indices, `amdg.update_tensor_descriptor` has said which
    block.

    Example:

    ```mlir
    %t = amdg.async_tdm_copy_local_to_global %desc[%i, %j] from %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<64x64xf16, #shared>>
    ```
  }];
  let arguments = (ins
    Arg<TT_TensorDescType, "", [MemWrite<GlobalMemory>]>:$desc,
    Variadic<I32>:$indices,
    Arg<TTG_MemDescType, "", [MemRead<SharedMemory>]>:$src);
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = [{
    $desc (`[` $indices^ `]`)? `from` $src attr-dict `:` qualified(type($src))
    `->` qualified(type($desc))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Rows by their numbers
//===----------------------------------------------------------------------===//

def AMDG_AsyncTDMGatherOp : AMDG_Op<"async_tdm_gather", [TTG_AsyncCopy<>]> {
  let summary = "Start to copy rows of a tensor into LDS";
  let description = [{
    Row `i` of the buffer is the part of row `rows[i]` that the descriptor's
    blocks have columns for. Rows that the tensor does not have become zero. Each
    wave has all numbers of rows.

    Example:

    ```mlir
    %t = amdg.async_tdm_gather %desc[%rows] to %x : tensor<16xi32, #rows>, !ttg.memdesc<16x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<16x64xf16, #shared>>
    ```
  }];
  let arguments = (ins
    Arg<TT_TensorDescType, "", [MemRead<GlobalMemory>]>:$desc,
    RankedTensorOf<[I16, I32]>:$rows,
    Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$dst);
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = [{
    $desc `[` $rows `]` `to` $dst attr-dict `:` type($rows) `,`
    qualified(type($dst)) `->` qualified(type($desc))
  }];
  let hasVerifier = 1;
}

def AMDG_AsyncTDMScatterOp : AMDG_Op<"async_tdm_scatter"> {
  let summary = "Start to copy rows of a buffer to rows of a tensor";
  let description = [{
    As `amdg.async_tdm_gather`, the other way. Which of two rows with the same
    number is there in the end is not defined.

    Example:

    ```mlir
    %t = amdg.async_tdm_scatter %desc[%rows] from %x : tensor<16xi32, #rows>, !ttg.memdesc<16x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<16x64xf16, #shared>>
    ```
  }];
  let arguments = (ins
    Arg<TT_TensorDescType, "", [MemWrite<GlobalMemory>]>:$desc,
    RankedTensorOf<[I16, I32]>:$rows,
    Arg<TTG_MemDescType, "", [MemRead<SharedMemory>]>:$src);
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = [{
    $desc `[` $rows `]` `from` $src attr-dict `:` type($rows) `,`
    qualified(type($src)) `->` qualified(type($desc))
  }];
  let hasVerifier = 1;
}

def AMDG_TDMPrefetchOp : AMDG_Op<"tdm_prefetch"> {
  let summary = "Fetch a block of a tensor into the caches";
  let description = [{
    Where `pred` holds, asks for what lies in the tensor. With `speculative`, an
    address that is not mapped is no error.

    Example:

    ```mlir
    amdg.tdm_prefetch %desc[%i, %j], %pred, speculative = false : !tt.tensordesc<tensor<64x64xf16, #shared>>
    ```
  }];
  let arguments = (ins TT_TensorDescType:$desc, Variadic<I32>:$indices,
                       I1:$pred, BoolAttr:$speculative);
  let assemblyFormat = [{
    $desc `[` $indices `]` `,` $pred `,` `speculative` `=` $speculative attr-dict
    `:` qualified(type($desc))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

def AMDG_AsyncTDMWaitOp
    : AMDG_Op<"async_tdm_wait", [TTG_WaitsForCopies]> {
  let summary = "Wait for copies of tensors by their number";
  let description = [{
    Waits until at most `num` of the copies are under way. Each wave waits for
    its own part of them; the barrier that `insert-memory-barriers` puts behind
    it tells the others. Loads from LDS that take the token are ordered by it.

    Example:

    ```mlir
    %w = amdg.async_tdm_wait %t {num = 2 : i32}
    ```
  }];
  let arguments = (ins Variadic<TTG_AsyncToken>:$asyncToken, I32Attr:$num);
  let results = (outs TTG_AsyncToken:$retToken);
  let assemblyFormat = "$asyncToken attr-dict";
}

def AMDG_AsyncTDMIntrinsicWaitOp
    : AMDG_Op<"async_tdm_intrinsic_wait", [TTG_WaitsForCopies]> {
  let summary = "Wait for copies of tensors by the number of instructions";
  let description = [{
    As `amdg.async_tdm_wait`: a copy is one instruction of each wave.

    Example:

    ```mlir
    %w = amdg.async_tdm_intrinsic_wait %t {count = 0 : i32}
    ```
  }];
  let arguments = (ins Variadic<TTG_AsyncToken>:$asyncToken, I32Attr:$count);
  let results = (outs TTG_AsyncToken:$retToken);
  let assemblyFormat = "($asyncToken^)? attr-dict";
}

#endif // AMD_IR_AMDGTENSOROPS

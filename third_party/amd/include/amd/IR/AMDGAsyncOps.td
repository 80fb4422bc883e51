//===-- AMDGAsyncOps.td - Loads straight into LDS ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGASYNCOPS
#define AMD_IR_AMDGASYNCOPS

include "amd/IR/AMDGBufferOps.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

def AMDG_BufferLoadToLocalOp : AMDG_Op<"buffer_load_to_local", [
    AttrSizedOperandSegments, TT_CustomEffects, AMDG_MaskOf<"offsets">,
    TTG_AsyncCopy<>]> {
  let summary = "Load from a scalar base and offsets into LDS";
  let description = [{
    Starts to copy elements to `dest`, without passing through registers where
    lanes write side by side there, as `ttg.async_copy_global_to_local` does.
    Where the mask is false, the element becomes `other`, or zero without one.
    `contiguity` is the number of neighbours that may be copied together although
    the offsets do not show it.

    Example:

    ```mlir
    %t = amdg.buffer_load_to_local %base[%offsets] mask = %mask into %buffer {contiguity = 8 : i32} : <f16>[tensor<64x64xi32, #blocked>] -> <64x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins TTG_MemDescType:$dest, TT_ScalarPtr:$ptr,
                       AMDG_Tensor:$offsets, Optional<TT_BoolTensor>:$mask,
                       Optional<AMDG_Tensor>:$other, Optional<I32>:$stride,
                       AMDG_CacheArg:$cache,
                       DefaultValuedAttr<I32Attr, "1">:$contiguity);
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = [{
    $ptr `[` $offsets `]` (`mask` `=` $mask^)? (`other` `=` $other^)?
    (`stride` `=` $stride^)? oilist(`cacheModifier` `=` $cache) `into` $dest
    attr-dict `:` type($ptr) `[` type($offsets) `]` type($other)
    `->` type($dest)
  }];
  let hasVerifier = 1;
}

def AMDG_AsyncCopyLocalToGlobalOp
    : AMDG_Op<"async_copy_local_to_global", [AMDG_MaskOf<"dst">]> {
  let summary = "Store from LDS";
  let description = [{
    Starts to copy the elements of `src` to where `dst` points, if `mask` says so,
    without passing through registers where the target has such stores. They are
    done after an `amdg.async_wait`. `tritonamdgpu-expand-ops` has elements
    pass through registers.

    Example:

    ```mlir
    %t = amdg.async_copy_local_to_global %x, %p mask %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    ```
  }];
  let arguments = (ins Arg<TTG_MemDescType, "", [MemRead<SharedMemory>]>:$src,
                       Arg<TT_PtrTensor, "", [MemWrite<GlobalMemory>]>:$dst,
                       Optional<TT_BoolTensor>:$mask);
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = [{
    $src `,` $dst (`mask` $mask^)? attr-dict `:` qualified(type($src)) `->`
    type($dst)
  }];
  let hasVerifier = 1;
}

def AMDG_AsyncWaitOp
    : AMDG_Op<"async_wait", [TT_CustomEffects, TTG_WaitsForCopies]> {
  let summary = "Wait for loads into LDS by the number of instructions";
  let description = [{
    Waits until at most `num_inst` of the instructions that loaded into LDS last
    are under way. Each wave waits for its own; a barrier tells the others.

    Example:

    ```mlir
    %w = amdg.async_wait %group {num_inst = 4 : i32}
    ```
  }];
  let arguments = (ins Variadic<TTG_AsyncToken>:$asyncToken, I32Attr:$num_inst);
  let results = (outs TTG_AsyncToken:$retToken);
  let assemblyFormat = "($asyncToken^)? attr-dict";
}

#endif // AMD_IR_AMDGASYNCOPS

//===-- AMDGTensorOps.td - Tensor data movement ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGTENSOROPS
#define AMD_IR_AMDGTENSOROPS

include "amd/IR/AMDGOpBase.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

//===----------------------------------------------------------------------===//
// gfx1250 copies blocks of tensors between memory and LDS through descriptors.
//===----------------------------------------------------------------------===//

class AMDG_TensorOp<string mnemonic, list<Trait> traits = []>
    : AMDG_Op<mnemonic, traits> {
  let extraClassDeclaration = [{
    static ::llvm::StringRef getMissing() {
      return "copies of tensors by descriptors (gfx1250)";
    }
  }];
}

def AMDG_AsyncTDMCopyGlobalToLocalOp
    : AMDG_TensorOp<"async_tdm_copy_global_to_local", [AttrSizedOperandSegments]> {
  let summary = "Start to copy a block of a tensor into LDS";
  let description = [{
    Where `pred` is false, nothing is copied. With a barrier, the copy arrives at
    it when done.

    Example:

    ```mlir
    %t = amdg.async_tdm_copy_global_to_local %desc[%i, %j] into %x, %pred : !tt.tensordesc<tensor<64x64xf16, #shared>> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    TT_TensorDescType:$desc, Variadic<I32>:$indices,
    Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$result, I1:$pred,
    Optional<TTG_MemDescType>:$barrier);
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = [{
    $desc `[` $indices `]` `into` $result `,` $pred (`barrier` `=` $barrier^)?
    attr-dict `:` qualified(type($desc)) (`,` qualified(type($barrier))^)?
    `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def AMDG_AsyncTDMCopyLocalToGlobalOp
    : AMDG_TensorOp<"async_tdm_copy_local_to_global"> {
  let summary = "Start to copy a block of a tensor from LDS";
  let description = [{
    Example:

    ```mlir
    amdg.async_tdm_copy_local_to_global %desc[%i, %j] from %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<tensor<64x64xf16, #shared>>
    ```
  }];
  let arguments = (ins
    TT_TensorDescType:$desc, Variadic<I32>:$indices,
    Arg<TTG_MemDescType, "", [MemRead<SharedMemory>]>:$src);
  let assemblyFormat = [{
    $desc `[` $indices `]` `from` $src attr-dict `:` qualified(type($src)) `->`
    qualified(type($desc))
  }];
  let hasVerifier = 1;
}

def AMDG_AsyncTDMWaitOp : AMDG_TensorOp<"async_tdm_wait"> {
  let summary = "Wait for copies of tensors by their number";
  let description = [{
    Waits until at most `num` of the copies are under way.

    Example:

    ```mlir
    %w = amdg.async_tdm_wait %t {num = 2 : i32}
    ```
  }];
  let arguments = (ins Variadic<TTG_AsyncToken>:$asyncToken, I32Attr:$num);
  let results = (outs TTG_AsyncToken:$retToken);
  let assemblyFormat = "$asyncToken attr-dict";
}

def AMDG_AsyncTDMIntrinsicWaitOp : AMDG_TensorOp<"async_tdm_intrinsic_wait"> {
  let summary = "Wait for copies of tensors by the number of instructions";
  let description = [{
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

//===-- AMDGBufferOps.td - Accesses through descriptors ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGBUFFEROPS
#define AMD_IR_AMDGBUFFEROPS

include "amd/IR/AMDGOpBase.td"

//===----------------------------------------------------------------------===//
// A buffer starts at a scalar pointer and has 2^31 bytes. Offsets count elements
// and have no sign. Where the mask is false, the access goes to an offset behind
// the end, where the machine reads zeros and writes nothing: there is no branch.
// `stride` (of rows, in elements) is a hint to caches.
//===----------------------------------------------------------------------===//

class AMDG_OffsetsOf<string tensor>
    : TypesMatchWith<"offsets are i32 in the shape of the elements", tensor,
                     "offsets", "::mlir::triton::amdgpu::getOffsetsType($_self)">;
class AMDG_MaskOf<string tensor>
    : OptionalTypesMatchWith<"mask is an i1 of the shape of the elements",
                             tensor, "mask",
                             "::mlir::triton::getMaskType($_self)">;
class AMDG_PointerTo<string tensor>
    : TypesMatchWith<"pointer to an element", tensor, "ptr",
                     "::mlir::triton::amdgpu::getBaseType($_self)">;

defvar AMDG_CacheArg =
    DefaultValuedAttr<TT_CacheModifierAttr, "::mlir::triton::CacheModifier::NONE">;

def AMDG_BufferLoadOp : AMDG_Op<"buffer_load", [
    SameLoadStoreOperandsAndResultEncoding,
    AttrSizedOperandSegments, TT_CustomEffects, AMDG_PointerTo<"result">,
    AMDG_OffsetsOf<"result">, AMDG_MaskOf<"result">,
    OptionalTypesMatchWith<"other has the type of the result", "result", "other",
                           "$_self">]> {
  let summary = "Load from a scalar base and offsets";
  let description = [{
    Where the mask is false, the result is `other`, or zero without one.

    Example:

    ```mlir
    %v = amdg.buffer_load %base[%offsets], %mask, %other cacheModifier = cg stride = %stride : tensor<256xf32, #blocked>
    ```
  }];
  let arguments = (ins TT_ScalarPtr:$ptr, AMDG_Tensor:$offsets,
                       Optional<I32>:$stride, AMDG_CacheArg:$cache,
                       Optional<TT_BoolTensor>:$mask,
                       Optional<AMDG_Tensor>:$other);
  let results = (outs AMDG_Tensor:$result);
  let assemblyFormat = [{
    $ptr `[` $offsets `]` (`,` $mask^)? (`,` $other^)?
    oilist(`cacheModifier` `=` $cache) (`stride` `=` $stride^)?
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def AMDG_BufferStoreOp : AMDG_Op<"buffer_store", [
    SameLoadStoreOperandsEncoding,
    AttrSizedOperandSegments, TT_CustomEffects, AMDG_PointerTo<"value">,
    AMDG_OffsetsOf<"value">, AMDG_MaskOf<"value">]> {
  let summary = "Store to a scalar base and offsets";
  let description = [{
    Example:

    ```mlir
    amdg.buffer_store %value, %base[%offsets], %mask : tensor<256xf32, #blocked>
    ```
  }];
  let arguments = (ins AMDG_Tensor:$value, TT_ScalarPtr:$ptr,
                       AMDG_Tensor:$offsets, Optional<I32>:$stride,
                       AMDG_CacheArg:$cache, Optional<TT_BoolTensor>:$mask);
  let assemblyFormat = [{
    $value `,` $ptr `[` $offsets `]` (`,` $mask^)?
    oilist(`cacheModifier` `=` $cache) (`stride` `=` $stride^)?
    attr-dict `:` type($value)
  }];
}

def AMDG_BufferAtomicRMWOp : AMDG_Op<"buffer_atomic_rmw", [
    SameLoadStoreOperandsAndResultEncoding,
    AttrSizedOperandSegments, TT_CustomEffects, AMDG_PointerTo<"result">,
    AMDG_OffsetsOf<"result">, AMDG_MaskOf<"result">,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "Atomic read-modify-write at a scalar base and offsets";
  let description = [{
    As `tt.atomic_rmw`.

    Example:

    ```mlir
    %old = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %value, %base[%offsets], %mask : tensor<256xf32, #blocked>
    ```
  }];
  let arguments = (ins TT_RMWOpAttr:$atomic_rmw_op, TT_ScalarPtr:$ptr,
                       AMDG_Tensor:$offsets, AMDG_Tensor:$value,
                       Optional<I32>:$stride, TT_MemSemanticAttr:$sem,
                       TT_MemSyncScopeAttr:$scope,
                       Optional<TT_BoolTensor>:$mask);
  let results = (outs AMDG_Tensor:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $value `,` $ptr `[` $offsets `]`
    (`,` $mask^)? (`stride` `=` $stride^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def AMDG_BufferAtomicCASOp : AMDG_Op<"buffer_atomic_cas", [
    TT_CustomEffects, AMDG_PointerTo<"result">, AMDG_OffsetsOf<"result">,
    AllTypesMatch<["cmp", "val", "result"]>]> {
  let summary = "Atomic compare-and-swap at a scalar base and offsets";
  let description = [{
    As `tt.atomic_cas`.

    Example:

    ```mlir
    %old = amdg.buffer_atomic_cas acq_rel, gpu, %cmp, %val, %base[%offsets] : tensor<256xi32, #blocked>
    ```
  }];
  let arguments = (ins TT_ScalarPtr:$ptr, AMDG_Tensor:$offsets,
                       AMDG_Tensor:$cmp, AMDG_Tensor:$val,
                       Optional<I32>:$stride, TT_MemSemanticAttr:$sem,
                       TT_MemSyncScopeAttr:$scope);
  let results = (outs AMDG_Tensor:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $cmp `,` $val `,` $ptr `[` $offsets `]`
    (`stride` `=` $stride^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

#endif // AMD_IR_AMDGBUFFEROPS

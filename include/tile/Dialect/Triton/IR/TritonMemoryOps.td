//===-- TritonMemoryOps.td - Loads, stores and address arithmetic -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONMEMORYOPS
#define TILE_DIALECT_TRITON_IR_TRITONMEMORYOPS

include "tile/Dialect/Triton/IR/TritonOpBase.td"

//===----------------------------------------------------------------------===//
// Address arithmetic
//===----------------------------------------------------------------------===//

def TT_AddPtrOp : TT_Op<"addptr", [
    Pure, Elementwise, SameOperandsAndResultShape,
    SameOperandsAndResultEncoding, AllTypesMatch<["ptr", "result"]>]> {
  let summary = "Pointer plus a number of elements";
  let description = [{
    The offset counts elements of the pointee type and is signed.

    Example:

    ```mlir
    %0 = tt.addptr %p, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$offset);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

def TT_LoadOp : TT_Op<"load", [
    SameLoadStoreOperandsAndResultShape, SameLoadStoreOperandsAndResultEncoding,
    AttrSizedOperandSegments, TT_CustomEffects,
    TypesMatchWith<"result type matches the pointee of 'ptr'",
                   "ptr", "result", "::mlir::triton::getLoadedType($_self)">,
    OptionalTypesMatchWith<"mask is an i1 of the shape of 'ptr'",
                   "ptr", "mask", "::mlir::triton::getMaskType($_self)">,
    OptionalTypesMatchWith<"other has the type of the result",
                   "ptr", "other", "::mlir::triton::getLoadedType($_self)">]> {
  let summary = "Read from memory";
  let description = [{
    Reads the values that `ptr` points to. Where `mask` is false nothing is
    accessed and the result is `other`, or undefined if there is none.

    A block pointer is checked against its own shape in the dimensions of
    `boundaryCheck`; an element out of bounds reads as `padding`, and is
    undefined without it.

    `cacheModifier` and `evictionPolicy` are hints. A load that is volatile, or `cv`, is neither
    removed, merged nor moved, and one thread reads each element for all: they find the same.

    Example:

    ```mlir
    %0 = tt.load %p, %mask, %other cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<128x!tt.ptr<f32>>
    %1 = tt.load %b {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<64x32xf16>>
    ```
  }];
  let arguments = (ins
    TT_MemoryLike:$ptr, Optional<TT_BoolLike>:$mask, Optional<TT_Type>:$other,
    DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
    OptionalAttr<TT_PaddingOptionAttr>:$padding,
    DefaultValuedAttr<TT_CacheModifierAttr, "::mlir::triton::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<TT_EvictionPolicyAttr, "::mlir::triton::EvictionPolicy::NORMAL">:$evict,
    DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_Type:$result);
  let builders = [
    OpBuilder<(ins "Value":$ptr, CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict,
                   CArg<"bool", "false">:$isVolatile)>,
    OpBuilder<(ins "Value":$ptr, "Value":$mask,
                   CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict,
                   CArg<"bool", "false">:$isVolatile)>,
    OpBuilder<(ins "Value":$ptr, "Value":$mask, "Value":$other,
                   CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict,
                   CArg<"bool", "false">:$isVolatile)>,
    // Through a block pointer.
    OpBuilder<(ins "Value":$ptr, "ArrayRef<int32_t>":$boundaryCheck,
                   "std::optional<PaddingOption>":$padding,
                   CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict,
                   CArg<"bool", "false">:$isVolatile)>
  ];
  let assemblyFormat = [{
    $ptr (`,` $mask^)? (`,` $other^)?
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` type($ptr)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_StoreOp : TT_Op<"store", [
    SameLoadStoreOperandsShape, SameLoadStoreOperandsEncoding, TT_CustomEffects,
    TypesMatchWith<"value type matches the pointee of 'ptr'",
                   "ptr", "value", "::mlir::triton::getLoadedType($_self)">,
    OptionalTypesMatchWith<"mask is an i1 of the shape of 'ptr'",
                   "ptr", "mask", "::mlir::triton::getMaskType($_self)">]> {
  let summary = "Write to memory";
  let description = [{
    Writes `value` where `ptr` points to. Where `mask` is false nothing is
    accessed. A block pointer is checked in the dimensions of `boundaryCheck`
    and elements out of bounds are not written.

    Example:

    ```mlir
    tt.store %p, %v, %mask evictionPolicy = evict_first : tensor<128x!tt.ptr<f32>>
    ```
  }];
  let arguments = (ins
    TT_MemoryLike:$ptr, TT_Type:$value, Optional<TT_BoolLike>:$mask,
    DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
    DefaultValuedAttr<TT_CacheModifierAttr, "::mlir::triton::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<TT_EvictionPolicyAttr, "::mlir::triton::EvictionPolicy::NORMAL">:$evict);
  let builders = [
    OpBuilder<(ins "Value":$ptr, "Value":$value,
                   CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict)>,
    // Without a cache modifier this is one of the default builders.
    OpBuilder<(ins "Value":$ptr, "Value":$value, "Value":$mask,
                   "CacheModifier":$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict)>,
    OpBuilder<(ins "Value":$ptr, "Value":$value,
                   "ArrayRef<int32_t>":$boundaryCheck,
                   CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict)>
  ];
  let assemblyFormat = [{
    $ptr `,` $value (`,` $mask^)?
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` type($ptr)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITON_IR_TRITONMEMORYOPS

//===-- TritonDescriptorOps.td - Tensor descriptors ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONDESCRIPTOROPS
#define TILE_DIALECT_TRITON_IR_TRITONDESCRIPTOROPS

include "tile/Dialect/Triton/IR/TritonOpBase.td"

def TT_MakeTensorDescOp : TT_Op<"make_tensor_descriptor", [
    Pure, SameVariadicOperandSize]> {
  let summary = "Descriptor of a strided tensor in global memory";
  let description = [{
    Shape and strides count elements; the last stride must be one. An element
    out of bounds reads as zero, or as a NaN if `padding` says so.

    Example:

    ```mlir
    %0 = tt.make_tensor_descriptor %base, [%m, %n], [%stride, %c1] : <f16>, <tensor<64x64xf16>>
    ```
  }];
  let arguments = (ins
    TT_ScalarPtr:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
    DefaultValuedAttr<TT_PaddingOptionAttr, "::mlir::triton::PaddingOption::PAD_ZERO">:$padding);
  let results = (outs TT_TensorDesc:$result);
  let builders = [
    // `isSigned` is about integers.
    OpBuilder<(ins "Value":$base, "ValueRange":$shape, "ValueRange":$strides,
                   "ArrayRef<int32_t>":$blockShape, "bool":$isSigned,
                   CArg<"PaddingOption", "PaddingOption::PAD_ZERO">:$padding)>
  ];
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict
    `:` type($base) `,` type($result)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorLoadOp : TT_Op<"descriptor_load", [TT_CustomEffects]> {
  let summary = "Read of a block through a descriptor";
  let description = [{
    Reads the block that starts at `indices`. Leading dimensions of size one of
    the block may be missing from the result.

    Example:

    ```mlir
    %0 = tt.descriptor_load %desc[%x, %y] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    ```
  }];
  let arguments = (ins
    TT_TensorDesc:$desc, Variadic<I32>:$indices,
    DefaultValuedAttr<TT_CacheModifierAttr, "::mlir::triton::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<TT_EvictionPolicyAttr, "::mlir::triton::EvictionPolicy::NORMAL">:$evict);
  let results = (outs TT_Tensor:$result);
  let builders = [
    // Yields the block without encoding.
    OpBuilder<(ins "Value":$desc, "ValueRange":$indices,
                   CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict)>
  ];
  let assemblyFormat = [{
    $desc `[` $indices `]`
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` qualified(type($desc)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorStoreOp : TT_Op<"descriptor_store", [TT_CustomEffects]> {
  let summary = "Write of a block through a descriptor";
  let description = [{
    Writes `src` to the block that starts at `indices`; elements out of bounds
    are not written.

    Example:

    ```mlir
    tt.descriptor_store %desc[%x, %y], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    ```
  }];
  let arguments = (ins TT_TensorDesc:$desc, TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = [{
    $desc `[` $indices `]` `,` $src attr-dict
    `:` qualified(type($desc)) `,` type($src)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorReduceOp : TT_Op<"descriptor_reduce", [TT_CustomEffects]> {
  let summary = "Atomic combination of a block into memory";
  let description = [{
    Combines `src` element by element with the block that starts at `indices`.

    Example:

    ```mlir
    tt.descriptor_reduce add, %desc[%x, %y], %v : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
    ```
  }];
  let arguments = (ins TT_DescriptorReduceKindAttr:$kind, TT_TensorDesc:$desc,
                       TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = [{
    $kind `,` $desc `[` $indices `]` `,` $src attr-dict
    `:` qualified(type($desc)) `,` type($src)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorGatherOp : TT_Op<"descriptor_gather", [TT_CustomEffects]> {
  let summary = "Read of scattered rows through a descriptor";
  let description = [{
    Row `i` of the result is the part of row `x_offsets[i]` of the tensor that
    starts at column `y_offset`. The block of the descriptor is a single row.

    Example:

    ```mlir
    %0 = tt.descriptor_gather %desc[%rows, %y] : (!tt.tensordesc<tensor<1x128xbf16>>, tensor<32xi32>, i32) -> tensor<32x128xbf16>
    ```
  }];
  let arguments = (ins TT_TensorDesc:$desc, RankedTensorOf<[I32]>:$x_offsets,
                       I32:$y_offset);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorScatterOp : TT_Op<"descriptor_scatter", [TT_CustomEffects]> {
  let summary = "Write of scattered rows through a descriptor";
  let description = [{
    The inverse of `tt.descriptor_gather`: row `i` of `src` goes to row
    `x_offsets[i]`.

    Example:

    ```mlir
    tt.descriptor_scatter %desc[%rows, %y], %v : !tt.tensordesc<tensor<1x128xbf16>>, tensor<32xi32>, i32, tensor<32x128xbf16>
    ```
  }];
  let arguments = (ins TT_TensorDesc:$desc, RankedTensorOf<[I32]>:$x_offsets,
                       I32:$y_offset, TT_Tensor:$src);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict
    `:` qualified(type($desc)) `,` type($x_offsets) `,` type($y_offset) `,` type($src)
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITON_IR_TRITONDESCRIPTOROPS

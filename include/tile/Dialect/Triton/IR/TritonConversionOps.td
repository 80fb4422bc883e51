//===-- TritonConversionOps.td - Conversions -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONCONVERSIONOPS
#define TILE_DIALECT_TRITON_IR_TRITONCONVERSIONOPS

include "tile/Dialect/Triton/IR/TritonOpBase.td"

def TT_IntToPtrOp : TT_Op<"int_to_ptr", [
    Pure, Elementwise, SameOperandsAndResultShape,
    SameOperandsAndResultEncoding]> {
  let summary = "Integer to pointer";
  let description = [{
    Example:

    ```mlir
    %0 = tt.int_to_ptr %i : tensor<64xi64> -> tensor<64x!tt.ptr<f32>>
    ```
  }];
  let arguments = (ins AnyTypeOf<[I64, RankedTensorOf<[I64]>]>:$src);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def TT_PtrToIntOp : TT_Op<"ptr_to_int", [
    Pure, Elementwise, SameOperandsAndResultShape,
    SameOperandsAndResultEncoding]> {
  let summary = "Pointer to integer";
  let description = [{
    Example:

    ```mlir
    %0 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    ```
  }];
  let arguments = (ins TT_PtrLike:$src);
  let results = (outs AnyTypeOf<[I64, RankedTensorOf<[I64]>]>:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def TT_BitcastOp : TT_Op<"bitcast", [
    Pure, Elementwise, SameOperandsAndResultShape,
    SameOperandsAndResultEncoding]> {
  let summary = "The same bits as another type";
  let description = [{
    Between numbers of the same width, or between pointers of the same address
    space.

    Example:

    ```mlir
    %0 = tt.bitcast %x : tensor<64xf32> -> tensor<64xi32>
    %1 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
    ```
  }];
  let arguments = (ins TT_Type:$src);
  let results = (outs TT_Type:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_FpToFpOp : TT_Op<"fp_to_fp", [
    Pure, Elementwise, SameOperandsAndResultShape,
    SameOperandsAndResultEncoding]> {
  let summary = "Conversion between floating-point formats";
  let description = [{
    Like `arith.extf` and `arith.truncf`, also between the 8-bit formats and
    with a choice of `rounding`, which a narrowing conversion must make.

    Example:

    ```mlir
    %0 = tt.fp_to_fp %x, rounding = rtne : tensor<64xf32> -> tensor<64xf8E5M2>
    %1 = tt.fp_to_fp %y : tensor<64xf8E5M2> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$src, OptionalAttr<TT_RoundingModeAttr>:$rounding);
  let results = (outs TT_FloatLike:$result);
  let builders = [
    OpBuilder<(ins "Type":$result, "Value":$src), [{
      build($_builder, $_state, result, src, RoundingModeAttr());
    }]>
  ];
  let assemblyFormat = [{
    $src attr-dict (`,` `rounding` `=` $rounding^)?
    `:` type($src) `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITON_IR_TRITONCONVERSIONOPS

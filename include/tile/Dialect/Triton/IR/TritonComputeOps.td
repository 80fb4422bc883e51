//===-- TritonComputeOps.td - Matrix products and arithmetic -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONCOMPUTEOPS
#define TILE_DIALECT_TRITON_IR_TRITONCOMPUTEOPS

include "tile/Dialect/Triton/IR/TritonOpBase.td"

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def TT_DotOp : TT_Op<"dot", [
    Pure, AllTypesMatch<["c", "d"]>, TT_MatrixProduct<>]> {
  let summary = "Matrix product with accumulator";
  let description = [{
    `d = a * b + c`, of matrices or of a batch of them (the first of three
    dimensions). `inputPrecision` tells how fp32 operands reach the tensor
    cores. `maxNumImpreciseAcc` bounds how many 8-bit floats, multiplied, may be
    summed in less than full precision before they are added to the accumulator.

    Example:

    ```mlir
    %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
    ```
  }];
  let arguments = (ins
    TT_FpIntTensor:$a, TT_FpIntTensor:$b, TT_FpIntTensor:$c,
    DefaultValuedAttr<TT_InputPrecisionAttr, "::mlir::triton::InputPrecision::IEEE">:$inputPrecision,
    DefaultValuedAttr<TT_I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_FpIntTensor:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict
    `:` type($a) `*` type($b) `->` type($d)
  }];
  let hasVerifier = 1;
}

def TT_DotScaledOp : TT_Op<"dot_scaled", [
    Pure, AttrSizedOperandSegments, AllTypesMatch<["c", "d"]>,
    TT_MatrixProduct<["getFactors"]>]> {
  let summary = "Matrix product of operands in a microscaling format";
  let description = [{
    `d = scale(a, a_scale) * scale(b, b_scale) + c`. Each scale applies to a
    group of consecutive elements along the contracted dimension (32 of them for
    8-bit exponent scales, 16 for f8E4M3FN ones). Elements of type e2m1 come two
    to a byte, packed along the contracted dimension, or along the other one if
    `lhs_k_pack` (`rhs_k_pack`) is false.

    Example:

    ```mlir
    %d = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<32x128xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
    ```
  }];
  let arguments = (ins
    RankedTensorOf<[TT_Float, I8]>:$a, RankedTensorOf<[TT_Float, I8]>:$b,
    TT_FloatTensor:$c,
    Optional<RankedTensorOf<[I8, F8E4M3FN]>>:$a_scale,
    Optional<RankedTensorOf<[I8, F8E4M3FN]>>:$b_scale,
    TT_ScaleDotElemTypeAttr:$a_elem_type, TT_ScaleDotElemTypeAttr:$b_elem_type,
    BoolAttr:$fastMath,
    DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack,
    DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs TT_FloatTensor:$d);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c
    `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict
    `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)?
    `->` type($d)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise arithmetic that `arith` and `math` lack
//===----------------------------------------------------------------------===//

def TT_ClampFOp : TT_Op<"clampf", [
    Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "Floating-point clamp";
  let description = [{
    `min(max(x, min), max)`; a NaN in `x` becomes a NaN if `propagateNan` is
    `all`, otherwise `min`. The result is undefined if `min` > `max`.

    Example:

    ```mlir
    %0 = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$min, TT_FloatLike:$max,
                       TT_PropagateNanAttr:$propagateNan);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = [{
    $x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict
    `:` type($result)
  }];
}

def TT_MulhiUIOp : TT_Op<"mulhiui", [
    Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "High half of an unsigned multiplication";
  let description = [{
    The most significant N bits of the 2N-bit product of two unsigned integers.

    Example:

    ```mlir
    %0 = tt.mulhiui %a, %b : tensor<256xi32>
    ```
  }];
  let arguments = (ins TT_IntLike:$x, TT_IntLike:$y);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
  let hasFolder = 1;
}

def TT_PreciseSqrtOp : TT_Op<"precise_sqrt", [
    Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "Square root, rounded to nearest";
  let description = [{
    As IEEE 754 has it, whatever approximation `math.sqrt` may be lowered to.

    Example:

    ```mlir
    %0 = tt.precise_sqrt %x : tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$x);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def TT_PreciseDivFOp : TT_Op<"precise_divf", [
    Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "Quotient, rounded to nearest";
  let description = [{
    As IEEE 754 has it, whatever approximation `arith.divf` may be lowered to.

    Example:

    ```mlir
    %0 = tt.precise_divf %x, %y : tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$y);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

#endif // TILE_DIALECT_TRITON_IR_TRITONCOMPUTEOPS

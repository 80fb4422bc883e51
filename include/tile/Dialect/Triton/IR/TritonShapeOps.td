//===-- TritonShapeOps.td - Shapes of tensors -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONSHAPEOPS
#define TILE_DIALECT_TRITON_IR_TRITONSHAPEOPS

include "tile/Dialect/Triton/IR/TritonOpBase.td"

//===----------------------------------------------------------------------===//
// Making tensors
//===----------------------------------------------------------------------===//

def TT_MakeRangeOp : TT_Op<"make_range", [
    Pure, TT_LayoutInference<["getLayoutRole"]>]> {
  let summary = "Consecutive integers";
  let description = [{
    The 1-D tensor `[start, start + 1, ..., end - 1]`.

    Example:

    ```mlir
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    ```
  }];
  let arguments = (ins TT_I32Attr:$start, TT_I32Attr:$end);
  let results = (outs TT_I32Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_SplatOp : TT_Op<"splat", [Pure, TT_LayoutInference<["getLayoutRole"]>]> {
  let summary = "Tensor all of whose elements are one scalar";
  let description = [{
    Example:

    ```mlir
    %0 = tt.splat %n : i32 -> tensor<64x1xi32>
    ```
  }];
  let arguments = (ins TT_Scalar:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_UnsplatOp : TT_Op<"unsplat", [
    Pure, InferTypeOpAdaptor,
    TT_LayoutInference<["getLayoutRole", "acceptsAnyLayout"]>]> {
  let summary = "The scalar in a tensor of one element";
  let description = [{
    Example:

    ```mlir
    %0 = tt.unsplat %t : tensor<1xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Scalar:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Changing shape
//===----------------------------------------------------------------------===//

def TT_ExpandDimsOp : TT_Op<"expand_dims", [
    Pure, TT_InferTypesUpToLayout,
    TT_LayoutInference<["inferResultLayout", "inferOperandLayout",
                        "keepsDefaultResultLayout"]>]> {
  let summary = "Insertion of a dimension of size one";
  let description = [{
    The new dimension is dimension `axis` of the result.

    Example:

    ```mlir
    %0 = tt.expand_dims %t {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, TT_I32Attr:$axis);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TT_BroadcastOp : TT_Op<"broadcast", [
    Pure, SameOperandsAndResultEncoding,
    TT_LayoutInference<["keepsDefaultResultLayout"]>]> {
  let summary = "Repetition along dimensions of size one";
  let description = [{
    Operand and result have the same rank, and the same size in every dimension
    in which the operand has not size one.

    Example:

    ```mlir
    %0 = tt.broadcast %t : tensor<64x1xi32> -> tensor<64x32xi32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_ReshapeOp : TT_Op<"reshape", [
    Pure, TT_LayoutInference<["getLayoutRole", "inferResultLayout",
                              "inferOperandLayout"]>]> {
  let summary = "The same elements in another shape";
  let description = [{
    Elements keep their row-major order, unless `allow_reorder` leaves the order
    to the compiler. `efficient_layout` marks that the encoding of the result was
    chosen on purpose and should be kept.

    Example:

    ```mlir
    %0 = tt.reshape %t : tensor<16x32xf32> -> tensor<512xf32>
    %1 = tt.reshape %t allow_reorder : tensor<16x32xf32> -> tensor<512xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, UnitAttr:$allow_reorder,
                       UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)?
    attr-dict `:` type($src) `->` type($result)
  }];
  let builders = [
    // Infers the encoding of the result from the one of the operand.
    OpBuilder<(ins "ArrayRef<int64_t>":$shape, "Value":$src,
                   CArg<"bool", "false">:$allowReorder)>
  ];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_TransOp : TT_Op<"trans", [
    Pure, TT_InferTypesUpToLayout,
    TT_LayoutInference<["inferResultLayout", "inferOperandLayout"]>]> {
  let summary = "Permutation of dimensions";
  let description = [{
    Dimension `i` of the result is dimension `order[i]` of the operand.

    Example:

    ```mlir
    %0 = tt.trans %t {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, DenseI32ArrayAttr:$order);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Putting tensors together
//===----------------------------------------------------------------------===//

def TT_JoinOp : TT_Op<"join", [
    Pure, SameTypeOperands, TT_InferTypesUpToLayout,
    TT_LayoutInference<["inferResultLayout", "inferOperandLayout"]>]> {
  let summary = "Two tensors along a new last dimension";
  let description = [{
    The result has a trailing dimension of size two: index 0 holds `lhs`, index
    1 holds `rhs`.

    Example:

    ```mlir
    %0 = tt.join %a, %b : tensor<32x32xf32> -> tensor<32x32x2xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TT_SplitOp : TT_Op<"split", [
    Pure, TT_InferTypesUpToLayout,
    AllTypesMatch<["outLHS", "outRHS"]>,
    TT_LayoutInference<["inferResultLayout", "inferOperandLayout",
                        "keepsDefaultResultLayout"]>]> {
  let summary = "The two halves along a last dimension of size two";
  let description = [{
    The inverse of `tt.join`.

    Example:

    ```mlir
    %outLHS, %outRHS = tt.split %t : tensor<32x32x2xf32> -> tensor<32x32xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$outLHS, TT_Tensor:$outRHS);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TT_CatOp : TT_Op<"cat", [
    Pure, SameTypeOperands,
    SameOperandsAndResultElementType,
    TT_LayoutInference<["getLayoutRole", "inferResultLayout"]>]> {
  let summary = "All elements of two tensors, in no particular order";
  let description = [{
    The result holds the elements of both operands; which element lands where
    is up to the compiler, so that none needs to move between threads.

    Example:

    ```mlir
    %0 = tt.cat %a, %b : tensor<64xf32> -> tensor<128xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITON_IR_TRITONSHAPEOPS

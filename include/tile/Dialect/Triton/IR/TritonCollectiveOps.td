//===-- TritonCollectiveOps.td - Reductions, scans, gathers ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONCOLLECTIVEOPS
#define TILE_DIALECT_TRITON_IR_TRITONCOLLECTIVEOPS

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "tile/Dialect/Triton/IR/TritonOpBase.td"

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

def TT_ReduceOp : TT_Op<"reduce", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SameOperandsShape,
    SameOperandsEncoding, TT_InferTypesUpToLayout,
    TT_LayoutInference<["inferResultLayout", "inferOperandLayout"]>]> {
  let summary = "Reduction along a dimension";
  let description = [{
    Combines all elements along `axis`, which disappears from the shape; a
    tensor with no other dimension reduces to a scalar. The region combines two
    values (or two tuples of them, for several operands reduced together): its
    first arguments are the accumulated values, the others the next ones. It must
    be associative. It need not be commutative: the elements are combined in their
    order, and every copy of the result has the same bits. How they are grouped is
    up to the compiler. It may have control flow.

    Example:

    ```mlir
    %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<32x128xf32>) -> tensor<32xf32>
    ```
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, TT_I32Attr:$axis);
  let results = (outs Variadic<TT_Type>:$result);
  let regions = (region MinSizedRegion<1>:$combineOp);
  let extraClassDeclaration = [{
    SmallVector<RankedTensorType> getInputTypes();
    SmallVector<Type> getElementTypes();
    /// The operation that alone makes up the region, if there is just one.
    Operation *getSingleCombiner();
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TT_ReduceReturnOp : TT_Op<"reduce.return", [
    HasParent<"ReduceOp">, Pure, Terminator, ReturnLike]> {
  let summary = "Result of the region of a reduction";
  let description = [{
    Example:

    ```mlir
    tt.reduce.return %max, %index : f32, i32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

def TT_ScanOp : TT_Op<"scan", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SameOperandsShape,
    SameOperandsEncoding, TT_InferTypesUpToLayout,
    TT_LayoutInference<>]> {
  let summary = "Inclusive prefix combination along a dimension";
  let description = [{
    Element `i` of the result combines the elements `0..i` along `axis`, or the
    elements `i..` if `reverse` is true. The region is as in `tt.reduce`.

    Example:

    ```mlir
    %prefix = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.scan.return %s : i32
    }) : (tensor<512xi32>) -> tensor<512xi32>
    ```
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, TT_I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region MinSizedRegion<1>:$combineOp);
  let extraClassDeclaration = [{
    SmallVector<RankedTensorType> getInputTypes();
    SmallVector<Type> getElementTypes();
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TT_ScanReturnOp : TT_Op<"scan.return", [
    HasParent<"ScanOp">, Pure, Terminator, ReturnLike]> {
  let summary = "Result of the region of a scan";
  let description = [{
    Example:

    ```mlir
    tt.scan.return %sum : i32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Scalar code over tensors
//===----------------------------------------------------------------------===//

def TT_MapElementwiseOp : TT_Op<"map_elementwise", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SameOperandsAndResultShape,
    SameOperandsAndResultEncoding, TT_LayoutInference<>]> {
  let summary = "Scalar region applied to every element";
  let description = [{
    The region computes on `pack` consecutive elements at a time: it takes
    `pack` arguments for each operand (those of the first operand first) and
    returns `pack` values for each result. It may have control flow.

    Example:

    ```mlir
    %r = "tt.map_elementwise"(%x, %y) <{pack = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %m = arith.maxsi %a, %b : i32
      tt.map_elementwise.return %m : i32
    }) : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi32>
    ```
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, TT_I32Attr:$pack);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region AnyRegion:$scalarOp);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TT_MapElementwiseReturnOp : TT_Op<"map_elementwise.return", [
    HasParent<"MapElementwiseOp">, Pure, Terminator, ReturnLike]> {
  let summary = "Result of the region of a map";
  let description = [{
    Example:

    ```mlir
    tt.map_elementwise.return %m : i32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "attr-dict ($result^ `:` type($result))?";
}

//===----------------------------------------------------------------------===//
// Gather, histogram
//===----------------------------------------------------------------------===//

def TT_GatherOp : TT_Op<"gather", [
    Pure, TT_InferTypesUpToLayout,
    TT_LayoutInference<["getLayoutRole", "acceptsAnyLayout"]>]> {
  let summary = "Elements selected by index along a dimension";
  let description = [{
    `result[i, j] = src[indices[i, j], j]` for `axis` 0, and likewise for other
    axes and ranks. An index out of range gives an undefined element.
    `efficient_layout` marks that the encodings were chosen so that no element
    leaves its warp.

    Example:

    ```mlir
    %0 = tt.gather %src[%indices] {axis = 1 : i32} : (tensor<32x64xf32>, tensor<32x64xi32>) -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, TT_IntTensor:$indices, TT_I32Attr:$axis,
                       UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $src `[` $indices `]` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TT_HistogramOp : TT_Op<"histogram", [
    Pure,
    OptionalTypesMatchWith<"mask is an i1 of the shape of 'src'",
                           "src", "mask", "::mlir::triton::getMaskType($_self)">,
    TT_LayoutInference<["getLayoutRole", "acceptsAnyLayout"]>]> {
  let summary = "Number of occurrences of each value";
  let description = [{
    Element `i` of the result counts the elements of `src` that equal `i` and
    whose `mask` is true. Values without a bin are not counted.

    Example:

    ```mlir
    %0 = tt.histogram %x, %mask : tensor<512xi32> -> tensor<64xi32>
    ```
  }];
  let arguments = (ins TT_IntTensor:$src, Optional<TT_BoolTensor>:$mask);
  let results = (outs TT_IntTensor:$result);
  let assemblyFormat = [{
    $src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITON_IR_TRITONCOLLECTIVEOPS

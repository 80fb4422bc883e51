//===-- TritonGPULayoutOps.td - Tensor layouts -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_LAYOUTOPS_TD
#define TILE_TRITONGPU_LAYOUTOPS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

def TTG_ConvertLayoutOp : TTG_Op<"convert_layout", [
    SameOperandsAndResultShape, SameOperandsAndResultElementType, Pure,
    TT_LayoutInference<["getLayoutRole"]>]> {
  let summary = "move the elements of a tensor to another layout";
  let description = [{
    The result is the same tensor with another encoding. Depending on the two
    encodings this costs nothing, a renaming of registers, shuffles inside
    warps, or a trip through shared memory.

    Example:

    ```mlir
    %1 = ttg.convert_layout %0 : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #mma>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TTG_Fp4ToFpOp : TTG_Op<"fp4_to_fp", [Pure]> {
  let summary = "unpack pairs of 4-bit floats";
  let description = [{
    Each byte of `src` holds two fp4 (e2m1) numbers; the one in the low four
    bits comes first. The result is twice as long along `axis`. A thread unpacks
    the bytes that it owns, so the encoding of the result is that of `src` with
    twice as many neighbouring elements along `axis`.

    Example:

    ```mlir
    %1 = ttg.fp4_to_fp %0 {axis = 1 : i32}
        : tensor<64x32xi8, #blocked> -> tensor<64x64xbf16, #blocked1>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I8]>:$src, I32Attr:$axis);
  let results = (outs RankedTensorOf<[F16, BF16]>:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The encoding of a result of the given shape, or null (with an error at
    /// `loc`, if there is one).
    static ::mlir::FailureOr<::mlir::Attribute>
    inferResultEncoding(::mlir::RankedTensorType srcType, unsigned axis,
                        std::optional<::mlir::Location> loc);
  }];
}

#endif // TILE_TRITONGPU_LAYOUTOPS_TD

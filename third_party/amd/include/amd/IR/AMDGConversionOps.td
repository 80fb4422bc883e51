//===-- AMDGConversionOps.td - Operands in MX formats ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGCONVERSIONOPS
#define AMD_IR_AMDGCONVERSIONOPS

include "amd/IR/AMDGOpBase.td"
include "tile/Dialect/Triton/IR/TritonEnums.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

//===----------------------------------------------------------------------===//
// Floats of 4 and 8 bits (in the formats of OCP) become wider ones and are
// multiplied by their scales. `tritonamdgpu-expand-ops` takes all of these
// apart.
//===----------------------------------------------------------------------===//

def AMDG_WideFloatTensor : RankedTensorOf<[F16, BF16, F32]>;
def AMDG_ScaleTensor : RankedTensorOf<[BF16, I8]>;

def AMDG_ScaledUpcastFp4Op : AMDG_Op<"scaled_upcast_fp4", [Pure]> {
  let summary = "Widen pairs of e2m1 floats and multiply by scales";
  let description = [{
    Each byte of `input` holds two floats of 4 bits, neighbours along `axis`, the
    first in the lower half. There is a scale for each element of the result, in
    bf16, or as the bits of an e8m0 number.

    Example:

    ```mlir
    %v = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<32x64xi8, #a>, tensor<32x128xbf16, #b> -> tensor<32x128xbf16, #b>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I8]>:$input, AMDG_ScaleTensor:$scale,
                       I32Attr:$axis);
  let results = (outs AMDG_WideFloatTensor:$output);
  let assemblyFormat = [{
    $input `scale` $scale attr-dict `:` type($input) `,` type($scale)
    `->` type($output)
  }];
  let hasVerifier = 1;
}

def AMDG_ScaledUpcastFp8Op : AMDG_Op<"scaled_upcast_fp8", [Pure]> {
  let summary = "Widen floats of 8 bits and multiply by scales";
  let description = [{
    As `amdg.scaled_upcast_fp4`, of e4m3 or e5m2.

    Example:

    ```mlir
    %v = amdg.scaled_upcast_fp8 %x scale %s : tensor<32x128xf8E4M3FN, #b>, tensor<32x128xbf16, #b> -> tensor<32x128xbf16, #b>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F8E4M3FN, F8E5M2]>:$input,
                       AMDG_ScaleTensor:$scale);
  let results = (outs AMDG_WideFloatTensor:$output);
  let assemblyFormat = [{
    $input `scale` $scale attr-dict `:` type($input) `,` type($scale)
    `->` type($output)
  }];
  let hasVerifier = 1;
}

def AMDG_UpcastMXFPOp : AMDG_Op<"upcast_mxfp", [Pure]> {
  let summary = "Widen an operand in an MX format";
  let description = [{
    The elements of `src` are of the format `fp_type`: e4m3, e5m2, or pairs of
    e2m1 along K. `scale` has the bits of an e8m0 number for every 32 elements
    along K, which is its last dimension (that of right operands is N x K / 32).
    With `fastMath`, no scale stands for NaN.

    Example:

    ```mlir
    %v = amdg.upcast_mxfp %x, %s fp_type = e2m1 {fastMath = false} : tensor<32x64xi8, #a>, tensor<32x4xi8, #blocked> -> tensor<32x128xbf16, #b>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I8, F8E4M3FN, F8E5M2]>:$src,
                       RankedTensorOf<[I8]>:$scale,
                       TT_ScaleDotElemTypeAttr:$fp_type, BoolAttr:$fastMath);
  let results = (outs AMDG_WideFloatTensor:$result);
  let assemblyFormat = [{
    $src `,` $scale `fp_type` `=` $fp_type attr-dict `:` type($src) `,`
    type($scale) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Whether this is a right operand, whose rows are K.
    bool isRight();
  }];
  let hasVerifier = 1;
}

def AMDG_LocalLoadPackedTransposedOp : AMDG_Op<"local_load_packed_tranposed"> {
  let summary = "Read pairs of floats of 4 bits that lie across K";
  let description = [{
    Each byte in `src` holds two floats that are neighbours along M (of a left
    operand, M / 2 x K) or N (of a right one, K x N / 2). Each byte of the result
    holds two that are neighbours along K. The name is spelled as existing IR has it.

    Example:

    ```mlir
    %v = amdg.local_load_packed_tranposed %x : !ttg.memdesc<64x64xi8, #shared, #smem> -> tensor<32x128xi8, #right>
    ```
  }];
  let arguments = (ins Arg<TTG_MemDescType, "", [MemRead<SharedMemory>]>:$src,
                       Optional<TTG_AsyncToken>:$token);
  let results = (outs RankedTensorOf<[I8]>:$result);
  let assemblyFormat = [{
    $src (`token` $token^)? attr-dict `:` qualified(type($src)) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

#endif // AMD_IR_AMDGCONVERSIONOPS

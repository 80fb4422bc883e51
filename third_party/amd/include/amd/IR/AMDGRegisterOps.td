//===-- AMDGRegisterOps.td - Elements inside a thread ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGREGISTEROPS
#define AMD_IR_AMDGREGISTEROPS

include "amd/IR/AMDGOpBase.td"

//===----------------------------------------------------------------------===//
// No element leaves its thread: the verifiers ask the layouts.
//===----------------------------------------------------------------------===//

def AMDG_InThreadTransposeOp : AMDG_Op<"in_thread_transpose", [Pure]> {
  let summary = "Change the order of a thread's elements";
  let description = [{
    The same elements in the same threads, in registers of another order: what
    was loaded along one dimension is then stored to LDS along the other.

    Example:

    ```mlir
    %t = amdg.in_thread_transpose %v : tensor<64x64xbf16, #blocked> -> tensor<64x64xbf16, #linear>
    ```
  }];
  let arguments = (ins AMDG_Tensor:$src);
  let results = (outs AMDG_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def AMDG_ExtractSliceOp : AMDG_Op<"extract_slice", [Pure]> {
  let summary = "A block of a tensor";
  let description = [{
    The offsets are multiples of the result's shape, and each thread has the
    elements of the result among its own.

    Example:

    ```mlir
    %s = amdg.extract_slice %v [0, 64] : tensor<128x128xf16, #blocked> to tensor<128x64xf16, #blocked>
    ```
  }];
  let arguments = (ins AMDG_Tensor:$source, DenseI64ArrayAttr:$static_offsets);
  let results = (outs AMDG_Tensor:$result);
  let assemblyFormat = [{
    $source $static_offsets attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
}

def AMDG_ConcatOp : AMDG_Op<"concat", [Pure]> {
  let summary = "A tensor of blocks";
  let description = [{
    The sources, of one type, are the blocks of the result in row-major order:
    the reverse of `amdg.extract_slice`.

    Example:

    ```mlir
    %v = amdg.concat %a, %b : tensor<128x64xf16, #blocked>, tensor<128x64xf16, #blocked> -> tensor<128x128xf16, #blocked>
    ```
  }];
  let arguments = (ins Variadic<AMDG_Tensor>:$sources);
  let results = (outs AMDG_Tensor:$result);
  let assemblyFormat = [{
    $sources attr-dict `:` type($sources) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Where a source is in the result.
    SmallVector<int64_t> getOffsets(unsigned number);
  }];
  let hasVerifier = 1;
}

#endif // AMD_IR_AMDGREGISTEROPS

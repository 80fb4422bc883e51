//===-- TritonGPUIndexedOps.td - Buffers by index ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_INDEXEDOPS_TD
#define TILE_TRITONGPU_INDEXEDOPS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

/// An element is at the coordinates that it has in the tensor of indices, but
/// for `axis`: there its index says where.
def TTG_LocalGatherOp : TTG_Op<"local_gather"> {
  let summary = "read chosen elements of a buffer";
  let description = [{
    An element of the result is read at its own coordinates in `src`, but for
    the dimension `axis`: the coordinate there is its index. Indices that are
    not in the buffer are undefined behaviour.

    Example:

    ```mlir
    %v = ttg.local_gather %0[%i] {axis = 0 : i32} : !ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<32xi32, #blocked> -> tensor<32xf32, #blocked>
    ```
  }];
  let arguments = (ins
    Arg<TTG_MemDescType, "", [MemRead<SharedMemory>]>:$src,
    TT_IntTensor:$indices,
    I32Attr:$axis
  );
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $src `[` $indices `]` attr-dict
    `:` qualified(type($src)) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TTG_LocalScatterOp : TTG_Op<"local_scatter"> {
  let summary = "write chosen elements of a buffer";
  let description = [{
    Writes each of `values` where `ttg.local_gather` would read it. Which value
    stays, where several are written to one place, is undefined.

    Example:

    ```mlir
    ttg.local_scatter %0[%i], %v {axis = 0 : i32} : !ttg.memdesc<64xf32, #shared, #smem, mutable>, tensor<32xi32, #blocked>, tensor<32xf32, #blocked>
    ```
  }];
  let arguments = (ins
    Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$dst,
    TT_IntTensor:$indices,
    TT_Tensor:$values,
    I32Attr:$axis
  );
  let assemblyFormat = [{
    $dst `[` $indices `]` `,` $values attr-dict
    `:` qualified(type($dst)) `,` type($indices) `,` type($values)
  }];
  let hasVerifier = 1;
}

def TTG_LocalAtomicScatterRMWOp : TTG_Op<"local_atomic_scatter_rmw"> {
  let summary = "combine values with chosen elements of a buffer";
  let description = [{
    Replaces the elements where `ttg.local_scatter` would write by their
    combination with `values`, each in one indivisible step, and returns what was
    there before. Where `mask` is false nothing is accessed and the result is
    undefined.

    Example:

    ```mlir
    %old = ttg.local_atomic_scatter_rmw add, %0[%i], %v, %m {axis = 0 : i32} : (!ttg.memdesc<64xi32, #shared, #smem, mutable>, tensor<32xi32, #blocked>, tensor<32xi32, #blocked>, tensor<32xi1, #blocked>) -> tensor<32xi32, #blocked>
    ```
  }];
  let arguments = (ins
    TT_RMWOpAttr:$atomic_rmw_op,
    Arg<TTG_MemDescType, "",
        [MemRead<SharedMemory>, MemWrite<SharedMemory>]>:$dst,
    TT_Tensor:$values,
    TT_IntTensor:$indices,
    Optional<TT_BoolTensor>:$mask,
    I32Attr:$axis
  );
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $dst `[` $indices `]` `,` $values (`,` $mask^)? attr-dict
    `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

#endif // TILE_TRITONGPU_INDEXEDOPS_TD

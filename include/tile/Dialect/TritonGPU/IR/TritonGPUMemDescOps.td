//===-- TritonGPUMemDescOps.td - Views of memory -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_MEMDESCOPS_TD
#define TILE_TRITONGPU_MEMDESCOPS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

def TTG_MemDescIndexOp : TTG_MemDescViewOp<"memdesc_index"> {
  let summary = "one buffer of an array of them";
  let description = [{
    The element `index` along the first dimension of `src`; the result has one
    dimension less. The index must be in range.

    Example:

    ```mlir
    %1 = ttg.memdesc_index %0[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins TTG_MemDescType:$src, I32:$index);
  let assemblyFormat = [{
    $src `[` $index `]` attr-dict `:` qualified(type($src)) `->`
    qualified(type($result))
  }];
}

def TTG_MemDescSubsliceOp : TTG_MemDescViewOp<"memdesc_subslice"> {
  let summary = "a part of a buffer, at constant offsets";
  let description = [{
    The part of `src` that starts at `offsets` and has the shape of the result.
    Each offset is a multiple of the result's size in that dimension.

    Example:

    ```mlir
    %1 = ttg.memdesc_subslice %0[0, 16] : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32>
    ```
  }];
  let arguments = (ins TTG_MemDescType:$src, DenseI32ArrayAttr:$offsets);
  let assemblyFormat = [{
    $src `` custom<Offsets>($offsets) attr-dict `:` qualified(type($src)) `->`
    qualified(type($result))
  }];
  let hasFolder = 1;
}

def TTG_MemDescTransOp : TTG_MemDescViewOp<"memdesc_trans", [
    InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "a buffer with its dimensions permuted";
  let description = [{
    Dimension `i` of the result is dimension `order[i]` of `src`.

    Example:

    ```mlir
    %1 = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #shared1, #smem>
    ```
  }];
  let arguments = (ins TTG_MemDescType:$src, DenseI32ArrayAttr:$order);
  let assemblyFormat = [{
    $src attr-dict `:` qualified(type($src)) `->` qualified(type($result))
  }];
  let hasFolder = 1;
}

def TTG_MemDescReshapeOp : TTG_MemDescViewOp<"memdesc_reshape"> {
  let summary = "a buffer with another shape";
  let description = [{
    The same elements in row-major order, under another shape; each stays at its
    offset.

    Example:

    ```mlir
    %1 = ttg.memdesc_reshape %0 : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<4096xf16, #shared1, #smem>
    ```
  }];
  let arguments = (ins TTG_MemDescType:$src);
  let assemblyFormat = [{
    $src attr-dict `:` qualified(type($src)) `->` qualified(type($result))
  }];
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The type of `srcType` under another shape, or failure (with an error at
    /// `loc`, if there is one).
    static ::mlir::FailureOr<MemDescType>
    inferResultType(MemDescType srcType, ::llvm::ArrayRef<int64_t> shape,
                    std::optional<::mlir::Location> loc);
  }];
}

def TTG_MemDescReinterpretOp : TTG_MemDescViewOp<"memdesc_reinterpret"> {
  let summary = "the bytes of a buffer as another type";
  let description = [{
    The memory of `src`, seen with another shape, element type and encoding. The
    result must not be larger than `src`.

    Example:

    ```mlir
    %1 = ttg.memdesc_reinterpret %0 : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf32, #shared1, #smem, mutable>
    ```
  }];
  let arguments = (ins TTG_MemDescType:$src);
  let assemblyFormat = [{
    $src attr-dict `:` qualified(type($src)) `->` qualified(type($result))
  }];
  let hasFolder = 1;
}

#endif // TILE_TRITONGPU_MEMDESCOPS_TD

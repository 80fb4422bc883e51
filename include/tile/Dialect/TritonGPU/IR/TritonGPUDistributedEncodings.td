//===-- TritonGPUDistributedEncodings.td - Over threads ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_DISTRIBUTEDENCODINGS_TD
#define TILE_TRITONGPU_DISTRIBUTEDENCODINGS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUAttrBase.td"

def TTG_BlockedEncodingAttr
    : TTG_DistributedEncoding<"BlockedEncoding", "blocked"> {
  let summary = "each thread owns a rectangular block of elements";
  let description = [{
    A thread owns `sizePerThread` neighbouring elements, a warp is a grid of
    `threadsPerWarp` threads, a block a grid of `warpsPerCTA` warps; in each of
    the three, dimension `order[0]` varies fastest. A tensor larger than that
    tile repeats it; a smaller one is held several times.

    Example: 32 rows of 64 columns, each row held by 8 neighbouring threads:

    ```mlir
    #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8],
                  warpsPerCTA = [8, 1], order = [1, 0]}>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"unsigned">:$sizePerThread,
    ArrayRefParameter<"unsigned">:$threadsPerWarp,
    ArrayRefParameter<"unsigned">:$warpsPerCTA,
    ArrayRefParameter<"unsigned", "the fastest varying dimension first">:$order,
    "::mlir::triton::gpu::CTALayoutAttr":$CTALayout
  );
  let builders = [
    // Spreads the threads, then the warps, over `shape` along `order`, fastest
    // dimension first. There are no more of them in a dimension than it has
    // elements for. What is left over goes to the slowest one.
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape,
                     "::llvm::ArrayRef<unsigned>":$sizePerThread,
                     "::llvm::ArrayRef<unsigned>":$order, "unsigned":$numWarps,
                     "unsigned":$threadsPerWarp,
                     "::mlir::triton::gpu::CTALayoutAttr":$CTALayout)>,
    // The same, with the blocks of a cluster splitting the tensor.
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape,
                     "::llvm::ArrayRef<unsigned>":$sizePerThread,
                     "::llvm::ArrayRef<unsigned>":$order, "unsigned":$numWarps,
                     "unsigned":$threadsPerWarp, "unsigned":$numCTAs)>
  ];
}

def TTG_LinearEncodingAttr
    : TTG_DistributedEncoding<"LinearEncoding", "linear"> {
  let summary = "a linear layout, spelled out";
  let description = [{
    For each bit of the register, lane, warp and block index, the coordinates
    that it adds (by xor) to those of the element. Every other distributed
    encoding can be written this way for a given shape.

    A tensor larger than the layout repeats it over further registers; a smaller
    one is held several times.

    Example:

    ```mlir
    #ttg.linear<{register = [[0, 1], [8, 0]],
                 lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                 warp = [[16, 0], [32, 0]], block = []}>
    ```
  }];
  let parameters = (ins TTG_LinearLayoutParam:$linearLayout);
}

def TTG_SliceEncodingAttr
    : TTG_DistributedEncoding<"SliceEncoding", "slice"> {
  let summary = "another encoding with one dimension squeezed out";
  let description = [{
    What a tensor of the parent encoding becomes when dimension `dim` is
    reduced, and what it must have been before `tt.expand_dims`. Threads along
    the dimension hold the same data.

    Example: `#ttg.slice<{dim = 1, parent = #blocked}>`
  }];
  let parameters = (ins
    "unsigned":$dim,
    "::mlir::Attribute":$parent
  );
  let extraClassDeclaration = [{
    /// The shape with a 1 inserted at the sliced dimension.
    template <typename T>
    ::llvm::SmallVector<T> paddedShape(::llvm::ArrayRef<T> shape) const {
      ::llvm::SmallVector<T> result(shape.begin(), shape.end());
      result.insert(result.begin() + getDim(), T(1));
      return result;
    }
  }];
}

def TTG_DotOperandEncodingAttr
    : TTG_DistributedEncoding<"DotOperandEncoding", "dot_op"> {
  let summary = "an operand of a matrix product, in registers";
  let description = [{
    The part of operand `opIdx` (0: the left one, MxK; 1: the right one, KxN)
    that the threads need when the result has the encoding `parent`. `kWidth` is
    the number of neighbouring elements along K in one register, for parents
    that are matrix instructions; it is 0, and not printed, for blocked parents.

    Example: `#ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>`
  }];
  let parameters = (ins
    "unsigned":$opIdx,
    "::mlir::Attribute":$parent,
    "unsigned":$kWidth
  );
  let builders = [
    // The usual kWidth: 32 bits of elements of type `elementType`.
    AttrBuilder<(ins "unsigned":$opIdx, "::mlir::Attribute":$parent,
                     "::mlir::Type":$elementType)>
  ];
}

#endif // TILE_TRITONGPU_DISTRIBUTEDENCODINGS_TD

//===-- TritonGPUSharedEncodings.td - Of memory ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_SHAREDENCODINGS_TD
#define TILE_TRITONGPU_SHAREDENCODINGS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUAttrBase.td"

def TTG_SharedMemorySpaceAttr : TTG_Attr<"SharedMemorySpace", "shared_memory"> {
  let summary = "the memory space of shared memory";
  let description = [{
    The memory space of `!ttg.memdesc` values that live in the memory shared by
    the threads of a block. Example: `#ttg.shared_memory`
  }];
}

def TTG_SwizzledSharedEncodingAttr
    : TTG_SharedEncoding<"SwizzledSharedEncoding", "swizzled_shared"> {
  let summary = "row-major with a xor swizzle of the columns";
  let description = [{
    Elements lie in the order `order` (fastest dimension first). Along the
    fastest dimension, groups of `vec` elements change places. Group `c` of row
    `r` (the second fastest dimension) is stored at group
    `c xor ((r / perPhase) mod maxPhase)`. So a column of groups is spread
    over the banks. `maxPhase = 1` means no swizzle.

    Example:
    `#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>`
  }];
  let parameters = (ins
    "unsigned":$vec,
    "unsigned":$perPhase,
    "unsigned":$maxPhase,
    ArrayRefParameter<"unsigned">:$order,
    "::mlir::triton::gpu::CTALayoutAttr":$CTALayout
  );
  let builders = [
    // No swizzle at all, row-major.
    AttrBuilder<(ins "unsigned":$rank)>
  ];
}

def TTG_AMDRotatingSharedEncodingAttr
    : TTG_SharedEncoding<"AMDRotatingSharedEncoding", "amd_rotating_shared"> {
  let summary = "like swizzled_shared, with a phase that rotates by block of rows";
  let description = [{
    As `swizzled_shared`, but the phase of a row also depends on which block of
    `perPhase * maxPhase` rows it lies in:
    `phase = ((r / perPhase) mod maxPhase) xor ((r / perPhase / maxPhase) mod maxPhase)`.
    It serves transposed writes and plain reads of one buffer alike.

    Example:
    `#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>`
  }];
  let parameters = (ins
    "unsigned":$vec,
    "unsigned":$perPhase,
    "unsigned":$maxPhase,
    ArrayRefParameter<"unsigned">:$order,
    "::mlir::triton::gpu::CTALayoutAttr":$CTALayout
  );
}

def TTG_NVMMASharedEncodingAttr
    : TTG_SharedEncoding<"NVMMASharedEncoding", "nvmma_shared"> {
  let summary = "the layout that NVIDIA's wgmma, tcgen05 and TMA understand";
  let description = [{
    Rows of `swizzlingByteWidth` bytes (0, 32, 64 or 128) in groups of eight,
    with the 16-byte chunks of a row xored by its index in the group. A tensor
    with wider rows is cut into panels of that width. Without a swizzle panels
    of a matrix are 16 bytes wide, so that eight rows of one are 128 bytes without
    a gap: a core matrix of wgmma. With more dimensions, rows are whole.
    `transposed` means that the next-to-last dimension is the contiguous one. `fp4Padded` is for 4-bit
    elements, two in a byte, where TMA leaves 8 bytes unused after each 8.

    `rank` is printed where it is not 2 and `CGALayout` does not show it.

    Example:
    `#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>`
  }];
  let parameters = (ins
    "unsigned":$swizzlingByteWidth,
    "bool":$transposed,
    "unsigned":$elementBitWidth,
    "bool":$fp4Padded,
    "::mlir::triton::gpu::CTALayoutAttr":$CTALayout
  );
  let builders = [
    // The widest swizzle that the contiguous dimension of `shape` fills.
    // `order[0]` tells whether the layout is transposed.
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape,
                     "::llvm::ArrayRef<unsigned>":$order,
                     "::mlir::triton::gpu::CTALayoutAttr":$CTALayout,
                     "::mlir::Type":$elementType, "bool":$fp4Padded)>
  ];
  let extraClassDeclaration = [{
    /// Elements from one row of 8 to the next repeat of the swizzle pattern.
    unsigned getPerPhase() const {
      switch (getSwizzlingByteWidth()) {
      case 128: return 1;
      case 64: return 2;
      case 32: return 4;
      default: return 1;
      }
    }
    unsigned getMaxPhase() const {
      switch (getSwizzlingByteWidth()) {
      case 128: return 8;
      case 64: return 4;
      case 32: return 2;
      default: return 1;
      }
    }
    /// Elements in 16 bytes, the unit that the swizzle moves.
    unsigned getVec() const {
      return getSwizzlingByteWidth() == 0 ? 1 : 128 / getElementBitWidth();
    }
  }];
}

def TTG_PaddedSharedEncodingAttr
    : TTG_SharedEncoding<"PaddedSharedEncoding", "padded_shared"> {
  let summary = "a linear layout with gaps after every so many elements";
  let description = [{
    The offset that a linear layout gives, plus, for each pair
    `interval:+padding`, `padding` elements for every `interval` elements before
    it. Gaps break bank conflicts without a swizzle.

    The linear layout is printed as `order` and `shape` where it is the identity
    in that order, and by its bases otherwise.

    Examples:

    ```mlir
    #ttg.padded_shared<[256:+16] {order = [1, 0], shape = [64, 64]}>
    #ttg.padded_shared<[32:+4, 256:+16] {offset = [[0, 1], [1, 0], [0, 2]], block = []}>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"unsigned">:$intervals,
    ArrayRefParameter<"unsigned">:$paddings,
    TTG_LinearLayoutParam:$linearComponent
  );
  let builders = [
    // The identity over `shape` in `order`, for one block per cluster.
    AttrBuilder<(ins "::llvm::ArrayRef<std::pair<unsigned, unsigned>>":$intervalPads,
                     "::llvm::ArrayRef<unsigned>":$order,
                     "::llvm::ArrayRef<int64_t>":$shape)>
  ];
  let extraClassDeclaration = [{
    /// The size in elements of a buffer for `numElements`, gaps included and
    /// without one at the end.
    int64_t getPaddedSize(int64_t numElements) const;
  }];
}

def TTG_SharedLinearEncodingAttr
    : TTG_SharedEncoding<"SharedLinearEncoding", "shared_linear"> {
  let summary = "a linear layout from offsets to elements, spelled out";
  let description = [{
    For each bit of the offset (in elements) and of the block index, the
    coordinates that it adds by xor. `alignment` is in bytes. `block` is printed
    where a cluster has more than one block.

    Example:
    `#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 2]]}, alignment = 16>`
  }];
  let parameters = (ins
    TTG_LinearLayoutParam:$linearLayout,
    "unsigned":$layoutAlignment
  );
}

def TTG_PartitionedSharedEncodingAttr
    : TTG_SharedEncoding<"PartitionedSharedEncoding", "partitioned_shared"> {
  let summary = "pieces of a tensor in separate partitions of shared memory";
  let description = [{
    The tensor is cut along `partitionDim` into `numPartitions * numGroups`
    equal pieces, dealt in turn to `numPartitions` separate buffers; each piece
    has the layout `partitionLayout`.

    Example:

    ```mlir
    #ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0,
                             partitionLayout = #shared}>
    ```
  }];
  let parameters = (ins
    "unsigned":$numPartitions,
    "unsigned":$numGroups,
    "unsigned":$partitionDim,
    "::mlir::Attribute":$partitionLayout
  );
}

#endif // TILE_TRITONGPU_SHAREDENCODINGS_TD

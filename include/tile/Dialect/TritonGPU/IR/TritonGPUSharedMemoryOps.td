//===-- TritonGPUSharedMemoryOps.td - Buffers --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_SHAREDMEMORYOPS_TD
#define TILE_TRITONGPU_SHAREDMEMORYOPS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

def TTG_LocalAllocOp : TTG_Op<"local_alloc", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TT_LayoutInference<["getLayoutRole", "acceptsAnyLayout"]>]> {
  let summary = "a buffer in shared memory";
  let description = [{
    Allocates a buffer, and fills it with `src` if that is given. A buffer that
    is not mutable must be filled. `alignment`, in bytes, defaults to what the
    encoding asks for. The buffer lives until its last use, or until
    `ttg.local_dealloc`.

    Examples:

    ```mlir
    %0 = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %1 = ttg.local_alloc %t : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ```
  }];
  let arguments = (ins
    Arg<Optional<TT_Tensor>, "the initial contents">:$src,
    OptionalAttr<I32Attr>:$alignment
  );
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "($src^)? attr-dict `:` functional-type(operands, results)";
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result), [{
      build($_builder, $_state, result, ::mlir::Value(), ::mlir::IntegerAttr());
    }]>,
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$src), [{
      build($_builder, $_state, result, src, ::mlir::IntegerAttr());
    }]>
  ];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isSharedMemoryAlloc() {
      return ::mlir::isa_and_nonnull<SharedMemorySpaceAttr>(
          getType().getMemorySpace());
    }
    int32_t getAlignmentOrDefault();
  }];
}

def TTG_LocalDeallocOp : TTG_Op<"local_dealloc"> {
  let summary = "end the life of a buffer";
  let description = [{
    The memory may be used for another buffer after this point. Without it, a
    buffer lives until its last use.

    Example:

    ```mlir
    ttg.local_dealloc %0 : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTG_MemDescType, "", [MemFree<SharedMemory>]>:$src);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src))";
  let hasVerifier = 1;
}

def TTG_LocalLoadOp : TTG_Op<"local_load"> {
  let summary = "read a tensor from shared memory";
  let description = [{
    Reads all of `src` into registers. A `token` orders the read after the
    operation that made it (see `ttg.async_wait`).

    Example:

    ```mlir
    %t = ttg.local_load %0 token %1 : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    ```
  }];
  let arguments = (ins
    Arg<TTG_MemDescType, "", [MemRead<SharedMemory>]>:$src,
    Optional<TTG_AsyncToken>:$token
  );
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $src (`token` $token^)? attr-dict `:` qualified(type($src)) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$src), [{
      build($_builder, $_state, result, src, ::mlir::Value());
    }]>
  ];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TTG_LocalStoreOp : TTG_Op<"local_store", [
    TT_LayoutInference<["getLayoutRole", "acceptsAnyLayout"]>]> {
  let summary = "write a tensor to shared memory";
  let description = [{
    Writes `src` over all of `dst`, which must be mutable.

    Example:

    ```mlir
    ttg.local_store %t, %0 : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    TT_Tensor:$src,
    Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$dst
  );
  let assemblyFormat = [{
    $src `,` $dst attr-dict `:` type($src) `->` qualified(type($dst))
  }];
  let hasVerifier = 1;
}

def TTG_GlobalScratchAllocOp : TTG_Op<"global_scratch_alloc"> {
  let summary = "a buffer in global memory, one for each block";
  let description = [{
    `nbytes` bytes of global memory that belong to this block alone, aligned to
    `alignment` bytes. The pass `tritongpu-global-scratch-memory-allocation`
    gives each such operation its offset in the block's part, as the attribute
    `ttg.global_scratch_memory_offset`.

    Example:

    ```mlir
    %p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ```
  }];
  let arguments = (ins I32Attr:$nbytes, I32Attr:$alignment);
  let results = (outs Arg<TT_ScalarPtr, "", [MemAlloc<GlobalMemory>]>:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

#endif // TILE_TRITONGPU_SHAREDMEMORYOPS_TD

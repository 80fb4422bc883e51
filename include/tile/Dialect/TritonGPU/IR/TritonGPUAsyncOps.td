//===-- TritonGPUAsyncOps.td - Copies and barriers ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_ASYNCOPS_TD
#define TILE_TRITONGPU_ASYNCOPS_TD

include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

def TTG_AsyncCopyGlobalToLocalOp : TTG_Op<"async_copy_global_to_local", [
    AttrSizedOperandSegments, TTG_AsyncCopy<>,
    OptionalTypesMatchWith<
        "the mask has the shape and encoding of the pointers, and i1 elements",
        "src", "mask",
        "::mlir::triton::gpu::detail::getMaskType($_self)">,
    OptionalTypesMatchWith<
        "the other values have the type that the pointers point to",
        "src", "other",
        "::mlir::triton::gpu::detail::getPointeeTensorType($_self)">]> {
  let summary = "copy from global to shared memory in the background";
  let description = [{
    Starts to copy what the pointers `src` point to into `result`, a view of
    shared memory, without passing through registers. Where `mask` is false the
    element becomes `other`, or zero. The copy is finished after an
    `ttg.async_wait` on the group that `ttg.async_commit_group` puts it into.

    `contiguity` is the number of neighbouring elements, along the fastest
    dimension, that may be copied together although the pointers do not show it.

    Example:

    ```mlir
    %t = ttg.async_copy_global_to_local %p, %0 mask %m {contiguity = 8 : i32}
        : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TT_PtrTensor, "", [MemRead<GlobalMemory>]>:$src,
    Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$result,
    Optional<TT_BoolTensor>:$mask,
    Optional<TT_Tensor>:$other,
    DefaultValuedAttr<TT_CacheModifierAttr, "::mlir::triton::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<TT_EvictionPolicyAttr, "::mlir::triton::EvictionPolicy::NORMAL">:$evict,
    DefaultValuedAttr<BoolAttr, "false">:$isVolatile,
    DefaultValuedAttr<I32Attr, "1">:$contiguity
  );
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = [{
    $src `,` $result (`mask` $mask^)? (`other` $other^)?
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` type($src) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TTG_AsyncCommitGroupOp : TTG_Op<"async_commit_group"> {
  let summary = "close a group of asynchronous copies";
  let description = [{
    All asynchronous copies started since the previous group form a group.
    `inputTokens` are those of the copies; the result stands for the group.

    Example:

    ```mlir
    %g = ttg.async_commit_group tokens %t0, %t1
    ```
  }];
  let arguments = (ins Variadic<TTG_AsyncToken>:$inputTokens);
  let results = (outs TTG_AsyncToken:$asyncToken);
  let assemblyFormat = "(`tokens` $inputTokens^)? attr-dict";
}

def TTG_AsyncWaitOp : TTG_Op<"async_wait", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TTG_WaitsForCopies]> {
  let summary = "wait for groups of asynchronous copies";
  let description = [{
    Waits until at most `num` of the groups committed last are unfinished. Each
    thread waits for its own copies only: others may read the data after a
    barrier, which the compiler inserts.

    Example:

    ```mlir
    %w = ttg.async_wait %g0, %g1 {num = 2 : i32}
    ```
  }];
  let arguments = (ins Variadic<TTG_AsyncToken>:$asyncToken, I32Attr:$num);
  let results = (outs TTG_AsyncToken:$retToken);
  let assemblyFormat = "($asyncToken^)? attr-dict";
  let hasVerifier = 1;
}

def TTG_BarrierOp : TTG_Op<"barrier"> {
  let summary = "wait for all threads of a block";
  let description = [{
    The threads of the block (or of the partition, inside `ttg.warp_specialize`)
    wait for each other. Of the accesses to the memories that are named, those
    before the barrier are visible to all of these threads after it. `none`
    synchronises without ordering memory.

    Examples:

    ```mlir
    ttg.barrier local
    ttg.barrier global_read|global_write
    ttg.barrier all
    ```
  }];
  let arguments = (ins TTG_AddrSpaceAttr:$addrSpace);
  // The attribute prints a space before itself.
  let assemblyFormat = "`` $addrSpace attr-dict";
  let builders = [
    OpBuilder<(ins "::mlir::triton::gpu::AddrSpace":$addrSpace), [{
      build($_builder, $_state,
            AddrSpaceAttr::get($_builder.getContext(), addrSpace));
    }]>
  ];
  let extraClassDeclaration = [{
    bool hasLocal() {
      return bitEnumContainsAny(getAddrSpace(), AddrSpace::Local);
    }
    bool hasGlobalRead() {
      return bitEnumContainsAny(getAddrSpace(), AddrSpace::GlobalRead);
    }
    bool hasGlobalWrite() {
      return bitEnumContainsAny(getAddrSpace(), AddrSpace::GlobalWrite);
    }
    bool hasTensorRead() {
      return bitEnumContainsAny(getAddrSpace(), AddrSpace::TensorRead);
    }
    bool hasTensorWrite() {
      return bitEnumContainsAny(getAddrSpace(), AddrSpace::TensorWrite);
    }
  }];
}

#endif // TILE_TRITONGPU_ASYNCOPS_TD

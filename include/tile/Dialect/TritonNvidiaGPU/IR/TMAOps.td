//===-- TMAOps.td - Tensor memory accelerator --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_TMAOPS_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_TMAOPS_TD

include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUOpBase.td"

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def TTNG_AsyncTMACopyGlobalToLocalOp
    : TTNG_Op<"async_tma_copy_global_to_local", [
    AttrSizedOperandSegments, TTG_AsyncCopy<["arrivesAtBarrier"]>,
    TTG_BarrierUserOpInterface, TTG_PredicatedOpInterface]> {
  let summary = "Copy a box of a tensor to shared memory";
  let description = [{
    One thread starts the copy of the descriptor's block at `coord` (in elements,
    outermost first) to `result`. The bytes count towards the current phase of
    `barrier`, which a `barrier_expect` announced them to. What lies outside of the
    tensor is filled as the descriptor says. Nothing happens where `pred` is false.

    In a cluster each block copies what its buffer holds. With `multicast`, blocks
    whose buffers hold the same each read a part of it, for all of them. The bytes
    count towards the barrier of each block that gets them.

    With `offsets`, the copy is one of pixels: the im2col mode of TMA. It begins at
    the pixel at `coord`, and takes neighbours along the inner dimensions first,
    within the box that the descriptor has. `offsets`, one for each dimension
    between the first and the last, moves what is read, not where the walk turns.

    Example:

    ```mlir
    ttnvgpu.async_tma_copy_global_to_local %desc[%n, %h, %w, %c] offsets = [%r, %s] %buf, %bar, %pred : !ttnvgpu.tensordesc_im2col<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttnvgpu.async_tma_copy_global_to_local %desc[%x, %y] %buf, %bar, %pred : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_AnyTensorDesc, "descriptor", [MemRead<TTNG_GlobalMemory>]>:$desc,
    Variadic<I32>:$coord,
    Variadic<I16>:$offsets,
    Arg<TTNG_MemDesc, "barrier",
        [MemRead<TTNG_SharedMemory>, MemWrite<TTNG_SharedMemory>]>:$barrier,
    Arg<TTNG_MemDesc, "destination", [MemWrite<TTNG_SharedMemory>]>:$result,
    I1:$pred,
    UnitAttr:$multicast,
    DefaultValuedAttr<TT_CacheModifierAttr,
                      "::mlir::triton::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<TT_EvictionPolicyAttr,
                      "::mlir::triton::EvictionPolicy::NORMAL">:$evict,
    DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let builders = [
    // Of a block.
    OpBuilder<(ins "Value":$desc, "ValueRange":$coord, "Value":$barrier,
                   "Value":$result, "Value":$pred, "bool":$multicast,
                   "CacheModifier":$cache, "EvictionPolicy":$evict,
                   "bool":$isVolatile), [{
      build($_builder, $_state, desc, coord, /*offsets=*/ValueRange(), barrier,
            result, pred, multicast, cache, evict, isVolatile);
    }]>
  ];
  let assemblyFormat = [{
    $desc `[` $coord `]` (`offsets` `=` `[` $offsets^ `]`)?
    $result `,` $barrier `,` $pred
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` qualified(type($desc)) `,` qualified(type($barrier)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TTNG_AsyncTMACopyLocalToGlobalOp
    : TTNG_Op<"async_tma_copy_local_to_global"> {
  let summary = "Copy shared memory to a box of a tensor";
  let description = [{
    One thread starts the copy of `src` to the descriptor's block at `coord`. What
    lies outside of the tensor is not written. `async_tma_store_wait` waits for it,
    by its token, if it gives one, or by count.

    Example:

    ```mlir
    ttnvgpu.async_tma_copy_local_to_global %desc[%x, %y] %buf : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem>
    %t = ttnvgpu.async_tma_copy_local_to_global %desc[%x, %y] %buf : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.async.token
    ```
  }];
  let arguments = (ins
    Arg<TTNG_TensorDesc, "descriptor",
        [MemRead<TTNG_GlobalMemory>, MemWrite<TTNG_GlobalMemory>]>:$desc,
    Variadic<I32>:$coord,
    Arg<TTNG_MemDesc, "source", [MemRead<TTNG_SharedMemory>]>:$src);
  let results = (outs Optional<TTNG_Token>:$token);
  let assemblyFormat = [{
    $desc `[` $coord `]` $src attr-dict
    `:` qualified(type($desc)) `,` qualified(type($src)) (`->` type($token)^)?
  }];
  let hasVerifier = 1;
}

def TTNG_AsyncTMAReduceOp : TTNG_Op<"async_tma_reduce"> {
  let summary = "Combine shared memory into a box of a tensor";
  let description = [{
    As `async_tma_copy_local_to_global`, but each element in global memory is
    combined with the new one, atomically for each element.

    Example:

    ```mlir
    ttnvgpu.async_tma_reduce add, %desc[%x, %y] %buf : !tt.tensordesc<tensor<64x64xf32, #shared>>, !ttg.memdesc<64x64xf32, #shared, #smem>
    ```
  }];
  let arguments = (ins
    TT_DescriptorReduceKindAttr:$kind,
    Arg<TTNG_TensorDesc, "descriptor",
        [MemRead<TTNG_GlobalMemory>, MemWrite<TTNG_GlobalMemory>]>:$desc,
    Variadic<I32>:$coord,
    Arg<TTNG_MemDesc, "source", [MemRead<TTNG_SharedMemory>]>:$src);
  let results = (outs Optional<TTNG_Token>:$token);
  let assemblyFormat = [{
    $kind `,` $desc `[` $coord `]` $src attr-dict
    `:` qualified(type($desc)) `,` qualified(type($src)) (`->` type($token)^)?
  }];
  let hasVerifier = 1;
}

def TTNG_AsyncTMAGatherOp : TTNG_Op<"async_tma_gather", [
    TTG_AsyncCopy<["arrivesAtBarrier"]>, TTG_BarrierUserOpInterface,
    TTG_PredicatedOpInterface]> {
  let summary = "Copy chosen rows of a matrix to shared memory";
  let description = [{
    The descriptor's block is one row of a matrix. Row `i` of `result` becomes the
    row `x_offsets[i]` of the matrix, from column `y_offset` on. The bytes count
    towards `barrier`. Nothing happens where `pred` is false.

    Example:

    ```mlir
    ttnvgpu.async_tma_gather %desc[%rows, %y] %buf, %bar, %pred : !tt.tensordesc<tensor<1x64xf16, #shared>>, tensor<32xi32, #slice>, i32, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, i1
    ```
  }];
  let arguments = (ins
    Arg<TTNG_TensorDesc, "descriptor", [MemRead<TTNG_GlobalMemory>]>:$desc,
    TTNG_I32Tensor1D:$x_offsets,
    I32:$y_offset,
    Arg<TTNG_MemDesc, "barrier",
        [MemRead<TTNG_SharedMemory>, MemWrite<TTNG_SharedMemory>]>:$barrier,
    Arg<TTNG_MemDesc, "destination", [MemWrite<TTNG_SharedMemory>]>:$result,
    I1:$pred);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` $result `,` $barrier `,` $pred
    attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TTNG_AsyncTMAScatterOp : TTNG_Op<"async_tma_scatter"> {
  let summary = "Copy shared memory to chosen rows of a matrix";
  let description = [{
    The descriptor's block is one row of a matrix. Row `i` of `src` goes to the row
    `x_offsets[i]` of the matrix, from column `y_offset` on; negative rows and rows
    beyond the matrix are not written.

    Example:

    ```mlir
    ttnvgpu.async_tma_scatter %desc[%rows, %y] %buf : !tt.tensordesc<tensor<1x64xf16, #shared>>, tensor<32xi32, #slice>, i32, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_TensorDesc, "descriptor",
        [MemRead<TTNG_GlobalMemory>, MemWrite<TTNG_GlobalMemory>]>:$desc,
    TTNG_I32Tensor1D:$x_offsets,
    I32:$y_offset,
    Arg<TTNG_MemDesc, "source", [MemRead<TTNG_SharedMemory>]>:$src);
  let results = (outs Optional<TTNG_Token>:$token);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` $src attr-dict `:` type(operands)
    (`->` type($token)^)?
  }];
  let hasVerifier = 1;
}

def TTNG_AsyncTMAStoreWaitOp
    : TTNG_Op<"async_tma_store_wait", [TTG_WaitsForCopies]> {
  let summary = "Wait until TMA has read its sources";
  let description = [{
    Waits until at most `pendings` of the copies to global memory that were started
    here still read shared memory. Their sources may be overwritten then. With
    `complete`, waits until they have also written all that they write, where
    this block may read it.

    With `tokens`, those copies are what must be done. `pendings` follows from them
    then (`triton-nvidia-gpu-derive-wait-counts`), and a larger one is made right.

    Example:

    ```mlir
    ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    ttnvgpu.async_tma_store_wait {complete, pendings = 0 : i32}
    ttnvgpu.async_tma_store_wait %t {pendings = 1 : i32}
    ```
  }];
  let arguments = (ins Variadic<TTNG_Token>:$tokens,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$pendings,
                       UnitAttr:$complete);
  let assemblyFormat = "($tokens^)? attr-dict";
  let builders = [
    OpBuilder<(ins "uint32_t":$pendings, "bool":$complete), [{
      build($_builder, $_state, /*tokens=*/::mlir::ValueRange(), pendings,
            complete);
    }]>
  ];
  let hasCanonicalizeMethod = 1;
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

def TTNG_TensormapCreateOp
    : TTNG_Op<"tensormap_create", [
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<TTG_ScratchMemoryOpInterface>]> {
  let summary = "Write a tensor map to global memory";
  let description = [{
    Writes the 128 bytes of a tensor map to `desc_ptr`, which must be aligned to
    128. All lists start with the innermost dimension. `global_stride` is in bytes
    and leaves out the innermost dimension, which is contiguous.

    The attributes are codes of the hardware:

    | attribute | codes |
    |---|---|
    | `elem_type` | 0 u8, 1 u16, 2 u32, 3 s32, 4 u64, 5 s64. 6 f16, 7 f32, 8 f32 with denormals flushed, 9 f64, 10 bf16, 11 tf32, 12 tf32 with denormals flushed. 13 packed 4-bit in 8 bytes, 14 packed 4-bit in 16 bytes, 15 packed 6-bit in 16 bytes |
    | `interleave_layout` | 0 none, 1 16 bytes, 2 32 bytes |
    | `swizzle_mode` | 0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes |
    | `fill_mode` | 0 zero, 1 NaN |

    Example:

    ```mlir
    ttnvgpu.tensormap_create %p, %base, [%c64, %c64], [%n, %m], [%stride], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ```
  }];
  let arguments = (ins
    Arg<TTNG_Ptr, "tensor map",
        [MemRead<TTNG_GlobalMemory>, MemWrite<TTNG_GlobalMemory>]>:$desc_ptr,
    TTNG_Ptr:$global_address,
    Variadic<I32>:$box_dim,
    Variadic<I32>:$global_dim,
    Variadic<I64>:$global_stride,
    Variadic<I32>:$element_stride,
    ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<15>]>:$elem_type,
    ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$interleave_layout,
    ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<3>]>:$swizzle_mode,
    ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<1>]>:$fill_mode);
  let assemblyFormat = [{
    $desc_ptr `,` $global_address `,` `[` $box_dim `]` `,` `[` $global_dim `]`
    `,` `[` $global_stride `]` `,` `[` $element_stride `]` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TTNG_TensormapFenceproxyAcquireOp
    : TTNG_Op<"tensormap_fenceproxy_acquire"> {
  let summary = "Make a tensor map that was just written usable";
  let description = [{
    TMA reads tensor maps through a proxy of its own. After `tensormap_create` the
    threads that use the map have to acquire it through this fence.

    Example:

    ```mlir
    ttnvgpu.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_Ptr, "tensor map",
        [MemRead<TTNG_GlobalMemory>, MemWrite<TTNG_GlobalMemory>]>:$desc_ptr);
  let assemblyFormat = "$desc_ptr attr-dict `:` qualified(type($desc_ptr))";
}

def TTNG_ReinterpretTensorDescriptorOp
    : TTNG_Op<"reinterpret_tensor_descriptor", [
        Pure, DeclareOpInterfaceMethods<TTG_PointerSourceOpInterface>]> {
  let summary = "Use the address of a tensor map as a tensor descriptor";
  let description = [{
    Example:

    ```mlir
    %desc = ttnvgpu.reinterpret_tensor_descriptor %p : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #shared>>
    ```
  }];
  let arguments = (ins TTNG_Ptr:$rawDesc);
  let results = (outs TTNG_TensorDesc:$result);
  let assemblyFormat = [{
    $rawDesc attr-dict `:` qualified(type($rawDesc)) `to`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_TMAOPS_TD

//===-- TensorMemoryOps.td - Tensor memory -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_TENSORMEMORYOPS_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_TENSORMEMORYOPS_TD

include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUOpBase.td"

def TTNG_TMEMAllocOp : TTNG_Op<"tmem_alloc", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TTG_OnChipOnly]> {
  let summary = "Allocate tensor memory";
  let description = [{
    Allocates a buffer, and writes `src` to it where that is given. A buffer that
    is not `mutable` must have a `src`, and keeps its value. There is no release:
    the buffer lives as long as it is used. `triton-tensor-memory-allocation` sets
    the attributes `tensor_memory_col_offset` and `tensor_memory_row_offset`.

    The second result, if asked for, is a token that orders accesses of the buffer.

    Example:

    ```mlir
    %buf = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    %a, %token = ttnvgpu.tmem_alloc %x : (tensor<128x64xf16, #linear>) -> (!ttg.memdesc<128x64xf16, #tmem1, #ttnvgpu.tensor_memory>, !ttg.async.token)
    ```
  }];
  let arguments = (ins Optional<TTNG_Tensor>:$src);
  let results = (outs TTNG_MemDesc:$result, Optional<TTNG_Token>:$token);
  let assemblyFormat =
    "($src^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def TTNG_TMEMLoadOp : TTNG_Op<"tmem_load", [
    AttrSizedResultSegments, TTG_OnChipOnly]> {
  let summary = "Read tensor memory into registers";
  let description = [{
    Each warp of a group of four reaches one 32-lane window of tensor memory only.
    So the layout of the result must give it just the rows in that window.

    With `redOp` a last result holds the minimum or maximum of each row, of the
    absolute values where `abs` is true. A NaN in a row is passed over, or where
    `NaN` is true becomes the result; both attributes are for f32.

    Examples:

    ```mlir
    %x = ttnvgpu.tmem_load %buf : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32, #linear>
    %y, %t1 = ttnvgpu.tmem_load %buf[%t0] : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32, #linear>
    %z, %min = ttnvgpu.tmem_load %buf {NaN = true, abs = true, redOp = #ttnvgpu.redOp<min>} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> tensor<128x128xf32, #linear>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "source", [MemRead<TTNG_TensorMemory>]>:$src,
    Optional<TTNG_Token>:$dep,
    OptionalAttr<TTNG_RedOpAttr>:$redOp,
    DefaultValuedAttr<BoolAttr, "false">:$abs,
    DefaultValuedAttr<BoolAttr, "false">:$NaN);
  let results = (outs TTNG_Tensor:$result, Optional<TTNG_Token>:$token,
                      Optional<TTNG_Tensor>:$red);
  let assemblyFormat = [{
    $src `` custom<Token>($dep, type($token)) attr-dict
    `:` qualified(type($src)) `->` type($result) (`,` type($red)^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$src), [{
      build($_builder, $_state, result, /*token=*/::mlir::Type(),
            /*red=*/::mlir::Type(), src, /*dep=*/::mlir::Value(),
            /*redOp=*/RedOpAttr(), /*abs=*/false, /*NaN=*/false);
    }]>
  ];
  let hasVerifier = 1;
}

def TTNG_TMEMStoreOp : TTNG_Op<"tmem_store", [
    TTG_OnChipOnly, TTG_PredicatedOpInterface]> {
  let summary = "Write registers to tensor memory";
  let description = [{
    Nothing happens where `pred` is false. The layout of the source has to obey the
    same rule as the result of `tmem_load`.

    Example:

    ```mlir
    ttnvgpu.tmem_store %x, %buf, %pred : tensor<128x128xf32, #linear> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    %t1 = ttnvgpu.tmem_store %x, %buf[%t0], %pred : tensor<128x128xf32, #linear> -> !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "destination", [MemWrite<TTNG_TensorMemory>]>:$dst,
    Optional<TTNG_Token>:$dep,
    TTNG_Tensor:$src,
    I1:$pred);
  let results = (outs Optional<TTNG_Token>:$token);
  let assemblyFormat = [{
    $src `,` $dst `` custom<Token>($dep, type($token)) `,` $pred attr-dict
    `:` type($src) `->` qualified(type($dst))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$dst, "::mlir::Value":$src,
                   "::mlir::Value":$pred), [{
      build($_builder, $_state, /*token=*/::mlir::Type(), dst,
            /*dep=*/::mlir::Value(), src, pred);
    }]>
  ];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TTNG_TMEMCopyOp : TTNG_Op<"tmem_copy", [TTG_BarrierUserOpInterface]> {
  let summary = "Copy shared memory to tensor memory asynchronously";
  let description = [{
    One thread starts the copy; multiplications issued later see its result. Where a
    barrier is given, the copy arrives at it when done. Scales have to lie in shared
    memory tile by tile, as `tensor_memory_scales_encoding` says.

    Example:

    ```mlir
    ttnvgpu.tmem_copy %src, %dst, %bar : !ttg.memdesc<128x128xf32, #shared, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "source", [MemRead<TTNG_SharedMemory>]>:$src,
    Arg<TTNG_MemDesc, "destination", [MemWrite<TTNG_TensorMemory>]>:$dst,
    Optional<TTNG_MemDesc>:$barrier);
  let assemblyFormat = [{
    $src `,` $dst (`,` $barrier^)? attr-dict
    `:` qualified(type($src)) `,` qualified(type($dst))
    (`,` qualified(type($barrier))^)?
  }];
  let hasVerifier = 1;
}

def TTNG_TMEMSubsliceOp : TTNG_Op<"tmem_subslice", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "A part of a buffer in tensor memory";
  let description = [{
    The view of `src` that starts at element `offset` of dimension `dim` and is as
    large as the result type says. No data moves. Parts of a matrix have some of its
    columns (`dim = 1`, which need not be written), or some of its blocks of rows
    (`dim = 0`). A part of an array of buffers has some of the buffers (`dim = 0`).

    `N` is read as an older name of `offset`.

    Example:

    ```mlir
    %half = ttnvgpu.tmem_subslice %buf {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable> -> !ttg.memdesc<128x64xf32, #tmem1, #ttnvgpu.tensor_memory, mutable, 128x128>
    ```
  }];
  let arguments = (ins
    TTNG_MemDesc:$src,
    ConfinedAttr<I32Attr, [IntNonNegative]>:$offset,
    DefaultValuedAttr<I32Attr, "1">:$dim);
  let results = (outs TTNG_MemDesc:$result);
  let assemblyFormat = [{
    $src custom<TensorMemoryPart>(attr-dict) `:` qualified(type($src)) `->` qualified(type($result))
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_TENSORMEMORYOPS_TD

//===-- TritonNvidiaGPUAttrs.td - Tensor memory attributes -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_ATTRS_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUAttrInterfaces.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUDialect.td"

class TTNG_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<TritonNvidiaGPU_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def TTNG_RedOp : I32EnumAttr<"RedOp", "What a load reduces rows with", [
    I32EnumAttrCase<"MIN", 0, "min">,
    I32EnumAttrCase<"MAX", 1, "max">]> {
  let cppNamespace = "::mlir::triton::nvidia_gpu";
  let genSpecializedAttr = 0;
}

def TTNG_RedOpAttr : EnumAttr<TritonNvidiaGPU_Dialect, TTNG_RedOp, "redOp"> {
  let assemblyFormat = "`<` $value `>`";
}

def TTNG_TensorMemorySpaceAttr
    : TTNG_Attr<"TensorMemorySpace", "tensor_memory"> {
  let summary = "The memory space of tensor memory";
  let description = [{
    Marks a `!ttg.memdesc` that lives in tensor memory. Only `tmem_load`,
    `tmem_store`, `tmem_copy` and the tensor core reach it.

    Example:

    ```mlir
    !ttg.memdesc<128x128xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
    ```
  }];
}

def TTNG_TensorMemoryEncodingAttr
    : TTNG_Attr<"TensorMemoryEncoding", "tensor_memory_encoding", [
          DeclareAttrInterfaceMethods<LayoutEncodingTrait>]> {
  let summary = "How a matrix lies in tensor memory";
  let description = [{
    The last two dimensions of the memory descriptor, M x N, are cut into blocks
    of `blockM` x `blockN`. Row `m` of a block lies in one lane of tensor memory,
    its elements go along the columns, each 32 bits wide.

    * `blockM = 128`: row `m` is in lane `m`. Blocks follow each other along the
      columns, those of one row of blocks first.
    * `blockM = 64`: each of the four 32-lane windows takes 16 rows in its lower
      half. Where M has two or more blocks, the odd ones lie in the upper halves
      of the windows, at the columns of their even neighbours.

    `colStride` is the distance between neighbouring elements of a row, counted
    in elements: 1 packs them, `32 / bitwidth` gives each a column of its own.
    Outer dimensions of the descriptor (several buffers) follow each other along
    the columns.

    `CGALayout` says how the blocks of a cluster divide the matrix, as in other
    encodings: `[[1, 0]]` is two blocks along M, `[[0, 0]]` is two that have the
    same. `CTASplitM` and `CTASplitN` say it where the lower bits of a block's
    number count along M, and the upper bits along N. `twoCTAs` marks an
    accumulator of a two-block multiplication.

    `fp4Padded` is for an operand of 4-bit numbers beside one of 8 bits. The type
    counts bytes of two numbers along N, but each number takes a byte of its own, in
    bits 5 to 2. Such a buffer is a view of the bytes that a program has stored.

    Example:

    ```mlir
    #tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
    #tmem1 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CTASplitM = 2, twoCTAs = true>
    #tmem2 = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[0, 1], [1, 0]]>
    ```
  }];
  let parameters = (ins
    "unsigned":$blockM,
    "unsigned":$blockN,
    "unsigned":$colStride,
    "::mlir::triton::gpu::CTALayoutAttr":$CTALayout,
    DefaultValuedParameter<"bool", "false">:$twoCTAs,
    DefaultValuedParameter<"bool", "false">:$fp4Padded
  );
  // The last bits of a block's number are left out where they divide nothing.
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "unsigned":$blockM, "unsigned":$blockN,
                     "unsigned":$colStride,
                     "::mlir::triton::gpu::CTALayoutAttr":$CTALayout,
                     "bool":$twoCTAs, "bool":$fp4Padded), [{
      return $_get($_ctxt, blockM, blockN, colStride,
                   dropTrailingCopies(CTALayout), twoCTAs, fp4Padded);
    }]>
  ];
  let extraClassDeclaration = [{
    unsigned getCTASplitM() const { return getCTALayout().getCTASplitNum()[0]; }
    unsigned getCTASplitN() const { return getCTALayout().getCTASplitNum()[1]; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TTNG_TensorMemoryScalesEncodingAttr
    : TTNG_Attr<"TensorMemoryScalesEncoding", "tensor_memory_scales_encoding", [
          DeclareAttrInterfaceMethods<LayoutEncodingTrait>]> {
  let summary = "How the scales of a scaled multiplication lie in tensor memory";
  let description = [{
    Scales are 8 bits wide, and `CGALayout` divides them as it divides matrices. A tile of 32 rows x 4 scales takes 32 lanes and one
    column. It is repeated in the other three 32-lane windows, because each
    warp of the tensor core reads its own window. Tiles follow each other along
    the columns, those along the rows first.

    Example:

    ```mlir
    !ttg.memdesc<128x4xi8, #ttnvgpu.tensor_memory_scales_encoding<>, #ttnvgpu.tensor_memory>
    ```
  }];
  let parameters = (ins "::mlir::triton::gpu::CTALayoutAttr":$CTALayout);
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "::mlir::triton::gpu::CTALayoutAttr":$CTALayout), [{
      return $_get($_ctxt, dropTrailingCopies(CTALayout));
    }]>
  ];
  let extraClassDeclaration = [{
    unsigned getCTASplitM() const { return getCTALayout().getCTASplitNum()[0]; }
    unsigned getCTASplitN() const { return getCTALayout().getCTASplitNum()[1]; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_ATTRS_TD

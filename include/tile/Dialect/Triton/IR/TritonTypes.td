//===-- TritonTypes.td - Types of the tt dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONTYPES
#define TILE_DIALECT_TRITON_IR_TRITONTYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "tile/Dialect/Triton/IR/TritonDialect.td"

class TT_TypeDef<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Triton_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

//===----------------------------------------------------------------------===//
// Pointers and descriptors
//===----------------------------------------------------------------------===//

def TT_PointerType : TT_TypeDef<"Pointer", "ptr", [
    DeclareTypeInterfaceMethods<MemRefElementTypeInterface>]> {
  let summary = "Pointer to a scalar or to a block of memory";
  let description = [{
    Address of a value of the pointee type in the given address space; space 1
    (global memory) is the default and is not printed. A pointer to a tensor is
    a *block pointer*: a base address with shape, strides and offsets.

    ```mlir
    !tt.ptr<f32>
    !tt.ptr<f8E4M3FN>
    !tt.ptr<i8, 3>
    !tt.ptr<tensor<128x64xf16>>
    ```
  }];
  let parameters = (ins "Type":$pointeeType, "int":$addressSpace);
  let builders = [
    TypeBuilderWithInferredContext<(ins "Type":$pointeeType,
                                        CArg<"int", "1">:$addressSpace), [{
      return $_get(pointeeType.getContext(), pointeeType, addressSpace);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
}

def TT_TensorDescType : TT_TypeDef<"TensorDesc", "tensordesc"> {
  let summary = "Descriptor of a tensor in global memory";
  let description = [{
    Refers to a strided tensor in global memory of which the descriptor
    operations read and write blocks of the given type. In `ttg` the encoding of
    the block type tells how a block lies in shared memory. Integers may say
    whether they are signed, which matters to `tt.descriptor_reduce`; the tensors
    that are read and written have signless ones all the same.

    ```mlir
    !tt.tensordesc<tensor<128x64xf16>>
    !tt.tensordesc<tensor<128x64xui32>>
    ```
  }];
  let parameters = (ins "RankedTensorType":$blockType);
  let builders = [
    TypeBuilderWithInferredContext<(ins "RankedTensorType":$blockType), [{
      return $_get(blockType.getContext(), blockType);
    }]>
  ];
  // Reads the short form `!tt.tensordesc<128x64xf16>`, too.
  let assemblyFormat = "`<` custom<BlockType>($blockType) `>`";
  let skipDefaultBuilders = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The type of the elements in memory: signless.
    Type getElementType();
    /// What a load of a block yields before layouts are chosen: the block type
    /// without encoding and signedness.
    RankedTensorType getUnencodedBlockType() {
      return RankedTensorType::get(getBlockType().getShape(), getElementType());
    }
  }];
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

def TT_Float : AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2,
                          F8E5M2FNUZ, F16, BF16, F32, F64], "floating-point">;
def TT_Int : AnyTypeOf<[I1, I<4>, I8, I16, I32, I64], "integer">;
def TT_I32OrI64 : AnyTypeOf<[I32, I64], "32-bit or 64-bit integer">;

def TT_FloatTensor : RankedTensorOf<[TT_Float]>;
def TT_IntTensor : RankedTensorOf<[TT_Int]>;
def TT_BoolTensor : RankedTensorOf<[I1]>;
def TT_I32Tensor : RankedTensorOf<[I32]>;
def TT_I32OrI64Tensor : RankedTensorOf<[I32, I64]>;

def TT_FloatLike : AnyTypeOf<[TT_Float, TT_FloatTensor], "floating-point or tensor of them">;
def TT_IntLike : AnyTypeOf<[TT_Int, TT_IntTensor], "integer or tensor of them">;
def TT_BoolLike : AnyTypeOf<[I1, TT_BoolTensor], "1-bit integer or tensor of them">;
def TT_I32OrI64Like : AnyTypeOf<[TT_I32OrI64, TT_I32OrI64Tensor],
                                "32-bit or 64-bit integer or tensor of them">;

def TT_ScalarPtr : Type<And<[
    CPred<"::mlir::isa<::mlir::triton::PointerType>($_self)">,
    CPred<"!::mlir::isa<::mlir::RankedTensorType>("
          "::mlir::cast<::mlir::triton::PointerType>($_self).getPointeeType())">]>,
    "pointer to a scalar", "::mlir::triton::PointerType">;
def TT_BlockPtr : Type<And<[
    CPred<"::mlir::isa<::mlir::triton::PointerType>($_self)">,
    CPred<"::mlir::isa<::mlir::RankedTensorType>("
          "::mlir::cast<::mlir::triton::PointerType>($_self).getPointeeType())">]>,
    "block pointer (pointer to a tensor)", "::mlir::triton::PointerType">;
def TT_AnyPtr : Type<CPred<"::mlir::isa<::mlir::triton::PointerType>($_self)">,
    "pointer", "::mlir::triton::PointerType">;
def TT_PtrTensor : RankedTensorOf<[TT_ScalarPtr]>;
def TT_PtrLike : AnyTypeOf<[TT_ScalarPtr, TT_PtrTensor],
                           "pointer to a scalar or tensor of them">;
def TT_MemoryLike : AnyTypeOf<[TT_ScalarPtr, TT_PtrTensor, TT_BlockPtr],
                              "pointer, tensor of pointers or block pointer">;

def TT_FpIntTensor : RankedTensorOf<[TT_Float, TT_Int]>;
def TT_Tensor : RankedTensorOf<[TT_Float, TT_Int, TT_ScalarPtr]>;
def TT_Scalar : AnyTypeOf<[TT_Float, TT_Int, TT_ScalarPtr], "number or pointer">;
/// Anything that a kernel computes with; block pointers are no such thing.
def TT_Type : AnyTypeOf<[TT_FloatLike, TT_IntLike, TT_PtrLike],
                        "number, pointer or tensor of them">;

def TT_TensorDesc : Type<
    CPred<"::mlir::isa<::mlir::triton::TensorDescType>($_self)">,
    "tensor descriptor", "::mlir::triton::TensorDescType">;

#endif // TILE_DIALECT_TRITON_IR_TRITONTYPES

//===-- TritonOpBase.td - Base class of tt operations ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONOPBASE
#define TILE_DIALECT_TRITON_IR_TRITONOPBASE

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/Triton/IR/TritonDialect.td"
include "tile/Dialect/Triton/IR/TritonEnums.td"
include "tile/Dialect/Triton/IR/TritonInterfaces.td"
include "tile/Dialect/Triton/IR/TritonOpInterfaces.td"
include "tile/Dialect/Triton/IR/TritonTypes.td"

class TT_Op<string mnemonic, list<Trait> traits = []>
    : Op<Triton_Dialect, mnemonic,
         !listconcat(traits, [TensorSizeTrait, VerifyTensorLayoutsTrait])>;

/// An i32 attribute that reads as a signed number, unlike I32Attr.
def TT_I32Attr : TypedSignlessIntegerAttrBase<
    I32, "int32_t", "32-bit signless integer attribute">;

/// Infers the types of results from an `Adaptor`, and takes others in their
/// place whose layouts are other names of the same map.
def TT_InferTypesUpToLayout : InferTypeOpAdaptorBase<[{
  static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                      ::mlir::TypeRange actual) {
    return ::mlir::triton::areEquivalentTypes(inferred, actual);
  }
}]>;

def TT_CustomEffects : DeclareOpInterfaceMethods<MemoryEffectsOpInterface>;

#endif // TILE_DIALECT_TRITON_IR_TRITONOPBASE

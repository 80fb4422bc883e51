//===-- TritonInterfaces.td - Traits of tt operations ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONINTERFACES
#define TILE_DIALECT_TRITON_IR_TRITONINTERFACES

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class TT_NativeOpTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mlir::triton::OpTrait";
}

/// Tensors have a power of two of elements, and no more than 2^20 of them.
def TensorSizeTrait : TT_NativeOpTrait<"TensorSizeTrait">;
/// Asks the dialect of every tensor encoding whether it fits the operation.
def VerifyTensorLayoutsTrait : TT_NativeOpTrait<"VerifyTensorLayoutsTrait">;
/// All tensor operands (and results) carry the same encoding.
def SameOperandsEncoding : TT_NativeOpTrait<"SameOperandsEncoding">;
def SameOperandsAndResultEncoding
    : TT_NativeOpTrait<"SameOperandsAndResultEncoding">;
/// The same for memory operations, where a block pointer stands for its block.
def SameLoadStoreOperandsEncoding
    : TT_NativeOpTrait<"SameLoadStoreOperandsEncoding">;
def SameLoadStoreOperandsAndResultEncoding
    : TT_NativeOpTrait<"SameLoadStoreOperandsAndResultEncoding">;
def SameLoadStoreOperandsShape
    : TT_NativeOpTrait<"SameLoadStoreOperandsShape">;
def SameLoadStoreOperandsAndResultShape
    : TT_NativeOpTrait<"SameLoadStoreOperandsAndResultShape">;

/// What the memory operations of a kernel read and write.
def GlobalMemory : Resource<"::mlir::triton::GlobalMemory">;

#endif // TILE_DIALECT_TRITON_IR_TRITONINTERFACES

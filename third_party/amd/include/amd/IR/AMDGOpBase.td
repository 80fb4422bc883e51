//===-- AMDGOpBase.td - Base class of amdg operations ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGOPBASE
#define AMD_IR_AMDGOPBASE

include "amd/IR/AMDGDialect.td"
include "tile/Dialect/Triton/IR/TritonOpBase.td"

class AMDG_Op<string mnemonic, list<Trait> traits = []>
    : Op<AMDG_Dialect, mnemonic,
         !listconcat(traits, [TensorSizeTrait, VerifyTensorLayoutsTrait])>;

def AMDG_Tensor : Type<
    CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
    "ranked tensor", "::mlir::RankedTensorType">;

#endif // AMD_IR_AMDGOPBASE

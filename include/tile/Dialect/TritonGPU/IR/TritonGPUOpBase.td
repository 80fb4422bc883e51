//===-- TritonGPUOpBase.td - Base class of ttg operations --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_OPBASE_TD
#define TILE_TRITONGPU_OPBASE_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "tile/Dialect/Triton/IR/TritonEnums.td"
include "tile/Dialect/Triton/IR/TritonInterfaces.td"
include "tile/Dialect/Triton/IR/TritonOpInterfaces.td"
include "tile/Dialect/Triton/IR/TritonTypes.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUAttrs.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUDialect.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpInterfaces.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUTypes.td"

/// The memory that the threads of a block share.
def SharedMemory : Resource<"::mlir::triton::gpu::SharedMemory">;

class TTG_Op<string mnemonic, list<Trait> traits = []>
    : Op<TritonGPU_Dialect, mnemonic,
         !listconcat(traits, [TensorSizeTrait, VerifyTensorLayoutsTrait])>;

/// A view of a memory descriptor: no data moves.
class TTG_MemDescViewOp<string mnemonic, list<Trait> traits = []>
    : TTG_Op<mnemonic,
             !listconcat(traits, [
               Pure,
               DeclareOpInterfaceMethods<ViewLikeOpInterface>])> {
  let results = (outs TTG_MemDescType:$result);
  let hasVerifier = 1;
}

#endif // TILE_TRITONGPU_OPBASE_TD

//===-- TritonNvidiaGPUOpBase.td - Base class of the ops ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_OPBASE_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_OPBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "tile/Dialect/Triton/IR/TritonEnums.td"
include "tile/Dialect/Triton/IR/TritonInterfaces.td"
include "tile/Dialect/Triton/IR/TritonOpInterfaces.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpInterfaces.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUAttrs.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUDialect.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUInterfaces.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUTypes.td"

class TTNG_Op<string mnemonic, list<Trait> traits = []>
    : Op<TritonNvidiaGPU_Dialect, mnemonic,
         !listconcat(traits, [TensorSizeTrait, VerifyTensorLayoutsTrait,
                              TTG_OrdersMemory])>;

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_OPBASE_TD

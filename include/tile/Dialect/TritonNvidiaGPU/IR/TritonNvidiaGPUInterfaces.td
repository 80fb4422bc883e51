//===-- TritonNvidiaGPUInterfaces.td - MMAv5 interface -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_INTERFACES_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def TTNG_MMAv5OpInterface : OpInterface<"MMAv5OpInterface"> {
  let cppNamespace = "::mlir::triton::nvidia_gpu";
  let description = [{
    A multiplication on the fifth-generation tensor core: it accumulates into
    tensor memory, may run asynchronously, and then tells its completion to
    barriers. Pipelining and warp specialisation work on this interface and need
    not know whether the multiplication is scaled.
  }];

  let methods = [
    InterfaceMethod<"The left operand, in shared or tensor memory.",
      "::mlir::TypedValue<::mlir::triton::gpu::MemDescType>", "getLhs">,
    InterfaceMethod<"The right operand, in shared memory.",
      "::mlir::TypedValue<::mlir::triton::gpu::MemDescType>", "getRhs">,
    InterfaceMethod<"The accumulator, in tensor memory.",
      "::mlir::TypedValue<::mlir::triton::gpu::MemDescType>", "getAccumulator">,
    InterfaceMethod<"Replaces the accumulator.",
      "void", "setAccumulator", (ins "::mlir::Value":$accumulator)>,
    InterfaceMethod<"The flag: add to the accumulator (true) or overwrite it.",
      "::mlir::Value", "getUseAccumulator">,
    InterfaceMethod<"Replaces the flag that selects accumulation.",
      "void", "setUseAccumulator", (ins "::mlir::Value":$flag)>,
    InterfaceMethod<"The predicate of the whole operation.",
      "::mlir::Value", "getPredicate">,
    InterfaceMethod<"Replaces the predicate.",
      "void", "setPredicate", (ins "::mlir::Value":$predicate)>,
    InterfaceMethod<"The token of the last access of the accumulator, or null.",
      "::mlir::Value", "getAccumulatorDependency">,
    InterfaceMethod<"Sets the token of the last access of the accumulator; "
                    "a null value removes it.",
      "void", "setAccumulatorDependency", (ins "::mlir::Value":$token)>,
    InterfaceMethod<"The token that this operation produces, or null.",
      "::mlir::Value", "getAccumulatorToken">,
    InterfaceMethod<"The barriers that learn of completion.",
      "::mlir::OperandRange", "getCompletionBarriers">,
    InterfaceMethod<"One predicate for each barrier.",
      "::mlir::OperandRange", "getCompletionBarrierPredicates">,
    InterfaceMethod<"Adds a barrier that learns of completion when `predicate` "
                    "holds.",
      "void", "addCompletionBarrier",
      (ins "::mlir::Value":$barrier, "::mlir::Value":$predicate)>,
    InterfaceMethod<"Whether the operation returns before it is done.",
      "bool", "isAsync">,
    InterfaceMethod<"Chooses whether the operation returns before it is done.",
      "void", "setAsync", (ins "bool":$async)>,
    InterfaceMethod<"Whether two blocks of a cluster work together.",
      "bool", "usesTwoCTAs">
  ];
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_INTERFACES_TD

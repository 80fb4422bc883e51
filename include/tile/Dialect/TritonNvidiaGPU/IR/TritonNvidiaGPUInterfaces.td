//===-- TritonNvidiaGPUInterfaces.td - MMAv5 interface -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_INTERFACES_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"
include "tile/Dialect/Triton/IR/TritonOpInterfaces.td"

def TTNG_MMAv5OpInterface : OpInterface<"MMAv5OpInterface", [
    TT_MatrixProductOpInterface]> {
  let cppNamespace = "::mlir::triton::nvidia_gpu";
  let description = [{
    What a matrix product on the fifth-generation tensor core has beside
    `MatrixProductOpInterface`. It accumulates into tensor memory, in an order
    that tokens tell. It may run asynchronously, and then tells its completion to
    barriers. Passes need not know whether the multiplication is scaled.
  }];

  let methods = [
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
    InterfaceMethod<"One predicate for each barrier.",
      "::mlir::OperandRange", "getCompletionBarrierPredicates">,
    InterfaceMethod<"Adds a barrier that learns of completion when `predicate` "
                    "holds.",
      "void", "addCompletionBarrier",
      (ins "::mlir::Value":$barrier, "::mlir::Value":$predicate)>,
    InterfaceMethod<"Whether two blocks of a cluster work together.",
      "bool", "usesTwoCTAs">
  ];
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_INTERFACES_TD

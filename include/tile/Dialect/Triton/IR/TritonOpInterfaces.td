//===-- TritonOpInterfaces.td - What passes ask operations -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONOPINTERFACES
#define TILE_DIALECT_TRITON_IR_TRITONOPINTERFACES

include "mlir/IR/OpBase.td"

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def TT_MatrixProductOpInterface : OpInterface<"MatrixProductOpInterface"> {
  let cppNamespace = "::mlir::triton";
  let description = [{
    A matrix product that adds to an accumulator, whatever unit computes it.
    Operands that are tensors are in registers, all others are descriptors of
    memory. An accumulator in registers is followed by a result, the sum
    (`getProduct`); one in memory is updated where it is.

    An operation of a backend that implements this interface is known to
    `tritongpu-optimize-accumulator-init`, to the pipeliner and to the memory
    model.
  }];

  let methods = [
    InterfaceMethod<"The left operand.", "::mlir::Value", "getLhs">,
    InterfaceMethod<"The right operand.", "::mlir::Value", "getRhs">,
    InterfaceMethod<"All that is multiplied: the operands and what scales them.",
      "::llvm::SmallVector<::mlir::Value>", "getFactors", (ins), "",
      [{ return {$_op.getLhs(), $_op.getRhs()}; }]>,
    InterfaceMethod<"The accumulator.",
      "::mlir::OpOperand &", "getAccumulatorMutable">,
    InterfaceMethod<"The accumulator.",
      "::mlir::Value", "getAccumulator", (ins), "",
      [{ return $_op.getAccumulatorMutable().get(); }]>,
    InterfaceMethod<"The sum; null where the accumulator is in memory.",
      "::mlir::Value", "getProduct">,

    InterfaceMethod<"Whether the operation can be told to overwrite the "
                    "accumulator instead of adding to it.",
      "bool", "canOverwriteAccumulator", (ins), "", [{ return false; }]>,
    InterfaceMethod<"The flag: add to the accumulator (true) or overwrite it; "
                    "null where it is always added to.",
      "::mlir::Value", "getUseAccumulator", (ins), "",
      [{ return ::mlir::Value(); }]>,
    InterfaceMethod<"Sets the flag of an operation that can overwrite its "
                    "accumulator.",
      "void", "setUseAccumulator", (ins "::mlir::Value":$flag), "",
      [{ llvm_unreachable("this product always adds to its accumulator"); }]>,

    InterfaceMethod<"Whether the operation returns before it is done.",
      "bool", "isAsync", (ins), "", [{ return false; }]>,
    InterfaceMethod<"Chooses whether the operation returns before it is done.",
      "void", "setAsync", (ins "bool":$async), "",
      [{ assert(!async && "this product is always waited for"); }]>,
    InterfaceMethod<"Whether the operation, made asynchronous, can be waited "
                    "for by `createWait`.",
      "bool", "canWaitInOrder", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Creates the operation that waits until at most `pendings` of the
        products issued before it are unfinished. They finish in their order.
        The operation hands `values` on, which are sums to be read, or operands
        in use until then.
      }], "::mlir::Operation *", "createWait",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$values, "unsigned":$pendings), "",
      [{ llvm_unreachable("this product is not waited for in order"); }]>,
    InterfaceMethod<[{
        Whether products like this one finish in the order they are issued in,
        those that are asynchronous being waited for by count
        (`MatrixProductWaitOpInterface`).
      }], "bool", "isWaitedInOrder", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Whether all warps that execute the operation compute it as one: where
        any of them knows it done, none of them reads operands any more.
      }], "bool", "finishesForAllWarps", (ins), "", [{ return false; }]>,
    InterfaceMethod<"The barriers that learn of completion.",
      "::mlir::OperandRange", "getCompletionBarriers", (ins), "",
      [{ return $_op->getOperands().take_front(0); }]>
  ];
}

def TT_MatrixProductWaitOpInterface
    : OpInterface<"MatrixProductWaitOpInterface"> {
  let cppNamespace = "::mlir::triton";
  let description = [{
    Waits for asynchronous dots that finish in the order they are issued in
    (`isWaitedInOrder`). Each operand, a sum or what a dot reads, is handed
    on as the result of the same number.
  }];

  let methods = [
    InterfaceMethod<"How many of the products issued before it, the last ones, "
                    "may still be under way after it.",
      "unsigned", "getMaxPendings">
  ];
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

def TT_LayoutInferenceOpInterface : OpInterface<"LayoutInferenceOpInterface"> {
  let cppNamespace = "::mlir::triton";
  let description = [{
    How an operation relates the layouts (encodings) of its operands and
    results. Without it, elementwise operations are flexible and hand the layout
    of their operands on, constants are free, and all others are anchors, or
    neutral if they have regions.
  }];

  let methods = [
    InterfaceMethod<"What the operation means to the choice of layouts.",
      "::mlir::triton::LayoutRole", "getLayoutRole", (ins), "",
      [{ return ::mlir::triton::LayoutRole::Flexible; }]>,
    InterfaceMethod<"Whether `operand` may have any layout, whatever the "
                    "results have.",
      "bool", "acceptsAnyLayout", (ins "::mlir::OpOperand &":$operand), "",
      [{ return false; }]>,
    InterfaceMethod<[{
        The layout of `result` where the operands that bear on it have
        `operandLayout`. A failure has emitted an error if there is a location.
      }], "::llvm::FailureOr<::mlir::Attribute>", "inferResultLayout",
      (ins "::mlir::OpResult":$result, "::mlir::Attribute":$operandLayout,
           "std::optional<::mlir::Location>":$loc), "",
      [{ return operandLayout; }]>,
    InterfaceMethod<[{
        A layout of the operands from which `result` may get `resultLayout`:
        whether it does, `inferResultLayout` knows.
      }], "::llvm::FailureOr<::mlir::Attribute>", "inferOperandLayout",
      (ins "::mlir::OpResult":$result, "::mlir::Attribute":$resultLayout,
           "std::optional<::mlir::Location>":$loc), "",
      [{ return resultLayout; }]>,
    InterfaceMethod<[{
        Which side keeps the default layout of its shape when tensors get their
        first layouts: the result, which the operands are converted for, or the
        operand, from which that of the result follows.
      }], "bool", "keepsDefaultResultLayout", (ins), "", [{ return false; }]>
  ];
}

//===----------------------------------------------------------------------===//
// For lists of traits: operations implement, beside the methods without a
// default, those in `methods`.
//===----------------------------------------------------------------------===//

class TT_MatrixProduct<list<string> methods = []>
    : DeclareOpInterfaceMethods<TT_MatrixProductOpInterface, methods>;
class TT_LayoutInference<list<string> methods = []>
    : DeclareOpInterfaceMethods<TT_LayoutInferenceOpInterface, methods>;

#endif // TILE_DIALECT_TRITON_IR_TRITONOPINTERFACES

//===-- DebugOps.td - What a debugger asks of a kernel -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_DEBUG_IR_DEBUGOPS_TD
#define TILE_DIALECT_DEBUG_IR_DEBUGOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/Triton/IR/TritonInterfaces.td"
include "tile/Dialect/Triton/IR/TritonOpInterfaces.td"

def Debug_Dialect : Dialect {
  let name = "debug";
  let cppNamespace = "::mlir::triton::debug";
  let summary = "Statements and variables of the source, for a debugger";
  let description = [{
    A kernel that is compiled for the debugger says where statements begin, and
    which value a variable gets. The front end writes these operations. They
    travel through all stages as they are. The lowering makes a line of assembly
    of each, which names the registers that hold the value.
  }];
}

// No other operation reads or writes it, so nothing else is ordered. The
// operations keep their order among themselves.
def Debug_Marks : Resource<"::mlir::triton::debug::Marks">;

class Debug_Op<string mnemonic, list<Trait> traits = []>
    : Op<Debug_Dialect, mnemonic,
         !listconcat([MemoryEffects<[MemWrite<Debug_Marks>]>], traits)>;

def Debug_StatementOp : Debug_Op<"statement"> {
  let summary = "Say that a statement begins";
  let description = [{
    The place of the operation is the statement. With `enter`, a function begins
    here, and its variables have no values yet.

    Example:
    ```mlir
    debug.statement
    debug.statement enter "softmax"
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$function);
  let assemblyFormat = "(`enter` $function^)? attr-dict";
}

def Debug_ConstantOp : Debug_Op<"constant"> {
  let summary = "Say that a variable is a constant from here on";
  let description = [{
    Example:
    ```mlir
    debug.constant "BLOCK" = "256"
    ```
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$text);
  let assemblyFormat = "$name `=` $text attr-dict";
}

def Debug_ValueOp : Debug_Op<"value", [
    TensorSizeTrait, VerifyTensorLayoutsTrait,
    TT_LayoutInference<["getLayoutRole", "acceptsAnyLayout"]>]> {
  let summary = "Say which value a variable has from here on";
  let description = [{
    The value may have any layout. `type` is how the language calls the type of
    its elements. With `mask`, the value tells which elements of the variable a
    load did read.

    Example:
    ```mlir
    debug.value "x" "fp32" = %0 : tensor<64xf32>
    debug.value mask "x" "int1" = %1 : tensor<64xi1>
    ```
  }];
  let arguments = (ins UnitAttr:$mask, StrAttr:$name, StrAttr:$type,
                       AnyType:$value);
  let assemblyFormat =
      "(`mask` $mask^)? $name $type `=` $value attr-dict `:` type($value)";
}

#endif // TILE_DIALECT_DEBUG_IR_DEBUGOPS_TD

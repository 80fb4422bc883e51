//===-- TritonDebugOps.td - Assertions and prints ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONDEBUGOPS
#define TILE_DIALECT_TRITON_IR_TRITONDEBUGOPS

include "tile/Dialect/Triton/IR/TritonOpBase.td"

def TT_AssertOp : TT_Op<"assert", [
    TT_CustomEffects,
    TT_LayoutInference<["getLayoutRole", "acceptsAnyLayout"]>]> {
  let summary = "Check at run time";
  let description = [{
    Stops the kernel with `message` if any element of the condition is false.

    Example:

    ```mlir
    tt.assert %in_range, "index out of range" : tensor<64xi1>
    ```
  }];
  let arguments = (ins TT_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasCanonicalizer = 1;
}

def TT_PrintOp : TT_Op<"print", [
    TT_CustomEffects,
    TT_LayoutInference<["getLayoutRole", "acceptsAnyLayout"]>]> {
  let summary = "Print at run time";
  let description = [{
    Every program prints `prefix` and the elements of the operands, as unsigned
    hexadecimal numbers if `hex`. `isSigned` tells for each operand whether its
    integers are signed.

    Example:

    ```mlir
    tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<64xi32>
    ```
  }];
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<TT_Type>:$args,
                       DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = [{
    $prefix attr-dict (`:` $args^ `:` type($args))?
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITON_IR_TRITONDEBUGOPS

//===-- TritonInlineOps.td - Foreign code --------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRITONINLINEOPS
#define TILE_DIALECT_TRITON_IR_TRITONINLINEOPS

include "tile/Dialect/Triton/IR/TritonOpBase.td"

def TT_ExternElementwiseOp : TT_Op<"extern_elementwise", [
    Elementwise, SameOperandsAndResultShape, SameOperandsAndResultEncoding,
    TT_CustomEffects, DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "Function of a device library applied to every element";
  let description = [{
    Calls `symbol` of the library `libname` (found at `libpath`, if that is not
    empty) on corresponding elements of the operands. Unless `pure`, a call may
    have effects and is kept.

    Example:

    ```mlir
    %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<TT_Type>:$srcs, StrAttr:$libname,
                       StrAttr:$libpath, StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs TT_Type:$result);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, $result)
  }];
}

def TT_ElementwiseInlineAsmOp : TT_Op<"elementwise_inline_asm", [
    Elementwise, SameOperandsAndResultEncoding, TT_CustomEffects,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "Assembly applied to every element";
  let description = [{
    Runs the assembly on `packed_element` elements of each operand at a time;
    elements narrower than 32 bits share registers. `constraints` are those of
    LLVM's inline assembly, results first. Unless `pure`, it may have effects and
    is kept.

    Example:

    ```mlir
    %0 = tt.elementwise_inline_asm "shf.l.wrap.b32 $0, $1, $1, 7;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<256xi32> -> tensor<256xi32>
    ```
  }];
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure,
                       TT_I32Attr:$packed_element, Variadic<TT_Type>:$args);
  let results = (outs Variadic<TT_Type>:$result);
  let assemblyFormat = [{
    $asm_string attr-dict ($args^ `:` type($args))? `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TRITON_IR_TRITONINLINEOPS

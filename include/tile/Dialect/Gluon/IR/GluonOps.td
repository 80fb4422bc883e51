//===-- GluonOps.td - Operations of the gluon dialect ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_GLUON_IR_OPS_TD
#define TILE_DIALECT_GLUON_IR_OPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/Gluon/IR/GluonDialect.td"

def Gluon_SetAutoLayoutOp : Op<Gluon_Dialect, "set_auto_layout", [
    Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "Say what an open layout is";
  let description = [{
    The source has the encoding `auto_encoding`; it becomes that of the result.

    Example:

    ```mlir
    %y = gluon.set_auto_layout %x : tensor<128xf32, #gluon.auto_encoding> -> tensor<128xf32, #blocked>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$src);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat =
    "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_GLUON_IR_OPS_TD

//===-- TritonInstrumentDialect.td - Sanitizers in kernels -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONINSTRUMENT_IR_TRITONINSTRUMENTDIALECT_TD
#define TILE_DIALECT_TRITONINSTRUMENT_IR_TRITONINSTRUMENTDIALECT_TD

include "mlir/IR/OpBase.td"

def TritonInstrument_Dialect : Dialect {
  let name = "tti";
  let cppNamespace = "::mlir::triton::instrument";
  let summary = "What sanitizers leave in kernels";
  let description = [{
    The passes `tritoninstrument-*` put checks into kernels, as operations of other
    dialects. This one has the attributes by which a launcher knows that they did.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // TILE_DIALECT_TRITONINSTRUMENT_IR_TRITONINSTRUMENTDIALECT_TD

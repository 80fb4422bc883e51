//===-- GluonDialect.td - The gluon dialect ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_GLUON_IR_DIALECT_TD
#define TILE_DIALECT_GLUON_IR_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Gluon_Dialect : Dialect {
  let name = "gluon";
  let cppNamespace = "::mlir::triton::gluon";
  let summary = "Layouts that are still to be inferred";
  let description = [{
    Kernels with explicit layouts may leave some of them open. The two encodings
    here stand for such a layout; every operation of `tt` hands them on as they are.

    The front end of such kernels makes them. `gluon-infer-coalesced-encodings` and
    `gluon-resolve-auto-encodings` replace them by layouts.
  }];
  let dependentDialects = ["::mlir::triton::TritonDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

class Gluon_Attr<string name, string attrMnemonic>
    : AttrDef<Gluon_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Gluon_AutoEncodingAttr : Gluon_Attr<"AutoEncoding", "auto_encoding"> {
  let summary = "A layout that follows from those around it";
  let description = "Example: `tensor<128xf32, #gluon.auto_encoding>`";
}

def Gluon_CoalescedEncodingAttr
    : Gluon_Attr<"CoalescedEncoding", "coalesced_encoding"> {
  let summary = "A layout that suits the memory access it is for";
  let description = "Example: `tensor<128xf32, #gluon.coalesced_encoding>`";
}

#endif // TILE_DIALECT_GLUON_IR_DIALECT_TD

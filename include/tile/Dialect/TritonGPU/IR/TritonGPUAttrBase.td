//===-- TritonGPUAttrBase.td - Common parts ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_ATTRBASE_TD
#define TILE_TRITONGPU_ATTRBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUDialect.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUAttrInterfaces.td"

class TTG_Attr<string cppName, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<TritonGPU_Dialect, cppName, traits> {
  let mnemonic = attrMnemonic;
}

/// An encoding: printed and parsed by hand, because keys that hold their
/// default are left out, and always verified.
class TTG_Encoding<string cppName, string attrMnemonic, list<Trait> traits = []>
    : TTG_Attr<cppName, attrMnemonic, traits> {
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class TTG_DistributedEncoding<string cppName, string attrMnemonic,
                              list<Trait> traits = []>
    : TTG_Encoding<cppName, attrMnemonic,
                   !listconcat([DeclareAttrInterfaceMethods<LayoutEncodingTrait>,
                                DeclareAttrInterfaceMethods<DistributedEncodingTrait>],
                               traits)>;

class TTG_SharedEncoding<string cppName, string attrMnemonic,
                         list<Trait> traits = []>
    : TTG_Encoding<cppName, attrMnemonic,
                   !listconcat([DeclareAttrInterfaceMethods<LayoutEncodingTrait>,
                                DeclareAttrInterfaceMethods<SharedEncodingTrait>],
                               traits)>;

/// A LinearLayout stored in an attribute. It owns heap memory; the uniquer runs
/// destructors of attribute storages that need it.
def TTG_LinearLayoutParam : AttrParameter<"::mlir::triton::LinearLayout",
                                          "the linear layout"> {
  let cppAccessorType = "const ::mlir::triton::LinearLayout &";
}

#endif // TILE_TRITONGPU_ATTRBASE_TD

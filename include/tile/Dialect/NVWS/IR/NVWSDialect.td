//===-- NVWSDialect.td - The nvws dialect ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_NVWS_IR_DIALECT_TD
#define TILE_DIALECT_NVWS_IR_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def NVWS_Dialect : Dialect {
  let name = "nvws";
  let cppNamespace = "::mlir::triton::nvws";
  let summary = "Partitions of warps and the rings between them";
  let description = [{
    A loop that is divided among partitions of warps, on the way from one loop to
    `ttg.warp_specialize`. What one partition produces and others consume goes
    through an asynchronous reference (`aref`), a ring of buffers. `put.enter` and
    `get.enter` wait until a buffer is empty or full. `put.exit` and `get.exit` say
    that it is full or empty. Tokens are the same at a lower level, without the
    buffers.

    Passes make rings where operations say their partitions (`nvws-insert-aref`,
    `nvws-insert-tmem-aref`), and lower them (`nvws-lower-aref`,
    `nvws-lower-warp-group`). The stages of a compile do not use them.
  }];

  let dependentDialects = [
    "::mlir::triton::TritonDialect",
    "::mlir::triton::gpu::TritonGPUDialect"
  ];

  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class NVWS_Type<string name, string typeMnemonic>
    : TypeDef<NVWS_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def NVWS_ArefType : NVWS_Type<"Aref", "aref"> {
  let summary = "A ring of buffers between partitions";
  let description = [{
    The types are those of the buffers; their first dimension counts the slots.

    Example: `!nvws.aref<[!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>]>`
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` `[` $types `]` `>`";
}

def NVWS_TokenType : NVWS_Type<"Token", "token"> {
  let summary = "The state of one slot of a ring: full or empty";
  let description = "Example: `tensor<3x!nvws.token>`";
}

def NVWS_AsyncOp : I32EnumAttr<"AsyncOp", "What ends an access asynchronously", [
    I32EnumAttrCase<"NONE", 0, "none">,
    I32EnumAttrCase<"TMALoad", 1, "tma_load">,
    I32EnumAttrCase<"TC5MMA", 2, "tc5mma">,
    I32EnumAttrCase<"TMEMCopy", 3, "tmem_copy">,
    I32EnumAttrCase<"CpAsync", 4, "cp_async">,
    I32EnumAttrCase<"WGMMA", 5, "wgmma">,
    I32EnumAttrCase<"CLC", 6, "clc">]> {
  let cppNamespace = "::mlir::triton::nvws";
  let genSpecializedAttr = 0;
}

def NVWS_AsyncOpAttr : EnumAttr<NVWS_Dialect, NVWS_AsyncOp, "async_op"> {
  let assemblyFormat = "`<` $value `>`";
}

def NVWS_AsyncOpArrayAttr
    : TypedArrayAttrBase<NVWS_AsyncOpAttr, "kinds of asynchronous operations">;

#endif // TILE_DIALECT_NVWS_IR_DIALECT_TD

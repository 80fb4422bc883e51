//===-- AMDGAttrs.td - Attributes of the amdg dialect ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGATTRS
#define AMD_IR_AMDGATTRS

include "amd/IR/AMDGDialect.td"
include "mlir/IR/EnumAttr.td"

def AMDG_SchedHint : I32EnumAttr<"SchedHint", "Kinds of loops", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"attention", 1>,
    I32EnumAttrCase<"memory_bound_attention", 2, "memory-bound-attention">]> {
  let cppNamespace = "::mlir::triton::amdgpu";
  let genSpecializedAttr = 0;
}

def AMDG_SchedHintAttr : EnumAttr<AMDG_Dialect, AMDG_SchedHint, "SchedHintVariant"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // AMD_IR_AMDGATTRS

//===-- AMDGDialect.td - The amdg dialect ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGDIALECT
#define AMD_IR_AMDGDIALECT

include "mlir/IR/OpBase.td"

def AMDG_Dialect : Dialect {
  let name = "amdg";
  let cppNamespace = "::mlir::triton::amdgpu";
  let summary = "What AMD GPUs have beyond ttg";
  let description = [{
    Accesses to memory through buffer descriptors, which check bounds; operations
    that move elements between the registers of a thread; and what steers the
    scheduler.
  }];
  let dependentDialects = [
    "::mlir::triton::TritonDialect",
    "::mlir::triton::gpu::TritonGPUDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // AMD_IR_AMDGDIALECT

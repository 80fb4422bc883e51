//===-- AMDGOps.td - All operations of amdg ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGOPS
#define AMD_IR_AMDGOPS

include "amd/IR/AMDGAsyncOps.td"
include "amd/IR/AMDGBarrierOps.td"
include "amd/IR/AMDGBufferOps.td"
include "amd/IR/AMDGConversionOps.td"
include "amd/IR/AMDGRegisterOps.td"
include "amd/IR/AMDGSchedulingOps.td"
include "amd/IR/AMDGTensorOps.td"

#endif // AMD_IR_AMDGOPS

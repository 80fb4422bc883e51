//===-- ProtonOps.td - Records of the profiler in kernels --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_PROTON_IR_PROTONOPS_TD
#define TILE_DIALECT_PROTON_IR_PROTONOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Proton_Dialect : Dialect {
  let name = "proton";
  let cppNamespace = "::mlir::triton::proton";
  let summary = "Records of the profiler in kernels";
  let description = [{
    A kernel that is profiled records when its warps come to the beginning and to
    the end of a scope. The operation travels through all stages as it is. The last
    pass of `ttg` in the LLVM dialect makes instructions of it, when it is known
    which warps there are and how much shared memory is left.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

// No other operation reads or writes it, so a record orders nothing else.
def Proton_Records : Resource<"::mlir::triton::proton::Records">;

def Proton_RecordOp
    : Op<Proton_Dialect, "record", [MemoryEffects<[MemWrite<Proton_Records>]>]> {
  let summary = "Record that a scope begins or ends";
  let description = [{
    Each warp that records writes which record this is, and what its clock says.
    The place of the operation is the source line of the scope.

    An `event` may begin in one group of warps and end in another one, or in a later
    iteration. The first beginning belongs to the first end, and so on.

    Example:
    ```mlir
    proton.record start "load"
    %0 = tt.load %p : tensor<64x!tt.ptr<f32>>
    proton.record end "load"
    proton.record event start "copy"
    ```
  }];
  let arguments = (ins UnitAttr:$isEvent, UnitAttr:$isStart, StrAttr:$name);
  let assemblyFormat = "(`event` $isEvent^)? (`start` $isStart^):(`end`)? $name attr-dict";
}

#endif // TILE_DIALECT_PROTON_IR_PROTONOPS_TD

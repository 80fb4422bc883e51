//===-- AMDGSchedulingOps.td - What steers the scheduler ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGSCHEDULINGOPS
#define AMD_IR_AMDGSCHEDULINGOPS

include "amd/IR/AMDGAttrs.td"
include "amd/IR/AMDGOpBase.td"

def AMDG_InstructionSchedHintOp : AMDG_Op<"instruction_sched_hint"> {
  let summary = "How LLVM schedules the instructions of a block";
  let description = [{
    With any hint but `none`, no instruction is scheduled across this place and
    across the end of the block. `attention` has LLVM interleave the matrix
    instructions of the block with the exponentials between them.

    Example:

    ```mlir
    amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
    ```
  }];
  let arguments = (ins AMDG_SchedHintAttr:$variant);
  let assemblyFormat = "attr-dict";
}

def AMDG_CondBarrierOp : AMDG_Op<"cond_barrier"> {
  let summary = "A barrier that some waves come to";
  let description = [{
    Waves in which the predicate is true come to the barrier once more than the
    others, which holds them back by one phase. `pred` is the same in all lanes
    of a wave. A second one, with the opposite predicate, evens it out.

    Example:

    ```mlir
    amdg.cond_barrier %isSecondGroup
    ```
  }];
  let arguments = (ins I1:$pred);
  let assemblyFormat = "$pred attr-dict";
}

#endif // AMD_IR_AMDGSCHEDULINGOPS

//===-- Passes.td - Passes of the AMD backend --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTOLLVM_PASSES
#define AMD_TRITONAMDGPUTOLLVM_PASSES

include "mlir/Pass/PassBase.td"
include "tile/Conversion/ProtonToLLVM/RecordOptions.td"

def CheckTargetAMD : Pass<"check-target-amd", "mlir::ModuleOp"> {
  let summary = "Refuse targets that the table of AMD GPUs does not have";
  let description = [{
    An error that names the known targets, unless `ttg.target` of the module is
    one of them. What follows would find no facts about another machine.

    ```mlir
    module attributes {ttg.target = "hip:gfx77", ...} // error: unknown target
    ```
  }];
}

def TritonAMDGPUUpdateAsyncWaitCount
    : Pass<"tritonamdgpu-update-async-wait-count", "mlir::ModuleOp"> {
  let summary = "Have waits for copies count instructions";
  let description = [{
    The machine counts instructions that load into LDS, not groups of copies. A
    wait for the groups that its tokens stand for may leave under way what was
    started behind them on every path, through loops that hand tokens on. A wait
    without tokens leaves what the last `num` groups surely have. Where a token
    cannot be traced, nothing is left. Copies that may go through registers count
    as none; those that are counted keep their instructions (`amdg.direct_vector`).

    ```mlir
    %w = ttg.async_wait %a, %b {num = 2 : i32}
    ```
    becomes, where the copies since take 6 instructions,
    ```mlir
    %w = amdg.async_wait %a, %b {num_inst = 6 : i32}
    ```
  }];
  let dependentDialects = ["mlir::triton::amdgpu::AMDGDialect"];
  let options = [
    Option<"archGenerationName", "arch-generation-name", "std::string",
           "\"\"", "As in gfx950; empty takes it from ttg.target">,
    Option<"gfxArch", "gfx-arch", "std::string", "\"\"",
           "Another name of arch-generation-name">
  ];
  let statistics = [
    Statistic<"numWaits", "num-waits", "Waits that count instructions">
  ];
}

def ConvertTritonAMDGPUToLLVM
    : Pass<"convert-triton-amdgpu-to-llvm", "mlir::ModuleOp"> {
  let summary = "Lower tt and ttg to the LLVM and ROCDL dialects";
  let description = [{
    Turns every tensor into the registers that its layout gives to a thread.
    Structured control flow must be gone (`convert-scf-to-cf`), shared memory
    allocated (`allocate-shared-memory`), and the barriers between accesses to
    it must be there (`insert-memory-barriers`).

    ```mlir
    %0 = arith.addf %a, %b : tensor<128xf32, #blocked>
    ```
    becomes, where a thread holds two elements, two `llvm.fadd`.
  }];
  let dependentDialects = [
    "mlir::LLVM::LLVMDialect", "mlir::ROCDL::ROCDLDialect",
    "mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect"
  ];
  let options = [
    Option<"arch", "arch", "std::string", "\"\"",
           "As in gfx942; empty takes it from ttg.target">,
    Option<"gfxArch", "gfx-arch", "std::string", "\"\"",
           "Another name of arch">,
    Option<"ftz", "ftz", "bool", "true",
           "Left alone: functions say what becomes of subnormal numbers">
  ];
}

def LowerInstructionSchedHints
    : Pass<"triton-amdgpu-lower-insert-instruction-sched-hints",
           "mlir::ModuleOp"> {
  let summary = "Tell LLVM how to schedule blocks with a hint";
  let description = [{
    No instruction is scheduled across the hint, nor across the end of its block;
    with `attention`, LLVM interleaves matrix instructions with the exponentials
    between them.

    ```mlir
    amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
    ...
    cf.br ^next
    ```
    becomes
    ```mlir
    rocdl.sched.barrier 0
    ...
    rocdl.iglp.opt 2
    rocdl.sched.barrier 0
    cf.br ^next
    ```
  }];
  let dependentDialects = ["mlir::ROCDL::ROCDLDialect"];
  let options = [
    Option<"arch", "arch", "std::string", "\"\"",
           "Left alone: ttg.target says what the machine has">,
    Option<"numStages", "num_stages", "int32_t", "2",
           "Left alone: hints say what is to be scheduled">
  ];
}

def EmitAMDGCN : Pass<"tile-amd-amdgcn", "mlir::ModuleOp"> {
  let summary = "Print the assembly of a module in the LLVM dialect";
  let description = [{
    Translates to LLVM IR, optimises, generates code, and writes the text to
    `output`; the module itself stays as it is. To see the assembly only:

    ```
    tile-opt -tile-amd-llir -tile-amd-amdgcn in.mlir -o /dev/null
    ```
  }];
  let options = [
    Option<"output", "output", "std::string", "\"-\"",
           "The file to write; - is standard output">,
    Option<"emit", "emit", "std::string", "\"amdgcn\"",
           "What to write: amdgcn, or llvm-ir for the optimised LLVM IR">,
    Option<"optLevel", "opt-level", "int32_t", "3", "0 to 3, as in -O3">
  ];
}

def ConvertProtonAMDGPUToLLVM : Pass<"convert-proton-amd-gpu-to-llvm", "mlir::ModuleOp"> {
  let summary = "Make instructions of the records of the profiler";
  let description = [{
    Runs on the LLVM dialect, when all warps of a block are in one function. Who
    records, and where, follows from the options, which are those of the profiler's
    modes. The kernel takes the memory of the launch's records as a last argument. A
    warp counts its records in a register, so records under a predicate stay aligned.
    Modules without records stay as they are.

    ```mlir
    proton.record start "load"
    ```
    becomes a read of the clock, and a store of its value by one lane of the warp.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::ROCDL::ROCDLDialect"];
  let options = ProtonRecordOptions;
}

#endif // AMD_TRITONAMDGPUTOLLVM_PASSES

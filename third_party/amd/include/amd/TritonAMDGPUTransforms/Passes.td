//===-- Passes.td - Passes on ttg for AMD GPUs -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTRANSFORMS_PASSES
#define AMD_TRITONAMDGPUTRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

/// The machine, where a command line says it: the passes set `ttg.target`.
defvar ArchOptions = [
  Option<"archGenerationName", "arch-generation-name", "std::string", "\"\"",
         "As in gfx950; empty takes it from ttg.target">,
  Option<"gfxArch", "gfx-arch", "std::string", "\"\"",
         "Another name of arch-generation-name">
];

def TritonAMDGPUAccelerateMatmul
    : Pass<"tritonamdgpu-accelerate-matmul", "mlir::ModuleOp"> {
  let summary = "Give matrix products the layouts of MFMA and WMMA";
  let description = [{
    As `tritongpu-accelerate-matmul`, with what users may ask for. A dot
    takes the largest instruction that is not larger than itself. This may be a
    narrow one of 4 rows or columns (4x64, 64x4). Operands of 8 bits in a format
    that the machine lacks are multiplied as fp16. What no instruction computes
    stays as it is. Dots with scales use MFMA where the target has such
    instructions and the formats, e4m3, e5m2 and e2m1, lie along K. Others become
    plain dots.

    ```mlir
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #dot_a> * tensor<32x64xf16, #dot_b> -> tensor<64x64xf32, #blocked>
    ```
    becomes, on gfx942 and between conversions of layouts,
    ```mlir
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * ... -> tensor<64x64xf32, #mma>
    // #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::scf::SCFDialect"];
  let options = ArchOptions # [
    Option<"matrixInstructionSize", "matrix-instruction-size", "int32_t", "0",
           "Rows of the instruction to take: 16, 32, or 4 for narrow ones; 0 for any">,
    Option<"kPack", "kPack", "int32_t", "1",
           "Factor on the neighbours along K that a lane holds of an operand">
  ];
  let statistics = [
    Statistic<"numAccelerated", "num-accelerated", "Products on matrix instructions">,
    Statistic<"numLeft", "num-left", "Products left to scalar arithmetic">
  ];
}

def TritonAMDGPUChooseTensorCopies
    : Pass<"tritonamdgpu-choose-tensor-copies", "mlir::ModuleOp"> {
  let summary = "Choose descriptors whose blocks the tensor data mover copies";
  let description = [{
    Their blocks get an encoding, and `triton-rewrite-tensor-descriptor-to-pointer`
    leaves them alone. The machine fills what lies behind the end of a tensor with
    zeros, but knows no blocks that start before it. So no index of a load or a
    store through a descriptor may be negative, as far as its range is known. Sums and
    multiplications in indices are taken to fit. Kernels make those that the host passes
    of their parts; what lies outside of them must be known to be zero
    (`tt.zero_padded`).

    ```mlir
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] : <f16>, <tensor<64x64xf16>>
    %x = tt.descriptor_load %d[%c0, %c64] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    ```
    becomes
    ```mlir
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] : <f16>, <tensor<64x64xf16, #shared>>
    %x = tt.descriptor_load %d[%c0, %c64] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16>
    // #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::triton::gpu::TritonGPUDialect"
  ];
  let statistics = [
    Statistic<"numChosen", "num-chosen", "Descriptors that got an encoding">
  ];
}

def TritonAMDGPULowerTensorCopies
    : Pass<"tritonamdgpu-lower-tensor-copies", "mlir::ModuleOp"> {
  let summary = "Load and store blocks by copies to and from LDS";
  let description = [{
    Those that `tritongpu-pipeline` has not made copies of loops of.
    Loads read the buffer in the layouts that their users want.

    ```mlir
    %x = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    ```
    becomes
    ```mlir
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #padded, #smem, mutable>
    %t = amdg.async_tdm_copy_global_to_local %d[%i, %j] into %m, %true : !tt.tensordesc<tensor<64x64xf16, #shared>> -> !ttg.memdesc<64x64xf16, #padded, #smem, mutable>
    %w = amdg.async_tdm_wait %t {num = 0 : i32}
    ttg.barrier local
    %x = ttg.local_load %m : !ttg.memdesc<64x64xf16, #padded, #smem, mutable> -> tensor<64x64xf16, #blocked>
    // #padded = #ttg.padded_shared<[128:+8] {order = [1, 0], shape = [64, 64]}>
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::triton::gpu::TritonGPUDialect",
    "mlir::triton::amdgpu::AMDGDialect"
  ];
  let statistics = [
    Statistic<"numLoads", "num-loads", "Loads that became copies">,
    Statistic<"numStores", "num-stores", "Stores that became copies">
  ];
}

def TritonAMDGPUExpandOps : Pass<"tritonamdgpu-expand-ops", "mlir::ModuleOp"> {
  let summary = "Write operations that have no lowering of their own as others";
  let description = [{
    Operands in MX formats become wider ones times their scales, bytes of floats
    across K are packed along it, and stores from LDS go through registers.

    ```mlir
    %v = amdg.scaled_upcast_fp8 %x scale %s : tensor<32x128xf8E4M3FN, #b>, tensor<32x128xbf16, #b> -> tensor<32x128xbf16, #b>
    ```
    becomes
    ```mlir
    %w = tt.fp_to_fp %x : tensor<32x128xf8E4M3FN, #b> -> tensor<32x128xbf16, #b>
    %v = arith.mulf %w, %s : tensor<32x128xbf16, #b>
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::triton::TritonDialect",
    "mlir::triton::gpu::TritonGPUDialect"
  ];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "Operations written as others">
  ];
}

def TritonAMDGPUFoldTrueCmpI
    : Pass<"tritonamdgpu-fold-true-cmpi", "mlir::ModuleOp"> {
  let summary = "Decide comparisons of integers by what the integers can be";
  let description = [{
    Masks that are always true, or never, become constants: ranges of blocks are
    known, and others from `tl.assume` and from what launches state of arguments.
    Sums, differences and multiplications are taken to wrap around.

    ```mlir
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %mask = arith.cmpi slt, %i, %all1024 : tensor<1024xi32, #blocked>
    ```
    becomes
    ```mlir
    %mask = arith.constant dense<true> : tensor<1024xi1, #blocked>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numFolded", "num-folded", "Comparisons that became constants">
  ];
}

def TritonAMDGPUHoistLayoutConversions
    : Pass<"tritonamdgpu-hoist-layout-conversions"> {
  let summary = "Bring operands of dots into their layout before loops";
  let description = [{
    Those that do not change in the loop; also out of several loops.

    ```mlir
    scf.for ... {
      %x = ttg.convert_layout %a : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #dot_a>
    ```
    becomes
    ```mlir
    %x = ttg.convert_layout %a : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #dot_a>
    scf.for ... {
    ```
  }];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "Conversions before loops">
  ];
}

def TritonAMDGPUSinkLayoutConversions
    : Pass<"tritonamdgpu-sink-layout-conversions"> {
  let summary = "Convert layouts next to the first use";
  let description = [{
    So that LDS and registers are taken no longer than need be. Conversions whose
    results take fewer registers than their sources stay.

    ```mlir
    %x = ttg.convert_layout %a : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #dot_a>
    scf.for ... { ... }
    %y = arith.addf %x, %x : tensor<128x64xf16, #dot_a>
    ```
    becomes
    ```mlir
    scf.for ... { ... }
    %x = ttg.convert_layout %a : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #dot_a>
    %y = arith.addf %x, %x : tensor<128x64xf16, #dot_a>
    ```
  }];
  let statistics = [
    Statistic<"numSunk", "num-sunk", "Conversions moved">
  ];
}

def TritonAMDGPUMoveUpPrologueLoads
    : Pass<"tritonamdgpu-move-up-prologue-loads"> {
  let summary = "Start the loads in front of loops with dots early";
  let description = [{
    Loads before a loop around dots move up, with what their addresses are
    computed from. They go before the first access to LDS that they may be done
    before. So they are under way during the wait for its barriers.

    ```mlir
    ttg.local_store %q, %Q
    %k = tt.load %p
    scf.for ... { ... tt.dot ... }
    ```
    becomes
    ```mlir
    %k = tt.load %p
    ttg.local_store %q, %Q
    scf.for ... { ... tt.dot ... }
    ```
  }];
  let statistics = [
    Statistic<"numMoved", "num-moved", "Loads that start earlier">
  ];
}

def TritonAMDGPUPrepareIfCombining
    : Pass<"tritonamdgpu-prepare-if-combining"> {
  let summary = "Bring branches on one condition next to each other";
  let description = [{
    What is between them goes before the first one or behind the second one, so
    that `canonicalize` makes one branch of them.

    ```mlir
    scf.if %c { ... }
    %x = arith.addi %a, %b : i32
    scf.if %c { ... }
    ```
    becomes
    ```mlir
    %x = arith.addi %a, %b : i32
    scf.if %c { ... }
    scf.if %c { ... }
    ```
  }];
  let statistics = [
    Statistic<"numMoved", "num-moved", "Branches brought to another one">
  ];
}

def TritonAMDGPUInThreadTranspose
    : Pass<"tritonamdgpu-in-thread-transpose"> {
  let summary = "Load operands so that lanes have neighbours along K";
  let description = [{
    Matrix instructions take several neighbours along K from each lane. Memory may
    have an operand the other way. Then lanes load a few neighbours along K of
    several rows or columns. They put those along K together in registers, and
    write them to LDS together. What is in between finds its layout in the passes that
    remove conversions.

    ```mlir
    %b = tt.load %p : tensor<32x128x!tt.ptr<f16>, #blocked>
    // #blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
    ```
    becomes, between conversions of layouts,
    ```mlir
    %b = tt.load %p : tensor<32x128x!tt.ptr<f16>, #blocked>
    // #blocked = #ttg.blocked<{sizePerThread = [2, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numTransposed", "num-transposed", "Loads with another layout">
  ];
}

def TritonAMDGPUOptimizeEpilogue
    : Pass<"tritonamdgpu-optimize-epilogue", "mlir::ModuleOp"> {
  let summary = "Store results of dots in the layout they have";
  let description = [{
    Lanes may hold at least 8 bytes of neighbours of a result, or may get them if
    they exchange every other element with lanes of their wave. Then they write
    them to memory themselves instead of going through LDS first. They exchange halves
    with another lane for 16 bytes where memory has as many in a row. Addresses
    and masks find that layout in the passes that remove conversions.

    ```mlir
    %1 = ttg.convert_layout %0 : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #blocked>
    tt.store %p, %1 : tensor<128x128x!tt.ptr<f16>, #blocked>
    ```
    becomes
    ```mlir
    %q = ttg.convert_layout %p : tensor<128x128x!tt.ptr<f16>, #blocked> -> tensor<128x128x!tt.ptr<f16>, #mma>
    tt.store %q, %0 : tensor<128x128x!tt.ptr<f16>, #mma>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numStores", "num-stores", "Stores with another layout">
  ];
}

def TritonAMDGPUStreamPipeline
    : Pass<"tritonamdgpu-stream-pipeline", "mlir::ModuleOp"> {
  let summary = "Schedule loads ahead of their use, and choose how they are copied";
  let description = [{
    To be run between `tritongpu-schedule-loops` and `tritongpu-pipeline`, which
    makes the copies. Only a load that keeps `tt.latency` is copied to LDS.

    Operands of matrix products go through registers. Their loads come first in
    the new body, or behind the first of several dots where registers are
    scarce. The pipeliner has them stored to a buffer in LDS at the end of the
    body, when the dots of the iteration before have read theirs. Other values
    stay in registers until the next iteration.

    With `use_async_copy`, operands that memory has in pieces of 16 bytes go
    straight into LDS on targets that load so much at once (`amdg.direct_copy`).
    They go to one of several buffers, as many iterations ahead as the stages say,
    while another buffer is read. Blocks of descriptors are copied ahead by the
    tensor data mover, as far as half of LDS has room for their buffers.

    ```mlir
    %a = tt.load %p {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 1 : i32}
    %b = ttg.convert_layout %a {loop.stage = 1 : i32, loop.cluster = 0 : i32}
    %d = tt.dot ... {loop.stage = 1 : i32, loop.cluster = 0 : i32}
    ```
    becomes
    ```mlir
    %a = tt.load %p {tt.latency = 1 : i32, loop.stage = 0 : i32, loop.cluster = 0 : i32}
    %b = ttg.convert_layout %a {loop.stage = 1 : i32, loop.cluster = 1 : i32}
    %d = tt.dot ... {loop.stage = 1 : i32, loop.cluster = 1 : i32}
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let options = [
    Option<"useAsyncCopy", "use_async_copy", "bool", "false",
           "Load operands straight into LDS where the target has such loads">,
    Option<"numStages", "num_stages", "int32_t", "2",
           "One more than the iterations that such loads are ahead, where "
           "tt.num_stages of the loop does not say it">
  ];
  let statistics = [
    Statistic<"numLoads", "num-loads", "Loads that run ahead">,
    Statistic<"numBuffers", "num-buffers", "Operands that go through LDS">,
    Statistic<"numCopies", "num-copies", "Operands loaded straight into LDS">
  ];
}

def TritonAMDGPUCanonicalizePointers
    : Pass<"tritonamdgpu-canonicalize-pointers"> {
  let summary = "Make addresses of a scalar base and offsets of 32 bits";
  let description = [{
    The part of an offset that is the same in all lanes goes into the base, which is
    computed in scalar registers. Loops carry how far pointers are ahead of their start.
    Offsets are taken apart where no part can be negative, so that none of them
    overflows unless the whole does.

    ```mlir
    %i = arith.addi %splatOfStart, %range : tensor<1024xi32, #blocked>
    %p = tt.addptr %splatOfX, %i : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    ```
    becomes
    ```mlir
    %base = tt.addptr %x, %start : !tt.ptr<f32>, i32
    %s = tt.splat %base : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %p = tt.addptr %s, %range : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
  let options = [
    Option<"enableLargeTensorPtrCanon", "enable-large-tensor-ptr-canon", "bool",
           "false", "Left alone: memory of any size may be pointed to">
  ];
  let statistics = [
    Statistic<"numAccesses", "num-accesses", "Accesses with a new base">,
    Statistic<"numCarried", "num-carried", "Pointers that loops carry as a number">
  ];
}

def TritonAMDGPUConvertBufferOps
    : Pass<"tritonamdgpu-convert-buffer-ops", "mlir::ModuleOp"> {
  let summary = "Access memory through buffer descriptors";
  let description = [{
    This needs pointers that are a scalar base and offsets of 32 bits that are not
    negative. What is accessed must lie in the 2^31 bytes behind the base: the
    offsets are known to be small, or the base comes from an argument marked
    `tt.pointer_range = 32`. The machine checks the bounds of a buffer, so masks
    need no branches. An address takes one vector register instead of two.
    A loop may move the base of a small argument, or one offset may move the bases
    of several small arguments. Then `amdg.scalar_offset` says that the descriptor
    may stay, and an offset in a scalar register moves.

    ```mlir
    %v = tt.load %p, %mask : tensor<1024x!tt.ptr<f32>, #blocked>
    ```
    becomes
    ```mlir
    %v = amdg.buffer_load %base[%range], %mask : tensor<1024xf32, #blocked>
    ```
  }];
  let dependentDialects = ["mlir::triton::amdgpu::AMDGDialect"];
  let options = ArchOptions # [
    Option<"allowBufferAtomics", "allow-buffer-atomics", "bool", "true",
           "Convert atomic operations, too">,
    Option<"analyzeSmallTensorOfst", "analyze-small-tensor-ofst", "bool",
           "false", "Left alone: offsets are always analysed">
  ];
  let statistics = [
    Statistic<"numConverted", "num-converted", "Accesses through buffers">,
    Statistic<"numLeft", "num-left", "Accesses through pointers">,
    Statistic<"numScalarOffsets", "num-scalar-offsets",
              "Accesses whose base may stay">
  ];
}

def TritonAMDGPUBlockPingpong
    : Pass<"tritonamdgpu-block-pingpong", "mlir::ModuleOp"> {
  let summary = "Let waves on one SIMD unit take turns at memory and dots";
  let description = [{
    For pipelined loops around one dot whose operands are in LDS. Programs of
    four waves, one on each SIMD unit, raise the priority of what multiplies over
    waves of other programs. In programs of eight waves, dots are cut along K
    into phases with barriers between them. The second half of the waves is one
    phase behind. So on each unit, one wave multiplies while the other one
    accesses memory. Small dots of eight waves, large ones of four, and loops
    with anything else in them that needs LDS stay as they are.

    ```mlir
    %l = amdg.buffer_load %a[%offsets] ...
    %x = ttg.local_load %A
    %y = ttg.local_load %B
    %d = tt.dot %x, %y, %c
    ttg.local_store %l, %A
    ```
    becomes, for eight waves and in two phases,
    ```mlir
    %x0 = ttg.local_load %A0
    %y0 = ttg.local_load %B0
    rocdl.sched.barrier 0
    %x1 = ttg.local_load %A1
    %y1 = ttg.local_load %B1
    ttg.barrier local
    rocdl.s.setprio 1
    %d0 = tt.dot %x0, %y0, %c
    rocdl.s.setprio 0
    ttg.barrier local
    ttg.local_store %l, %A
    ttg.barrier local
    rocdl.s.setprio 1
    %d = tt.dot %x1, %y1, %d0
    rocdl.s.setprio 0
    ttg.barrier local
    ```
    between two `amdg.cond_barrier`, of which the second half of the waves comes
    to the one before the loop, and the first half to the one behind it.
  }];
  let dependentDialects = [
    "mlir::ROCDL::ROCDLDialect", "mlir::arith::ArithDialect",
    "mlir::triton::amdgpu::AMDGDialect", "mlir::triton::gpu::TritonGPUDialect"
  ];
  let options = [
    Option<"numStages", "num-stages", "int32_t", "2",
           "Depth of the loops' pipelines; below 2 there is nothing to do">,
    Option<"priorities", "priorities", "bool", "true",
           "Raise priorities in programs of four waves">
  ];
  let statistics = [
    Statistic<"numPriorities", "num-priorities", "Loops with priorities">,
    Statistic<"numTurns", "num-turns", "Loops in which waves take turns">
  ];
}

def TritonAMDGPUCoalesceAsyncCopy
    : Pass<"tritonamdgpu-coalesce-async-copy", "mlir::ModuleOp"> {
  let summary = "Give copies to LDS the layouts in which lanes write side by side";
  let description = [{
    Instructions that load into LDS write what the lanes of a wave load side by
    side. So the addresses of a copy get the layout that the buffer's own says:
    neighbours of a lane first, then lanes, then waves. Copies of the pipeliner
    have it from the start; this pass is for pipelines that make others.

    ```mlir
    %t = ttg.async_copy_global_to_local %p, %buffer : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    ```
    becomes
    ```mlir
    %q = ttg.convert_layout %p : tensor<64x64x!tt.ptr<f16>, #blocked> -> tensor<64x64x!tt.ptr<f16>, #linear>
    %t = ttg.async_copy_global_to_local %q, %buffer : tensor<64x64x!tt.ptr<f16>, #linear> -> <64x64xf16, #shared, #smem, mutable>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let options = ArchOptions;
  let statistics = [
    Statistic<"numCoalesced", "num-coalesced", "Copies with another layout">
  ];
}

def TritonAMDGPUInsertInstructionSchedHints
    : Pass<"triton-amdgpu-insert-instruction-sched-hints", "mlir::ModuleOp"> {
  let summary = "Mark loops for the scheduler of instructions";
  let description = [{
    With `variant=attention`, loops around several dots get a hint.

    ```mlir
    scf.for ... {
      amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
      %s = tt.dot %q, %k, %zero
      ...
      %o = tt.dot %p, %v, %acc
    ```
  }];
  let dependentDialects = ["mlir::triton::amdgpu::AMDGDialect"];
  let options = [
    Option<"variant", "variant", "std::string", "\"none\"",
           "none, attention or memory-bound-attention">
  ];
  let statistics = [
    Statistic<"numHints", "num-hints", "Loops with a hint">
  ];
}

#endif // AMD_TRITONAMDGPUTRANSFORMS_PASSES

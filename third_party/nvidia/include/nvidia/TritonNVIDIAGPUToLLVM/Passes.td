//===-- Passes.td - Passes of the NVIDIA backend -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_PASSES
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_PASSES

include "mlir/Pass/PassBase.td"
include "tile/Conversion/ProtonToLLVM/RecordOptions.td"

def CheckTargetNV : Pass<"check-target-nv", "mlir::ModuleOp"> {
  let summary = "Refuse targets that the table of GPUs does not have";
  let description = [{
    An error that names the known targets, unless `ttg.target` of the module is
    one of them. What follows would find no facts about another machine. A remark
    for each product of a target that has other matrix units than those in use.

    ```mlir
    module attributes {ttg.target = "cuda:77", ...} // error: unknown target
    ```
  }];
}

def AccelerateMatmulInRegistersNV
    : Pass<"accelerate-matmul-in-registers-nv", "mlir::ModuleOp"> {
  let summary = "Give dots the matrix instructions that add in registers";
  let description = [{
    As `tritongpu-accelerate-matmul`, without the instructions that add in tensor
    memory. A remark for each dot of a target that has such.

    ```mlir
    %d = tt.dot %a, %b, %c : ... -> tensor<128x128xf32, #blocked>
    ```
    becomes, on cuda:100,
    ```mlir
    %d = tt.dot %a, %b, %c : ... -> tensor<128x128xf32, #mma>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect",
                           "mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect",
                           "mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numAccelerated", "num-accelerated", "Products with an instruction">,
    Statistic<"numLeft", "num-left", "Products that multiply element by element">,
    Statistic<"numDecomposed", "num-decomposed", "Products with scales that became plain ones">
  ];
}

def ChooseRowGroupsNV : Pass<"choose-row-groups-nv", "mlir::ModuleOp"> {
  let summary = "Decide whether two groups of warps divide the rows of a chain of dots";
  let description = [{
    For loops with `warp_specialize=True` in which a dot multiplies what is computed
    from another one, as in attention. A block of 256 rows may be divided among two
    groups of four warps. The threads of one compute, while the tensor core
    multiplies for the other one. What takes fewer cycles is chosen.

    The module says then how long dimensions are to be at most, and how many warps
    a group has. `triton-split-rows` makes two chains of one. A remark says why not.

    ```mlir
    module {...}
    ```
    becomes
    ```mlir
    module attributes {tt.group_warps = 4 : i32, tt.longest_extent = 128 : i32} {...}
    ```
  }];
  let options = [
    Option<"numWarps", "num-warps", "int", /*default=*/"8",
           "Warps that run one program">,
    Option<"numCTAs", "num-ctas", "int", /*default=*/"1",
           "Blocks that run one program together">,
    Option<"wherePossible", "where-possible", "bool", /*default=*/"false",
           "Divide them whatever it costs">
  ];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops whose rows two groups of warps divide">
  ];
}

def PackAlongKNV : Pass<"pack-along-k-nv"> {
  let summary = "Pack fp4 operands along K for instructions that scale";
  let description = [{
    `tt.dot_scaled` takes bytes with two fp4 elements that are neighbours along K,
    or along the other dimension (`lhs_k_pack`, `rhs_k_pack`). Instructions take the
    first kind. Where one takes the dot, such bytes are made of two others.

    ```mlir
    %d = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e2m1 {rhs_k_pack = false}
        : ... * tensor<128x32xi8>, ...
    ```
    becomes
    ```mlir
    %p = tt.reshape %b : tensor<128x32xi8> -> tensor<64x2x32xi8>
    ...
    %q = tt.reshape %joined : tensor<64x32x2xi8> -> tensor<64x64xi8>
    %d = tt.dot_scaled %a scale %s, %q scale %t, %c lhs = e4m3 rhs = e2m1 : ...
    ```
  }];
  let options = [
    Option<"leastRows", "least-rows", "int64_t", /*default=*/"128",
           "Rows of the smallest result that an instruction makes">,
    Option<"leastColumns", "least-columns", "int64_t", /*default=*/"32",
           "Columns of that result">,
    Option<"leastK", "least-k", "int64_t", /*default=*/"32",
           "Elements that it adds up">,
    Option<"leastPackedK", "least-packed-k", "int64_t", /*default=*/"64",
           "Elements that it adds up where both operands are fp4">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numPacked", "num-packed", "Operands that are packed along K">
  ];
}

def Exp2ByPolynomialNV : Pass<"exp2-by-polynomial-nv", "mlir::ModuleOp"> {
  let summary = "Compute some powers of two by a polynomial";
  let description = [{
    In loops with dots that groups of warps run, as in attention. A multiprocessor has
    16 lanes for powers of two, and 128 that multiply and add. One of a few pairs of powers
    is a polynomial: the share with which an iteration takes fewest cycles. Where that is
    none, it is one of 16. The result must be rounded to 16 bits or fewer. It may be added
    up beside that.

    ```mlir
    %w = math.exp2 %x : tensor<128x64xf32, #linear>
    %p = arith.truncf %w : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
    ```
    becomes
    ```mlir
    %w = math.exp2 %x {ttnvgpu.polynomial_pairs = 6 : i32} : tensor<128x64xf32, #linear>
    %p = arith.truncf %w : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
    ```
  }];
  let statistics = [
    Statistic<"numPowers", "num-powers", "Operations some of whose results are polynomials">
  ];
}

def PlanBlockPairsNV : Pass<"plan-block-pairs-nv", "mlir::ModuleOp"> {
  let summary = "Decide whether pairs of blocks multiply together";
  let description = [{
    Two blocks of a cluster divide the rows of a dot. Each may multiply its rows by
    itself. Or their tensor cores work together, and each block has half of the
    columns of the right operand. What takes fewer cycles is chosen. The cycles are
    those of the tensor core, of shared memory, and of the cluster barrier before each
    dot. There is none where the program asks for warps that copy
    (`tt.warp_specialize`), and both operands come by descriptors.

    The dots of a module agree. The module says so (`ttng.two-ctas`), and a
    conversion of each right operand says how it is divided:
    ```mlir
    %b = ttg.convert_layout %x : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #dot_operand>
    ```
    becomes
    ```mlir
    %0 = ttg.convert_layout %x : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #blocked_by_columns>
    %b = ttg.convert_layout %0 : tensor<64x128xf16, #blocked_by_columns> -> tensor<64x128xf16, #dot_operand>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numProducts", "num-products", "Dots that pairs of blocks multiply">
  ];
}

def VersionPaddedLoopsNV : Pass<"version-padded-loops-nv", "mlir::ModuleOp"> {
  let summary = "Pipeline loops over loads that are padded with zero at run time";
  let description = [{
    A descriptor of the host says at run time what its loads give outside of the
    tensor: zeros or NaNs. Asynchronous copies give zeros. So a loop with one dot
    that has such loads becomes two. The first one has the loads as they are, and
    is not pipelined. The second one runs where all of them are padded with zero.

    ```mlir
    %other = arith.select %nan, %nans, %zeros : tensor<64x64xf16, #blocked>
    scf.for ... {
      %x = tt.load %p, %mask, %other : tensor<64x64x!tt.ptr<f16>, #blocked>
      ... tt.dot ...
    }
    ```
    becomes
    ```mlir
    scf.if %nan {
      scf.for ... { %x = tt.load %p, %mask, %other ... } {tt.num_stages = 1 : i32}
    } else {
      scf.for ... { %x = tt.load %p, %mask, %zeros ... }
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numVersioned", "num-versioned", "Loops that became two">
  ];
}

def ReadBytesAcrossNV : Pass<"read-bytes-across-nv", "mlir::ModuleOp"> {
  let summary = "Read bytes that lie across K by whole warps";
  let description = [{
    `mma.sync` takes bytes that are neighbours along K as a word. Memory may have
    them across K. Then warps read transposed matrices of 16-bit pairs, and sort
    their bytes. So the rows or columns of the operand and of the sum come in
    another order. Views and reshapes give this order. The pass leaves a dot alone
    if its loop does more with the sum than to add to it: the sum would have to be
    brought back in each iteration.

    ```mlir
    %b = ttg.convert_layout %loaded : tensor<64x64xi8, #blocked> -> tensor<64x64xi8, #dot_operand>
    ```
    becomes
    ```mlir
    %0 = ttg.local_alloc %loaded : (tensor<64x64xi8, #blocked>) -> !ttg.memdesc<64x64xi8, #shared, #smem>
    %1 = ttg.memdesc_reshape %0 : ... -> !ttg.memdesc<64x2x16x2xi8, ...>
    %2 = ttg.memdesc_trans %1 {order = array<i32: 0, 1, 3, 2>} : ... -> !ttg.memdesc<64x2x2x16xi8, ...>
    %3 = ttg.memdesc_reshape %2 : ... -> !ttg.memdesc<64x64xi8, ...>
    %b = ttg.local_load %3 : ... -> tensor<64x64xi8, #dot_operand>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numProducts", "num-products", "Products that read bytes so">
  ];
}

def TritonNvidiaTMEMLoadReduce
    : Pass<"triton-nvidia-tmem-load-reduce", "mlir::ModuleOp"> {
  let summary = "Reduce the rows of tensor memory while they are loaded";
  let description = [{
    sm_103 and sm_110 have loads of tensor memory that also give the least or the
    greatest element of what a thread loads. A `tt.reduce` by minimum or maximum takes
    that result where each warp loads whole rows of f32. An absolute value before the
    reduction is part of the load.

    Before:
    ```mlir
    %x = ttnvgpu.tmem_load %d : ... -> tensor<128x128xf32, #linear>
    %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({ ... arith.maxnumf ... }) : ...
    ```
    After:
    ```mlir
    %x, %m = ttnvgpu.tmem_load %d {redOp = #ttnvgpu.redOp<max>} : ... -> tensor<128x128xf32, #linear>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect",
                           "mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numReductions", "num-reductions", "Reductions that loads make">
  ];
}

def AllocateSharedMemoryNV : Pass<"allocate-shared-memory-nv", "mlir::ModuleOp"> {
  let summary = "Give buffers in shared memory their offsets, as NVIDIA's lowerings need it";
  let description = [{
    As `allocate-shared-memory`, with the scratch memory that this backend's
    patterns use, and a diagnostic where a kernel needs more than a block of the
    target can have.

    ```mlir
    %0 = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    ```
    becomes
    ```mlir
    module attributes {ttg.shared = 2048 : i32, ...}
    %0 = ttg.local_alloc {allocation.offset = 0 : i32} : () -> ...
    ```
  }];
  let dependentDialects = ["mlir::triton::gpu::TritonGPUDialect"];
  let options = [
    Option<"computeCapability", "compute-capability", "int32_t", "0",
           "Times ten, as 90; 0 takes it from ttg.target">,
    Option<"ptxVersion", "ptx-version", "int32_t", "0",
           "Read for command lines of Triton; the code is the same for each">
  ];
  let statistics = [
    Statistic<"sharedBytes", "shared-bytes", "Bytes of shared memory allocated">
  ];
}

def LimitRegistersNV : Pass<"limit-registers-nv", "mlir::ModuleOp"> {
  let summary = "State the registers that the blocks of a processor can have";
  let description = [{
    Shared memory decides how many blocks a processor can run at a time. The
    registers that so many blocks can have cost nothing. ptxas makes better code for
    a stated limit than when it finds that number by itself. So the pass states it,
    as `ttg.maxnreg`, in these cases. A limit that something else gave stays.

    - The target has dots of warp groups, and all of these blocks can have all
      registers.
    - The kernel has one dot, on another target. Its tensors fit into the limit, but
      not into 128 registers, up to which ptxas does as well by itself.
    - Tensors may take more registers than a thread can have. That number is then
      the limit: 255, or fewer if there are more than eight warps. Without it ptxas
      would give up on the kernel and settle for 32.
    - Partitions of warps have registers of their own, shared memory has room for
      two blocks, and the dots of the default group fit into what is left then. The
      limit is that of two blocks, and the registers are divided anew.

    ```mlir
    module attributes {ttg.shared = 49152 : i32, "ttg.num-warps" = 4 : i32, ...}
    ```
    becomes, for the three blocks that a processor of sm_80 has room for,
    ```mlir
    module attributes {ttg.maxnreg = 168 : i32, ...}
    ```
  }];
  let statistics = [
    Statistic<"numLimited", "num-limited", "Kernels given a limit">
  ];
}

def ConvertTritonGPUToLLVM : Pass<"convert-triton-gpu-to-llvm", "mlir::ModuleOp"> {
  let summary = "Lower tt, ttg and ttnvgpu to the LLVM and NVVM dialects";
  let description = [{
    Turns every tensor into the registers that its layout gives to a thread.
    Structured control flow must be gone (`convert-scf-to-cf`), shared memory
    allocated (`allocate-shared-memory-nv`), and the barriers between accesses to
    it must be there (`insert-memory-barriers`).

    Text of other compilers may have places and no mark that there are barriers. Where
    all that is in shared memory are buffers with places, or there is nothing, the
    pass inserts the barriers itself. What exchanges values through shared memory may
    need more room here than elsewhere. Then the pass asks for the passes above.

    ```mlir
    %0 = arith.addf %a, %b : tensor<128xf32, #blocked>
    ```
    becomes, where a thread holds four elements, four `llvm.fadd`.
  }];
  let dependentDialects = [
    "mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect",
    "mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect"
  ];
  let options = [
    Option<"computeCapability", "compute-capability", "int32_t", "0",
           "Times ten, as 90; 0 takes it from ttg.target">,
    Option<"ptxVersion", "ptx-version", "int32_t", "0",
           "Read for command lines of Triton; the code is the same for each">
  ];
}

def ConvertWarpSpecializeToLLVM : Pass<"convert-warp-specialize-to-llvm", "mlir::ModuleOp"> {
  let summary = "Send the warps of partitions their own ways";
  let description = [{
    What `convert-triton-gpu-to-llvm` leaves of `ttg.warp_specialize` becomes
    control flow of the kernel. The warps behind the default ones wait, from the
    start, at the barrier of the block. The default group writes to shared memory
    which operation comes next and what its partitions capture, arrives there,
    and runs the default region. Each other warp finds its partition and runs
    that. All warps wait at the barrier again where the operation ends. At the end
    of the kernel, the default group lets the other warps return.

    Where `actualRegisters` says so, and the target can (`setmaxnreg`), warp
    groups of the partitions give registers back when the kernel starts, and the
    default group takes them.

    A cluster barrier would wait for all these warps. They arrive at the first one
    only, if it is passed once and before any `ttg.warp_specialize`. If not, the pass
    makes one for this. At all later barriers only the default groups wait for each
    other, by an mbarrier of each block.

    ```mlir
    ttg.warp_specialize(%p) attributes {warpGroupStartIds = array<i32: 4>, ...}
    default { ... ttg.warp_yield }
    partition0(%q: !llvm.ptr<1>) num_warps(4) { ... ttg.warp_return } : ...
    ```
    becomes
    ```mlir
      llvm.cond_br %isDefault, ^kernel, ^wait
    ^wait: // of the others
      nvvm.barrier0
      %work = llvm.load %next : !llvm.ptr<3> -> i32
      llvm.cond_br %done, ^exit, ^partitions
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

def PrefetchTensorMapsNV : Pass<"prefetch-tensor-maps-nv", "mlir::ModuleOp"> {
  let summary = "Fetch the tensor maps of a kernel when it starts";
  let description = [{
    The first copy through a tensor map waits until the copy engine has fetched
    the map from the memory of parameters. The store at the end of a short
    kernel waits as long as its first load. So each warp asks for all maps before
    anything else:

    ```mlir
    llvm.func @kernel(%map: !llvm.ptr {ttnvgpu.tensor_map = ..., ...}) {
      // prefetch.tensormap [%map];
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
  let statistics = [
    Statistic<"numPrefetched", "maps-prefetched", "Tensor maps fetched early">
  ];
}

def EmitPTX : Pass<"tile-nvidia-ptx", "mlir::ModuleOp"> {
  let summary = "Print the PTX of a module in the LLVM dialect";
  let description = [{
    Translates to LLVM IR, optimises, generates code, and writes the text to
    `output`; the module itself stays as it is. To see PTX only:

    ```
    tile-opt -tile-nvidia-llir -tile-nvidia-ptx in.mlir -o /dev/null
    ```
  }];
  let options = [
    Option<"output", "output", "std::string", "\"-\"",
           "The file to write; - is standard output">,
    Option<"emit", "emit", "std::string", "\"ptx\"",
           "What to write: ptx, or llvm-ir for the optimised LLVM IR">,
    Option<"computeCapability", "compute-capability", "int32_t", "0",
           "Times ten, as 90; 0 takes it from ttg.target">,
    Option<"ptxVersion", "ptx-version", "int32_t", "0",
           "Times ten, as 84; 0 takes the target's">,
    Option<"optLevel", "opt-level", "int32_t", "3", "0 to 3, as in -O3">,
    Option<"libdevice", "libdevice", "std::string", "\"\"",
           "Path of libdevice.10.bc">
  ];
}

def ConvertProtonNVIDIAGPUToLLVM : Pass<"convert-proton-nvidia-gpu-to-llvm", "mlir::ModuleOp"> {
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
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
  let options = ProtonRecordOptions;
}

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_PASSES

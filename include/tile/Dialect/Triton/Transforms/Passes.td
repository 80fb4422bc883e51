//===-- Passes.td - Passes on tt, before layouts are chosen -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_TRANSFORMS_PASSES
#define TILE_DIALECT_TRITON_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TritonCombine : Pass<"triton-combine"> {
  let summary = "Merge neighbouring operations into one";
  let description = [{
    - A sum with the product of two matrices becomes its accumulator:

      ```mlir
      %d = tt.dot %a, %b, %zero : ...
      %r = arith.addf %d, %c : tensor<128x128xf32>
      // becomes
      %r = tt.dot %a, %b, %c : ...
      ```

      not where the dot asks for a limited number of imprecise additions, which
      says how the accumulation is to be rounded.
    - `select` of a load masked by the same scalar condition becomes the value
      for masked elements.
    - `addptr` of `addptr` adds the offsets first, if that cannot overflow: both
      are 64-bit, or constants.
    - Operands of fp32 that are broadcast, multiplied, and added up along the
      dimension they have in common become a dot with IEEE precision.
    - A block of a descriptor that loses its leading dimensions of size one is
      loaded without them, and one that gains them stored without them.

    Canonicalizations of tt run along.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numDots", "dots-accumulated", "Sums turned into accumulators">,
    Statistic<"numLoads", "loads-combined", "Selects turned into masked loads">,
    Statistic<"numAddPtrs", "addptrs-combined", "Pairs of addptr merged">,
    Statistic<"numReductions", "reductions-to-dots", "Reductions turned into dots">,
    Statistic<"numBlocks", "blocks-reshaped", "Blocks accessed without leading dimensions of size one">
  ];
}

def TritonReorderBroadcast : Pass<"triton-reorder-broadcast"> {
  let summary = "Compute before broadcasting, not after";
  let description = [{
    An elementwise operation on splats works on the scalars, one on broadcasts of
    equal sources (and splats) on the smaller tensors.

    ```mlir
    %0 = tt.splat %a : i32 -> tensor<128xi32>
    %1 = tt.splat %b : i32 -> tensor<128xi32>
    %2 = arith.addi %0, %1 : tensor<128xi32>
    // becomes
    %0 = arith.addi %a, %b : i32
    %2 = tt.splat %0 : i32 -> tensor<128xi32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numSplats", "splats-moved", "Operations done on scalars">,
    Statistic<"numBroadcasts", "broadcasts-moved",
              "Operations done before a broadcast">
  ];
}

def TritonCheckOffsets : Pass<"triton-check-offsets"> {
  let summary = "Refuse offsets that overflow for sure";
  let description = [{
    An offset of 32 bits that is made of ranges and constants has elements that
    are known here. If one does not fit and an access without a mask uses it,
    the address is wrong in every run; this pass says so. It changes nothing.

    ```mlir
    %r = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32>
    %c = arith.constant dense<65536> : tensor<65536xi32>
    // error: this int32 offset overflows: it reaches 4294901760, and int32 ends at 2147483647
    %o = arith.muli %r, %c : tensor<65536xi32>
    %a = tt.addptr %p, %o : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
    %v = tt.load %a : tensor<65536x!tt.ptr<f32>>
    ```
  }];
}

def TritonUndefinedLanes : Pass<"triton-undefined-lanes", "::mlir::ModuleOp"> {
  let summary = "Find, or fill, what masked loads leave undefined";
  let description = [{
    Where its mask is off, the result of a load without `other` is undefined.
    Compiled code has zeros there, and a kernel that forgot an `other` goes
    unnoticed as long as zero happens to be right.

    This pass lists the places of such loads in the attribute
    `tt.undefined_loads` of the module. Who runs the kernel in the simulator puts
    other values into these lanes and looks whether anything changes. A load is
    left out where the lanes cannot matter: each element goes, element by
    element, to accesses under the same mask. So is a place that has loads with
    `other`, too: a function that was inlined twice.

    With `fill`, nothing is listed: each such load gets an `other` that shows, NaN
    for floats and all ones for integers.

    ```mlir
    %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
    // with fill=true becomes
    %nan = arith.constant dense<0x7FC00000> : tensor<64xf32>
    %x = tt.load %p, %m, %nan : tensor<64x!tt.ptr<f32>>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"fill", "fill", "bool", /*default=*/"false",
           "Give the lanes values that show">
  ];
  let statistics = [
    Statistic<"numLoads", "undefined-loads", "Loads that were listed or filled">
  ];
}

def TritonUnsignedIndices : Pass<"triton-unsigned-indices"> {
  let summary = "Divide indices without a sign";
  let description = [{
    Signed quotients and remainders that offsets or masks are computed from
    become unsigned ones where neither operand is negative. Unsigned ones cost
    less. They also keep runs of neighbours together whatever the dividend is. For
    signed ones this takes a proof, which is impossible if a sum of 32 bits might
    wrap around.

    Here, and only here, results of `+`, `-`, `*` and shifts are assumed to fit
    their type. A dividend may not fit, because it reaches 2^31 or more. It is then
    divided as the number that it would have been. This is what the language says of
    indices. What is stored stays as it is, unless it is an index as well. Values
    computed from elements in memory stay, too: they may wrap around on purpose.
    An index may be made of fractions, as in images that are made larger.
    The counter of a loop is no such value, though the loop's end may be one.
    A divisor may be a difference of scalars that are not negative, such as the rows
    that are left for a group of tiles. It is assumed to be a size.

    ```mlir
    tt.func @k(%p: !tt.ptr<f32>, %n: i32 {tt.non_negative = 1 : i32}) {
      %pid = tt.get_program_id x : i32
      %row = arith.remsi %pid, %n : i32
      // becomes
      %row = arith.remui %pid, %n : i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numDivisions", "divisions", "Quotients and remainders changed">
  ];
}

def TritonLoopUnroll : Pass<"triton-loop-unroll"> {
  let summary = "Unroll the loops that ask for it";
  let description = [{
    A loop with `tt.loop_unroll_factor = n` does n iterations at a time. What is
    left runs in a second loop, which is too short to be worth pipelining
    (`tt.num_stages = 1`).

    ```mlir
    scf.for %i = %c0 to %n step %c1 : i32 {
      "body"(%i)
    } {tt.loop_unroll_factor = 2 : i32}
    // becomes
    scf.for %i = %c0 to %even step %c2 : i32 {
      "body"(%i)
      %j = arith.addi %i, %c1
      "body"(%j)
    }
    scf.for %i = %even to %n step %c1 : i32 {
      "body"(%i)
    } {tt.num_stages = 1 : i32}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numUnrolled", "loops-unrolled", "Loops unrolled">
  ];
}

def TritonBoundLoopCounters : Pass<"triton-bound-loop-counters", "::mlir::ModuleOp"> {
  let summary = "End loops whose counter would pass the end of its type";
  let description = [{
    What lowers `scf.for` compares the next value of the counter with the upper
    bound, and goes on if that value has wrapped around. Where it may, the
    loop compares the value before that, with the upper bound less the step.
    It cannot overflow if the step is 1, or if both bounds are multiples of the step.
    Nor can it if the upper bound is known to be far enough from the end of the type,
    for example because it is an argument with `tt.max`.

    ```mlir
    scf.for %i = %lb to %ub step %c4 : i32 {
      "body"(%i)
    }
    // becomes, with -2^31 + 4 as %least
    %any = arith.cmpi slt, %lb, %ub : i32
    %clamped = arith.maxsi %ub, %least : i32
    %last = arith.subi %clamped, %c4 : i32
    %end = scf.while (%more = %any, %j = %lb) : (i1, i32) -> i32 {
      scf.condition(%more) %j : i32
    } do {
    ^bb0(%i: i32):
      "body"(%i)
      %m = arith.cmpi slt, %i, %last : i32
      %next = arith.addi %i, %c4 : i32
      scf.yield %m, %next : i1, i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numLoops", "loops", "Loops changed">
  ];
}

def TritonLICM : Pass<"triton-licm"> {
  let summary = "Move loop-invariant code, loads included, out of loops";
  let description = [{
    Besides what upstream's loop-invariant-code-motion moves, loads from
    invariant addresses leave a loop in which nothing writes to memory. Quotients
    and remainders stay unless they divide by a constant: a loop that runs no
    iteration divides by nothing, and so not by zero. A loop
    that may run no iteration must not read memory either, so the load gets a
    mask, unless the bounds are known.

    ```mlir
    scf.for %i = %lb to %ub step %c1 : i32 {
      %v = tt.load %p : tensor<128x!tt.ptr<f32>>
    }
    // becomes
    %any = arith.cmpi slt, %lb, %ub : i32
    %mask = tt.splat %any : i1 -> tensor<128xi1>
    %v = tt.load %p, %mask : tensor<128x!tt.ptr<f32>>
    scf.for %i = %lb to %ub step %c1 : i32 {
    }
    ```

    A loop whose `llvm.loop_annotation` disables licm stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numOps", "ops-hoisted", "Operations without effects moved">,
    Statistic<"numLoads", "loads-hoisted", "Loads moved">
  ];
}

def TritonLoopAwareCSE : Pass<"triton-loop-aware-cse"> {
  let summary = "Eliminate common subexpressions, through loops too";
  let description = [{
    Values carried around a loop are the same if they start the same and every
    iteration computes them in the same way from carried values that are the
    same. Such values are merged; then follows upstream's cse.

    ```mlir
    %r:2 = scf.for ... iter_args(%a = %x, %b = %x) -> (i32, i32) {
      %a1 = arith.addi %a, %c1 : i32
      %b1 = arith.addi %b, %c1 : i32
      scf.yield %a1, %b1 : i32, i32
    }
    // becomes, after canonicalization
    %r = scf.for ... iter_args(%a = %x) -> (i32) {
      %a1 = arith.addi %a, %c1 : i32
      scf.yield %a1 : i32
    }
    ```
  }];
  let statistics = [
    Statistic<"numMerged", "iter-args-merged", "Loop-carried values merged">
  ];
}

def TritonRewriteTensorPointer
    : Pass<"triton-rewrite-tensor-pointer", "::mlir::ModuleOp"> {
  let summary = "Turn block pointers into tensors of pointers";
  let description = [{
    A block pointer becomes its parts: base address, shape, strides and offsets,
    which `tt.advance` adds to; they are what loops carry and functions pass.
    Each access computes the addresses of its elements, and a mask for the
    dimensions of `boundaryCheck`.

    ```mlir
    %b = tt.make_tensor_ptr %p, [%n], [%s], [%o] {order = array<i32: 0>} : <tensor<64xf32>>
    %v = tt.load %b {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64xf32>>
    // becomes
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %i = ... // %range + %o, as 64-bit integers
    %ptrs = ... // %p + %i * %s
    %mask = ... // 0 <= %i < %n
    %v = tt.load %ptrs, %mask : tensor<64x!tt.ptr<f32>>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numAccesses", "accesses-rewritten", "Loads and stores rewritten">
  ];
}

def TritonRewriteTensorDescriptorToPointer
    : Pass<"triton-rewrite-tensor-descriptor-to-pointer", "::mlir::ModuleOp"> {
  let summary = "Turn tensor descriptors into tensors of pointers";
  let description = [{
    For machines without hardware for descriptors. A descriptor becomes its
    parts: base address, shape, strides and whether elements out of bounds read
    as NaN. A function parameter that is a descriptor becomes as many parameters:
    a pointer, an i32 per size, an i64 per stride and an i1. Each access computes
    addresses and masks. Loads round elements of f32 to tf32, if their parameter
    has `tt.round_f32_to_tf32`.

    ```mlir
    %d = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <tensor<64xf32>>
    %v = tt.descriptor_load %d[%o] : !tt.tensordesc<tensor<64xf32>> -> tensor<64xf32>
    // becomes
    %ptrs = ... // %p + (%o + [0, 64)) * %s
    %mask = ... // 0 <= %o + [0, 64) < %n
    %v = tt.load %ptrs, %mask, %zero : tensor<64x!tt.ptr<f32>>
    ```

    `tt.descriptor_reduce` becomes `tt.atomic_rmw`; where there is no such atomic
    operation on pointers that is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"onlySplit", "only-split", "bool", /*default=*/"false",
           "Only descriptors with extents that are no powers of two">
  ];
  let statistics = [
    Statistic<"numAccesses", "accesses-rewritten",
              "Loads, stores and reductions rewritten">
  ];
}

def TritonRaisePointersToDescriptors
    : Pass<"triton-raise-pointers-to-descriptors", "::mlir::ModuleOp"> {
  let summary = "Load operands of dots through descriptors, not by pointers";
  let description = [{
    A load in a loop whose addresses are the rows of a matrix becomes a load
    through a descriptor, so that a copy engine can do it. The load feeds a dot,
    as it is, turned or converted. The descriptor is made in front of the loop.
    What the loop leaves as it is goes into the base, and coordinates say how far
    the loop has come.

    ```mlir
    scf.for %k = %c0 to %K step %c64 iter_args(%ptrs = %first) {
      %a = tt.load %ptrs, %mask, %zero : tensor<128x64x!tt.ptr<f16>>
      %next = tt.addptr %ptrs, %c64s
    }
    // becomes
    %desc = tt.make_tensor_descriptor %base, [%most, %K], [%stride, %c1]
    scf.for %k = %c0 to %K step %c64 {
      %a = tt.descriptor_load %desc[%c0, %k]
    }
    ```

    - A mask may compare the index of a row or of a column with a bound. What it
      leaves out is zero.
    - The base, the distance of rows and a bound of columns are known to be
      multiples of 16 bytes. The distance is known not to be negative.
    - Sums and products of 32 bits and more in these addresses and masks are
      taken not to overflow.
    - Nothing that may run before the loop ends may write what is loaded, or may
      wait for others who write. Arguments are taken to be disjoint.
    - Where rows or columns are remainders (`% M`), the loop is there twice. The
      one with descriptors runs where no index is as large as the divisor. The
      same happens where the distance of rows may be zero, and where the loop
      might go on for more rows than coordinates can say.

    With `launch-maps`, the launch makes descriptors of arguments alone
    (`tt.of_arguments`, `LaunchTiles.cpp`). Such a one stands at the top of the
    kernel. If a tile begins at a multiple of a program's number, the factor is
    the stride of another dimension, and the number is the coordinate along it.
    The launch sees whether rows are some distance apart, so no loop is there
    twice for that.

    ```mlir
    %desc = tt.make_tensor_descriptor %arg, [%most, %N, %c64],
                                      [%head, %c64, %c1] {tt.of_arguments}
    scf.for %n = %c0 to %N step %c64 {
      %k = tt.descriptor_load %desc[%program, %n, %c0]
    }
    ```

    With `only-chains`, loops are left alone where descriptors may cost more than
    they gain (`ChainedDots.cpp`). They pay where a dot multiplies what threads
    compute from another one, as in attention, and copies get warps of their own
    (`tt.warp_specialize`). The tensor core waits for what threads compute, unless
    somebody else takes turns. That may be another program on the same
    multiprocessor. If results of dots take half of its registers, there is none.
    With warps for copies, two groups of warps take turns. All operands that the
    loop loads have descriptors then. Without such warps descriptors pay, too,
    if the launch makes all of them.

    A remark says why a load is left alone, and why a loop is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"onlyChains", "only-chains", "bool", /*default=*/"false",
           "Only in loops where it pays: a dot multiplies what comes from "
           "another one">,
    Option<"numWarps", "num-warps", "int", /*default=*/"4",
           "The warps of a program">,
    Option<"registers", "registers", "int", /*default=*/"0",
           "The registers of a multiprocessor. Copies of such loops get warps "
           "of their own if results of dots take half of them; never if that "
           "is 0">,
    Option<"numStages", "num-stages", "int", /*default=*/"3",
           "How many iterations of a loop may be under way">,
    Option<"launchMaps", "launch-maps", "bool", /*default=*/"false",
           "Let launches make descriptors of arguments alone">
  ];
  let statistics = [
    Statistic<"numLoads", "loads-raised", "Loads that go through descriptors">
  ];
}

def TritonUnpackMaps : Pass<"triton-unpack-maps"> {
  let summary = "Give maps of neighbours one tensor for each neighbour";
  let description = [{
    A map of `pack` neighbours at a time needs them in one thread. Which thread
    holds what is not decided yet here. So the neighbours become tensors of their
    own, and the map takes one element of each. Layouts that hold the neighbours
    together make this free.

    ```mlir
    %r = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({...}) : (tensor<64xi32>) -> tensor<64xi32>
    // becomes
    %p = tt.reshape %x : tensor<64xi32> -> tensor<32x2xi32>
    %a, %b = tt.split %p : tensor<32x2xi32> -> tensor<32xi32>
    %m:2 = "tt.map_elementwise"(%a, %b) <{pack = 1 : i32}> ({...}) : (tensor<32xi32>, tensor<32xi32>) -> (tensor<32xi32>, tensor<32xi32>)
    %j = tt.join %m#0, %m#1 : tensor<32xi32> -> tensor<32x2xi32>
    %r = tt.reshape %j : tensor<32x2xi32> -> tensor<64xi32>
    ```
  }];
  let statistics = [
    Statistic<"numMaps", "maps-unpacked", "Maps of several neighbours">
  ];
}

def TritonSplitRows : Pass<"triton-split-rows", "mlir::ModuleOp"> {
  let summary = "Take tensors apart that are longer than the module says";
  let description = [{
    A module may say how long a dimension is to be at most
    (`tt.longest_extent`). Then each longer tensor becomes several, as in
    `triton-split-shapes`. Descriptors of such blocks describe one piece.

    ```mlir
    %q = tt.descriptor_load %desc[%x, %y] : !tt.tensordesc<tensor<256x64xf16>> -> tensor<256x64xf16>
    // becomes
    %q0 = tt.descriptor_load %desc[%x, %y] : !tt.tensordesc<tensor<128x64xf16>> -> tensor<128x64xf16>
    %z = arith.addi %x, %c128 : i32
    %q1 = tt.descriptor_load %desc[%z, %y] : !tt.tensordesc<tensor<128x64xf16>> -> tensor<128x64xf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TritonSplitShapes : Pass<"triton-split-shapes"> {
  let summary = "Take tensors apart into pieces of powers of two";
  let description = [{
    Layouts have powers of two. A tensor with another extent becomes several
    tensors, through control flow and calls, too. An extent is taken apart into
    powers of two, the largest first: 96 = 64 + 32. So nothing is padded. No lane
    computes or accesses what the program does not have.

    Reductions and scans combine the pieces in order. A dot adds up the pieces
    along the contracted dimension. A reshape halves and joins pieces,
    or gathers elements if they are too many. What `tt.print` prints has the
    indices of the whole tensor, by `tt.first_index`.

    ```mlir
    %r = tt.make_range {start = 0 : i32, end = 96 : i32} : tensor<96xi32>
    // becomes
    %r0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %r1 = tt.make_range {start = 64 : i32, end = 96 : i32} : tensor<32xi32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // TILE_DIALECT_TRITON_TRANSFORMS_PASSES

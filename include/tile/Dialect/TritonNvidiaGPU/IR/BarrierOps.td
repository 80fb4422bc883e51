//===-- BarrierOps.td - mbarriers, fences, clusters --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_BARRIEROPS_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_BARRIEROPS_TD

include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUOpBase.td"

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

def TTNG_InitBarrierOp : TTNG_Op<"init_barrier", [TTG_BarrierUser]> {
  let summary = "Make a barrier in shared memory";
  let description = [{
    Initialises the barrier object: phase 0, `count` arrivals expected in each
    phase. Other threads may use the barrier after a block-wide barrier.

    Example:

    ```mlir
    ttnvgpu.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "barrier", [MemWrite<TTNG_SharedMemory>]>:$alloc,
    ConfinedAttr<I32Attr, [IntPositive]>:$count);
  let assemblyFormat = "$alloc `,` $count attr-dict `:` qualified(type($alloc))";
  let hasVerifier = 1;
}

def TTNG_InvalBarrierOp : TTNG_Op<"inval_barrier", [TTG_BarrierUser]> {
  let summary = "End the life of a barrier";
  let description = [{
    After this the memory of the barrier may be used for something else.

    Example:

    ```mlir
    ttnvgpu.inval_barrier %bar : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "barrier", [MemWrite<TTNG_SharedMemory>]>:$alloc);
  let assemblyFormat = "$alloc attr-dict `:` qualified(type($alloc))";
  let hasVerifier = 1;
}

def TTNG_BarrierExpectOp : TTNG_Op<"barrier_expect", [
    TTG_BarrierUser, TTG_PredicatedOpInterface]> {
  let summary = "Arrive at a barrier and announce bytes of asynchronous copies";
  let description = [{
    One thread arrives and adds `size` bytes to what the current phase waits for;
    the phase ends when all arrivals and all announced bytes are in. Nothing
    happens where `pred` is false. With `fromCTA` only this block of the cluster
    arrives.

    Examples:

    ```mlir
    ttnvgpu.barrier_expect %bar, 8192, %pred : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttnvgpu.barrier_expect %bar, 8192 {fromCTA = 0 : i32}, %pred : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "barrier",
        [MemRead<TTNG_SharedMemory>, MemWrite<TTNG_SharedMemory>]>:$alloc,
    ConfinedAttr<I32Attr, [IntNonNegative]>:$size,
    I1:$pred,
    OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$fromCTA);
  let assemblyFormat =
    "$alloc `,` $size attr-dict `,` $pred `:` qualified(type($alloc))";
  let builders = [
    OpBuilder<(ins "::mlir::Value":$alloc, "uint32_t":$size,
                   "::mlir::Value":$pred), [{
      build($_builder, $_state, alloc, size, pred,
            /*fromCTA=*/::mlir::IntegerAttr());
    }]>
  ];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TTNG_WaitBarrierOp : TTNG_Op<"wait_barrier", [
    AttrSizedOperandSegments, TTG_BarrierUser, TTG_PredicatedOpInterface]> {
  let summary = "Wait until a phase of a barrier has ended";
  let description = [{
    Waits until the phase of parity `phase` (0 or 1) is complete. Where `pred` is
    given and false, does not wait. `deps` are buffers whose contents the barrier
    guards: they keep allocation and motion of code from treating them as unused
    before the wait.

    Example:

    ```mlir
    ttnvgpu.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttnvgpu.wait_barrier %bar, %phase, %pred deps %a, %b : !ttg.memdesc<1xi64, #shared, #smem, mutable>, !ttg.memdesc<128x64xf16, #shared1, #smem, mutable>, !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "barrier",
        [MemRead<TTNG_SharedMemory>, MemWrite<TTNG_SharedMemory>]>:$alloc,
    I32:$phase,
    Optional<I1>:$pred,
    Variadic<TTNG_MemDesc>:$deps);
  let assemblyFormat = [{
    $alloc `,` $phase (`,` $pred^)? (`deps` $deps^)? attr-dict
    `:` qualified(type($alloc)) (`,` qualified(type($deps))^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$alloc, "::mlir::Value":$phase), [{
      build($_builder, $_state, alloc, phase, /*pred=*/::mlir::Value(),
            /*deps=*/::mlir::ValueRange());
    }]>,
    OpBuilder<(ins "::mlir::Value":$alloc, "::mlir::Value":$phase,
                   "::mlir::Value":$pred), [{
      build($_builder, $_state, alloc, phase, pred,
            /*deps=*/::mlir::ValueRange());
    }]>
  ];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TTNG_ArriveBarrierOp : TTNG_Op<"arrive_barrier", [
    TTG_BarrierUserOpInterface, TTG_PredicatedOpInterface]> {
  let summary = "Arrive at a barrier";
  let description = [{
    One thread of the block (or of the warp-specialised partition) arrives `count`
    times, after all its threads got here. Nothing happens where `pred` is given
    and false. With `fromCTA` only this block of the cluster arrives. With
    `multicastCTA` each block arrives at its own barrier, and at those of the blocks
    whose numbers differ from its own in these bits only.

    Example:

    ```mlir
    ttnvgpu.arrive_barrier %bar, 2 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttnvgpu.arrive_barrier %bar, 1, %pred : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttnvgpu.arrive_barrier %bar, 1 {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "barrier",
        [MemRead<TTNG_SharedMemory>, MemWrite<TTNG_SharedMemory>]>:$alloc,
    ConfinedAttr<I32Attr, [IntPositive]>:$count,
    Optional<I1>:$pred,
    OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$fromCTA,
    DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$multicastCTA);
  let assemblyFormat = [{
    $alloc `,` $count (`,` $pred^)? attr-dict `:` qualified(type($alloc))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$alloc, "uint32_t":$count), [{
      build($_builder, $_state, alloc, count, /*pred=*/::mlir::Value());
    }]>,
    OpBuilder<(ins "::mlir::Value":$alloc, "uint32_t":$count,
                   "::mlir::Value":$pred), [{
      build($_builder, $_state, alloc, count, pred,
            /*fromCTA=*/::mlir::IntegerAttr());
    }]>
  ];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def TTNG_AsyncCopyMbarrierArriveOp
    : TTNG_Op<"async_copy_mbarrier_arrive", [
          TTG_BarrierUserOpInterface, TTG_ArrivesAfterCopies]> {
  let summary = "Arrive at a barrier once earlier asynchronous copies are done";
  let description = [{
    Each thread arrives when all its earlier `ttg.async_copy_global_to_local` are
    done, without waiting for that here. The arrivals add to the count that the
    phase expects, so that it stays balanced; with `noIncrement` they must be part
    of the count given to `init_barrier`.

    Example:

    ```mlir
    ttnvgpu.async_copy_mbarrier_arrive %bar {noIncrement} : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTNG_MemDesc, "barrier",
        [MemRead<TTNG_SharedMemory>, MemWrite<TTNG_SharedMemory>]>:$barrier,
    UnitAttr:$noIncrement);
  let assemblyFormat = "$barrier attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fences and clusters. They declare no memory effects: what they order is not
// tied to a resource, and an operation of unknown effects stays where it is.
//===----------------------------------------------------------------------===//

def TTNG_FenceAsyncSharedOp
    : TTNG_Op<"fence_async_shared", [TTG_OnChipOnly]> {
  let summary = "Make stores to shared memory visible to the async proxy";
  let description = [{
    The tensor core and the TMA unit read shared memory through the async proxy.
    What threads wrote through the generic proxy is visible there only after this
    fence; with `bCluster` in the shared memory of the whole cluster.

    Example:

    ```mlir
    ttnvgpu.fence_async_shared {bCluster = false}
    ```
  }];
  let arguments = (ins BoolAttr:$bCluster);
  let assemblyFormat = "attr-dict";
  let hasCanonicalizeMethod = 1;
}

def TTNG_FenceAsyncGlobalOp : TTNG_Op<"fence_async_global"> {
  let summary = "Order accesses to global memory before those of TMA";
  let description = [{
    TMA accesses global memory through the async proxy. What the threads did to it
    before this fence comes before the copies that they start after it.

    Example:

    ```mlir
    ttnvgpu.fence_async_global
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TTNG_FenceMbarrierInitReleaseClusterOp
    : TTNG_Op<"fence_mbarrier_init_release_cluster"> {
  let summary = "Make initialised barriers visible to the cluster";
  let description = [{
    Orders earlier `init_barrier` before what other blocks of the cluster do to
    these barriers after the next `cluster_barrier`.

    Example:

    ```mlir
    ttnvgpu.fence_mbarrier_init_release_cluster
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TTNG_ClusterArriveOp : TTNG_Op<"cluster_arrive"> {
  let summary = "Arrive at the barrier of the cluster";
  let description = [{
    With `relaxed = true` the arrival orders no memory access.

    Example:

    ```mlir
    ttnvgpu.cluster_arrive
    ttnvgpu.cluster_arrive {relaxed = false}
    ```
  }];
  let arguments = (ins OptionalAttr<BoolAttr>:$relaxed);
  let assemblyFormat = "attr-dict";
  let extraClassDeclaration = [{
    bool isRelaxed() { return getRelaxed().value_or(false); }
  }];
}

def TTNG_ClusterWaitOp : TTNG_Op<"cluster_wait"> {
  let summary = "Wait until all blocks of the cluster have arrived";
  let description = [{
    Example:

    ```mlir
    ttnvgpu.cluster_wait
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TTNG_ClusterBarrierOp : TTNG_Op<"cluster_barrier", [TTG_BlockBarrier]> {
  let summary = "Arrive at the barrier of the cluster and wait there";
  let description = [{
    The same as `cluster_arrive` followed by `cluster_wait`.

    Example:

    ```mlir
    ttnvgpu.cluster_barrier
    ttnvgpu.cluster_barrier {relaxed = true}
    ```
  }];
  let arguments = (ins DefaultValuedAttr<BoolAttr, "false">:$relaxed);
  let assemblyFormat = "attr-dict";
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_BARRIEROPS_TD

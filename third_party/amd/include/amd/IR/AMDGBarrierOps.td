//===-- AMDGBarrierOps.td - Barriers in LDS, and waits -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_AMDGBARRIEROPS
#define AMD_IR_AMDGBARRIEROPS

include "amd/IR/AMDGOpBase.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

//===----------------------------------------------------------------------===//
// Barriers in LDS are 64 bits that gfx1250 counts arrivals in.
//===----------------------------------------------------------------------===//

class AMDG_BarrierOp<string mnemonic> : AMDG_Op<mnemonic> {
  let extraClassDeclaration = [{
    static ::llvm::StringRef getMissing() {
      return "barriers in LDS (gfx1250)";
    }
  }];
  let hasVerifier = 1;
}

def AMDG_InitBarrierOp : AMDG_BarrierOp<"init_barrier"> {
  let summary = "Make a barrier in LDS";
  let description = [{
    Each phase of the barrier ends with `count` arrivals.

    Example:

    ```mlir
    amdg.init_barrier %bar, 4 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$alloc,
                       ConfinedAttr<I32Attr, [IntPositive]>:$count);
  let assemblyFormat = "$alloc `,` $count attr-dict `:` qualified(type($alloc))";
}

def AMDG_ArriveBarrierOp : AMDG_BarrierOp<"arrive_barrier"> {
  let summary = "Arrive at a barrier in LDS";
  let description = [{
    Counts `count` arrivals. The result is the parity of the phase before that.

    Example:

    ```mlir
    %phase = amdg.arrive_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable> -> i32
    ```
  }];
  let arguments = (ins
    Arg<TTG_MemDescType, "", [MemRead<SharedMemory>, MemWrite<SharedMemory>]>:$alloc,
    ConfinedAttr<I32Attr, [IntPositive]>:$count);
  let results = (outs I32:$result);
  let assemblyFormat = [{
    $alloc `,` $count attr-dict `:` qualified(type($alloc)) `->` type($result)
  }];
}

def AMDG_WaitBarrierOp : AMDG_BarrierOp<"wait_barrier"> {
  let summary = "Wait until a phase of a barrier in LDS has ended";
  let description = [{
    `phase` is the parity, 0 or 1.

    Example:

    ```mlir
    amdg.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTG_MemDescType, "", [MemRead<SharedMemory>, MemWrite<SharedMemory>]>:$alloc,
    I32:$phase);
  let assemblyFormat = "$alloc `,` $phase attr-dict `:` qualified(type($alloc))";
}

def AMDG_AsyncCopyMbarrierArriveOp
    : AMDG_BarrierOp<"async_copy_mbarrier_arrive"> {
  let summary = "Arrive when earlier copies into LDS are done";
  let description = [{
    Example:

    ```mlir
    amdg.async_copy_mbarrier_arrive %bar : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<TTG_MemDescType, "", [MemRead<SharedMemory>, MemWrite<SharedMemory>]>:$barrier);
  let assemblyFormat = "$barrier attr-dict `:` qualified(type($barrier))";
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

class AMDG_ClusterBarrierOp<string mnemonic> : AMDG_Op<mnemonic> {
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def AMDG_ClusterBarrierArriveOp : AMDG_ClusterBarrierOp<"cluster_barrier_arrive"> {
  let summary = "Arrive at the barrier of the cluster";
  let description = [{
    To be followed by `amdg.cluster_barrier_wait`. There are several blocks in
    the program.

    Example:

    ```mlir
    amdg.cluster_barrier_arrive
    ```
  }];
}

def AMDG_ClusterBarrierWaitOp : AMDG_ClusterBarrierOp<"cluster_barrier_wait"> {
  let summary = "Wait until all blocks of the cluster have arrived";
  let description = [{
    Example:

    ```mlir
    amdg.cluster_barrier_wait
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

def AMDG_MemoryCounterWaitOp : AMDG_Op<"memory_counter_wait"> {
  let summary = "Wait by the machine's counters";
  let description = [{
    Waits until at most so many loads from memory, stores to it and accesses to
    LDS are under way; what is not named is not waited for.

    Example:

    ```mlir
    amdg.memory_counter_wait load(1) store(2) ds(3)
    ```
  }];
  let arguments = (ins
    OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$load,
    OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$store,
    OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$ds);
  let assemblyFormat = [{
    oilist(`load` `(` $load `)` | `store` `(` $store `)` | `ds` `(` $ds `)`)
    attr-dict
  }];
}

#endif // AMD_IR_AMDGBARRIEROPS

//===-- Passes.td - Passes on nvws -------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_NVWS_TRANSFORMS_PASSES
#define TILE_DIALECT_NVWS_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def NVWSInsertAref : Pass<"nvws-insert-aref", "::mlir::ModuleOp"> {
  let summary = "Send what other partitions use through rings";
  let description = [{
    Operations say which partition runs them (`ttg.partition`). A tensor or a number
    that one partition has and another one uses goes through a ring of one slot. So
    does a buffer in shared memory that is made with its contents. The maker fills the
    slot. Of what a loop hands on (`ttg.partition.outputs`), the one that has it does so
    at the start of the iteration. Each other partition enters the slot before its
    first use, and leaves it behind its last access of the slot.

    Blocks that descriptors load are copied to the slot. Answers of launch control go
    to a ring of two slots. Where an operation runs in the partition that has a value
    and in others, `nvws.aref.phi` is the value that each of them has. Single bits and
    pointers go through no ring.

    Before:
    ```mlir
    scf.for ... {
      %x = tt.descriptor_load %desc[%i, %j] {ttg.partition = array<i32: 2>} : ...
      %a = ttg.local_alloc %x {ttg.partition = array<i32: 2>} : ...
      "use"(%a) {ttg.partition = array<i32: 1>} : ...
    }
    ```
    After:
    ```mlir
    %buffers = ttg.local_alloc : () -> !ttg.memdesc<1x128x64xf16, ...>
    %ring = nvws.aref.create %buffers : ...
    scf.for ... {
      %w, %t = nvws.aref.put.enter %ring {ttg.partition = array<i32: 2>} : ...
      nvws.descriptor_load %desc[%i, %j] 16384 %w {ttg.partition = array<i32: 2>} : ...
      nvws.aref.put.exit %ring, %t [#nvws.async_op<tma_load>] {ttg.partition = array<i32: 2>} : ...
      %r, %u = nvws.aref.get.enter %ring {ttg.partition = array<i32: 1>} : ...
      "use"(%r) {ttg.partition = array<i32: 1>} : ...
      nvws.aref.get.exit %ring, %u [#nvws.async_op<none>] {ttg.partition = array<i32: 1>} : ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvws::NVWSDialect"];
  let statistics = [
    Statistic<"numRings", "num-rings", "Rings made">
  ];
}

def NVWSHoistTMEMStore : Pass<"nvws-hoist-tmem-store", "::mlir::ModuleOp"> {
  let summary = "Have sums of tiles begin with their allocation";
  let description = [{
    Each tile stores the first value of its sum, and its first dot overwrites that. The
    value becomes the source of the allocation, so that one partition has the buffer
    to itself until its dots are done. If each tile has a dot, or none has one, the
    buffer moves in front of all loops. These hand on its token. `llvm.intr.assume`
    may say that a loop has an iteration.

    Before:
    ```mlir
    scf.for ... {
      %d, %t = ttnvgpu.tmem_alloc {ttg.partition = array<i32: 0, 1>} : () -> (...)
      %u = ttnvgpu.tmem_store %zero, %d[%t], %true {ttg.partition = array<i32: 0>} : ...
      scf.for ... iter_args(%adds = %false, %v = %u) {
        %w = ttnvgpu.tc_gen5_mma %a, %b, %d[%v], %adds, %true {ttg.partition = array<i32: 1>} : ...
        scf.yield %true, %w : ...
      }
    }
    ```
    After:
    ```mlir
    %d, %t = ttnvgpu.tmem_alloc %zero : (...) -> (...)
    scf.for ... iter_args(%u = %t) {
      %r:2 = scf.for ... iter_args(%adds = %false, %v = %u) {
        %w = ttnvgpu.tc_gen5_mma %a, %b, %d[%v], %adds, %true {ttg.partition = array<i32: 1>} : ...
        scf.yield %true, %w : ...
      }
      scf.yield %r#1 : ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numStores", "num-stores", "Stores that became sources of allocations">,
    Statistic<"numHoisted", "num-hoisted", "Buffers in front of all loops">
  ];
}

def NVWSInsertTMEMAref : Pass<"nvws-insert-tmem-aref", "::mlir::ModuleOp"> {
  let summary = "Hand buffers of tensor memory to other partitions through rings";
  let description = [{
    Two partitions take rounds with a buffer of tensor memory. The buffer becomes a ring.
    The first of the two fills it, the second one takes it from there. Tokens say in
    which order loops, branches and `scf.while` access the buffer. These hand on the
    token of the ring in place of them. Without tokens, all accesses are in one body.

    All warps may access the buffer in front of the loop and behind it. The ring has two
    slots where each round of the first partition begins with a write of all of the
    buffer, and where 512 columns suffice. `tt.disallow_acc_multi_buffer` keeps it at
    one. Each filled slot is taken, so that the ring is empty at its end.

    Before:
    ```mlir
    %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<128x64xf32, ...>
    scf.for ... {
      ttnvgpu.tc_gen5_mma %a, %b, %d, ... {ttg.partition = array<i32: 1>} : ...
      %x = ttnvgpu.tmem_load %d {ttg.partition = array<i32: 0>} : ...
    }
    ```
    After:
    ```mlir
    %d = ttnvgpu.tmem_alloc : () -> !ttg.memdesc<1x128x64xf32, ...>
    %ring = nvws.aref.create %d : ...
    scf.for ... {
      %0, %t = nvws.aref.put.enter %ring {ttg.partition = array<i32: 1>} : ...
      %w = nvws.aref.buffer %ring, %t {ttg.partition = array<i32: 1>} : ...
      ttnvgpu.tc_gen5_mma %a, %b, %w, ... {ttg.partition = array<i32: 1>} : ...
      nvws.aref.put.exit %ring, %t [#nvws.async_op<tc5mma>] {ttg.partition = array<i32: 1>} : ...
      %1, %u = nvws.aref.get.enter %ring {ttg.partition = array<i32: 0>} : ...
      %r = nvws.aref.buffer %ring, %u {ttg.partition = array<i32: 0>} : ...
      %x = ttnvgpu.tmem_load %r {ttg.partition = array<i32: 0>} : ...
      nvws.aref.get.exit %ring, %u [#nvws.async_op<none>] {ttg.partition = array<i32: 0>} : ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::ub::UBDialect",
                           "::mlir::triton::nvws::NVWSDialect"];
  let statistics = [
    Statistic<"numRings", "num-rings", "Rings made">
  ];
}

def NVWSAssignStagePhase
    : Pass<"nvws-assign-stage-phase", "::mlir::ModuleOp"> {
  let summary = "Say which slot of a ring each access is at";
  let description = [{
    Each time that a partition enters a ring, it takes the next slot. Behind the
    last one comes the first one again, with the other phase. This pass adds the slot
    and the phase to loops and branches, one of each for those that fill the ring, and
    for each set of partitions that reads it. It sets them at `aref.put.enter` and
    `aref.get.enter`, and the slot at what follows there. A slot or phase that is
    there already gives way.

    Before:
    ```mlir
    scf.for ... {
      %buf, %t = nvws.aref.put.enter %ring {ttg.partition = array<i32: 0>} : ...
      nvws.aref.put.exit %ring, %t [#nvws.async_op<none>] {ttg.partition = array<i32: 0>} : ...
    }
    ```
    After:
    ```mlir
    scf.for ... iter_args(%slot = %c2, %phase = %c0) {
      %0 = arith.addi %slot, %c1 : i32
      %wraps = arith.cmpi eq, %0, %c3 : i32
      %next = arith.select %wraps, %c0, %0 : i32
      %1 = arith.xori %phase, %c1 : i32
      %other = arith.select %wraps, %1, %phase : i32
      %buf, %t = nvws.aref.put.enter %ring[%next, %other] : ...
      nvws.aref.put.exit %ring[%next], %t [#nvws.async_op<none>] : ...
      scf.yield %next, %other : i32, i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numRings", "num-rings", "Rings with slots and phases">
  ];
}

def NVWSLowerAref : Pass<"nvws-lower-aref", "::mlir::ModuleOp"> {
  let summary = "Round rings into buffers and barriers";
  let description = [{
    Each slot of a ring gets two mbarriers: one at which those arrive that have filled
    it, one at which those arrive that have read it. To enter is to wait at one of
    them, and to exit is to arrive at the other. Where an asynchronous operation fills
    or reads the slot, it arrives itself, or a commit does when it is done. Slots and
    phases are those of `nvws-assign-stage-phase`, which runs first.

    The threads of a partition wait for each other before one of them commits.
    `nvws.aref.destroy` waits until tensor cores have read all slots.

    Threads that write to shared memory fence before they say so, if a tensor core
    reads there. A ring of one slot that copies fill gets `num-stages` slots, if its
    buffer is there for it alone: so copies run ahead.

    Before:
    ```mlir
    %buf, %t = nvws.aref.put.enter %ring[%slot, %phase] : ...
    ttg.local_store %x, %buf : ...
    nvws.aref.put.exit %ring[%slot], %t [#nvws.async_op<none>] : ...
    ```
    After:
    ```mlir
    %e = ttg.memdesc_index %empty[%slot] : ...
    ttnvgpu.wait_barrier %e, %phase : ...
    %buf = ttg.memdesc_index %buffers[%slot] : ...
    ttg.local_store %x, %buf : ...
    %f = ttg.memdesc_index %full[%slot] : ...
    ttnvgpu.arrive_barrier %f, 1 : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let options = [
    Option<"numStages", "num-stages", "int32_t", "3",
           "Slots of rings that copies fill">
  ];
  let statistics = [
    Statistic<"numRings", "num-rings", "Rings lowered">
  ];
}

def NVWSPartitionLoops : Pass<"nvws-partition-loops", "::mlir::ModuleOp"> {
  let summary = "Give each partition a copy of a loop with what it runs";
  let description = [{
    The operations of a loop say which partitions run them (`ttg.partition`), and the
    loop says who has its results (`ttg.partition.outputs`). The loop becomes a group
    of partitions. Each has the loop with its own operations and values. Operations
    with the `ttg.warp_specialize.tag` of the loop, in front of it or behind it, go
    with their partition. Results that others use are those of the first partition.
    Tensors and numbers of other partitions pass through shared memory.

    A value of one partition that another one uses is an error: rings hand such on
    (`nvws-insert-aref`). `nvws.aref.phi` is the operand that a partition has.
    `tritongpu-partition-loops` is another pass: it decides what other warps run.

    Before:
    ```mlir
    scf.for ... {
      "a"(%i) {ttg.partition = array<i32: 0>} : (i32) -> ()
      "b"(%i) {ttg.partition = array<i32: 1>} : (i32) -> ()
    } {ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32}
    ```
    After:
    ```mlir
    nvws.warp_group
    partition0 num_warps(4) {
      scf.for ... {
        "a"(%i) : (i32) -> ()
      }
      nvws.warp_group.yield
    }
    partition1 num_warps(4) {
      scf.for ... {
        "b"(%i) : (i32) -> ()
      }
      nvws.warp_group.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvws::NVWSDialect"];
  let statistics = [
    Statistic<"numLoops", "num-loops", "Loops divided">
  ];
}

def NVWSLowerWarpGroup : Pass<"nvws-lower-warp-group", "::mlir::ModuleOp"> {
  let summary = "Round groups of partitions into ttg.warp_specialize";
  let description = [{
    The first partition becomes the default region, if it is for as many warps as run
    what is around. Otherwise the default region is empty. Others become partitions.
    Constants are made anew in each of them. Tensors that come from outside go
    through shared memory.

    Before:
    ```mlir
    nvws.warp_group
    partition0 num_warps(4) {
      "a"() : () -> ()
      nvws.warp_group.return
    }
    partition1 num_warps(1) {
      "b"(%x) : (i32) -> ()
      nvws.warp_group.return
    }
    ```
    After:
    ```mlir
    ttg.warp_specialize(%x)
    default {
      "a"() : () -> ()
      ttg.warp_yield
    }
    partition0(%y: i32) num_warps(1) {
      "b"(%y) : (i32) -> ()
      ttg.warp_return
    } : (i32) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numGroups", "num-groups", "Groups lowered">
  ];
}

#endif // TILE_DIALECT_NVWS_TRANSFORMS_PASSES

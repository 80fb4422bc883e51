//===-- CopyPasses.td - Copies, and atomic operations ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_COPYPASSES
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_COPYPASSES

include "mlir/Pass/PassBase.td"

def TritonNvidiaTMALowering
    : Pass<"triton-nvidia-tma-lowering", "::mlir::ModuleOp"> {
  let summary = "Turn descriptor operations into TMA copies";
  let description = [{
    Each `tt.descriptor_load` (`gather`) becomes a TMA copy into a new buffer, with a
    barrier of its own to wait at. Each `tt.descriptor_store` (`reduce`, `scatter`)
    becomes a TMA copy out of a new buffer, and a wait until the copy has read it.
    Before this pass, pipelining takes those that it can overlap. `tt.make_tensor_descriptor`
    becomes code that writes a tensor map to global scratch memory.

    Copies keep their order with other accesses to the same memory. A proxy fence
    follows what the threads write there, or acquire. A store waits until what was
    stored before is complete. If something in the function may see the stored data,
    it also waits until it is complete itself.

    The types of descriptors have to say how blocks lie in shared memory, see
    `triton-nvidia-optimize-descriptor-encoding`.

    Before:
    ```mlir
    %x = tt.descriptor_load %desc[%i, %j] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    ```
    After:
    ```mlir
    %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttnvgpu.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttnvgpu.barrier_expect %bar, 8192, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttnvgpu.async_tma_copy_global_to_local %desc[%i, %j] %buf, %bar, %true : ...
    ttnvgpu.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttnvgpu.inval_barrier %bar : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %x = ttg.local_load %buf : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    ```
  }];
  let dependentDialects = ["::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numLoads", "num-loads", "Loads and gathers lowered">,
    Statistic<"numStores", "num-stores", "Stores, reductions and scatters lowered">,
    Statistic<"numDescriptors", "num-descriptors", "Descriptors made on the device">
  ];
}

def TritonNvidiaOverlapStores
    : Pass<"triton-nvidia-overlap-stores", "::mlir::ModuleOp"> {
  let summary = "Let TMA stores of a loop run on into its next iteration";
  let description = [{
    Gives stores that `triton-nvidia-tma-lowering` made in an `scf.for` buffers of
    their own. So an iteration waits for the copy of the one before only when it
    has something to write into the buffer. Copies to blocks that a constant distance
    keeps apart do not wait for each other. If not all of them have room, they take
    a few buffers in turns. Buffers that would keep another block off the
    multiprocessor are not made.

    Before:
    ```mlir
    scf.for ... {
      %buf = ttg.local_alloc %x : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_store_wait {pendings = 0 : i32, complete}
      ttnvgpu.async_tma_copy_local_to_global %desc[%i, %j] %buf : ...
      ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    }
    ```
    After:
    ```mlir
    %buf = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    scf.for ... {
      ttnvgpu.async_tma_store_wait {pendings = 0 : i32, complete}
      ttg.local_store %x, %buf : tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttnvgpu.fence_async_shared {bCluster = false}
      ttnvgpu.async_tma_copy_local_to_global %desc[%i, %j] %buf : ...
    }
    ttnvgpu.async_tma_store_wait {pendings = 0 : i32}
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let statistics = [
    Statistic<"numOverlapped", "num-overlapped", "Stores with a buffer of their own">
  ];
}

def TritonNvidiaOptimizeDescriptorEncoding
    : Pass<"triton-nvidia-optimize-descriptor-encoding", "::mlir::ModuleOp"> {
  let summary = "Choose how the blocks of descriptors lie in shared memory";
  let description = [{
    Gives every `!tt.tensordesc` without encoding one. All values that a descriptor
    may come from or go to (through loops, branches, selects and calls) get the same:

    * the encoding that a user of a loaded block copies it to shared memory with, if
      TMA can write that;
    * with `for-tensor-memory`, padding for 4-bit operands of scaled dots beside 8-bit
      ones, and whole rows without a swizzle for scales that are packed as
      `tcgen05.cp` copies them;
    * otherwise the widest swizzle that the rows of the block fill.

    With `leave-to-pointers`, descriptors that TMA cannot serve, or would not serve
    better than pointers do, keep none, and a remark says why. A loop with dots whose
    descriptors have a loaded base gets a second version, for those that TMA serves.
    A condition asks that at run time. The pass can then run
    before `triton-rewrite-tensor-descriptor-to-pointer`, which takes those. Of the
    descriptors among a kernel's arguments, the host then passes the parts (base, shape,
    strides, padding). As last arguments it passes the tensor maps that it makes of them.
    `ttnvgpu.tensor_map` on such an argument says how, `ttnvgpu.tensor_map_base` on which
    argument the parts begin. With `launch-maps`, descriptors that are made of sums and
    products of arguments become such maps, too. `code` and `parts` of
    `ttnvgpu.tensor_map` say what the launch computes, and `ttnvgpu.tensor_map_input` of
    which arguments. Those with `tt.of_arguments` do so in any case.

    Before:
    ```mlir
    %x = tt.descriptor_load %desc[%i, %j] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #blocked>
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ```
    After:
    ```mlir
    %x = tt.descriptor_load %desc[%i, %j] : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect",
                           "::mlir::triton::nvidia_gpu::TritonNvidiaGPUDialect"];
  let options = [
    Option<"leaveToPointers", "leave-to-pointers", "bool", "false",
           "Leave descriptors that are better off as pointers without encoding">,
    Option<"numCTAs", "num-ctas", "unsigned", "1",
           "Blocks of a cluster, where the module does not say yet">,
    Option<"forTensorMemory", "for-tensor-memory", "bool", "false",
           "Whether scaled dots take 4-bit operands with padding, and scales as they "
           "are packed in memory">,
    Option<"launchMaps", "launch-maps", "bool", "false",
           "Let launches make descriptors of arguments alone">
  ];
  let statistics = [
    Statistic<"numOfLaunch", "num-of-launch", "Descriptors that launches make">,
    Statistic<"numLeft", "num-left", "Descriptors left to pointers">,
    Statistic<"numFromUses", "num-from-uses", "Descriptors laid out for a use">,
    Statistic<"numDefault", "num-default", "Descriptors with the default encoding">
  ];
}

def TritonNvidiaOptimizeAtomics
    : Pass<"triton-nvidia-optimize-atomics", "::mlir::ModuleOp"> {
  let summary = "Add results of dots to memory from the warps that have them";
  let description = [{
    Atomic operations on a result of a dot get another layout, if nobody uses the old
    values. Threads come to it by exchanges inside their warps, with as many
    neighbours for each as before. Through shared memory all warps would wait for each
    other twice, in a loop in each iteration. Addresses and masks find that layout in the
    passes that remove conversions.

    Before:
    ```mlir
    %1 = ttg.convert_layout %0 : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    %2 = tt.atomic_rmw fadd, relaxed, gpu, %p, %1, %m : (tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xi1, #blocked>) -> tensor<64x64xf32, #blocked>
    ```
    After:
    ```mlir
    %q = ttg.convert_layout %p : tensor<64x64x!tt.ptr<f32>, #blocked> -> tensor<64x64x!tt.ptr<f32>, #linear>
    %1 = ttg.convert_layout %0 : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #linear>
    %n = ttg.convert_layout %m : tensor<64x64xi1, #blocked> -> tensor<64x64xi1, #linear>
    %2 = tt.atomic_rmw fadd, relaxed, gpu, %q, %1, %n : (tensor<64x64x!tt.ptr<f32>, #linear>, tensor<64x64xf32, #linear>, tensor<64x64xi1, #linear>) -> tensor<64x64xf32, #linear>
    ```
  }];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let statistics = [
    Statistic<"numAtomics", "num-atomics", "Atomic operations with another layout">
  ];
}

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_COPYPASSES

//===-- TensorMemory.h - Lowering of tensor memory --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A buffer in tensor memory is its address, an i32: the lane in the upper half,
// the column in the lower one. A kernel allocates all that it needs at its
// start, and gives it back where it ends. The address of the whole is kept in
// shared memory, where partitions of warps find it, too.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_TENSORMEMORY_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_TENSORMEMORY_H

#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

namespace mlir::triton::nvidia {

/// What the kernels of a module do with tensor memory.
struct TensorMemoryUse {
  /// Columns that a block allocates; zero where there is no tensor memory.
  unsigned columns = 0;
  /// Where the address of the allocation is in shared memory.
  int64_t addressOffset = 0;
  /// Whether blocks work in pairs.
  bool inPairs = false;

  /// Asks the operations of ttnvgpu, before they are lowered.
  static FailureOr<TensorMemoryUse> of(ModuleOp module,
                                       const NVIDIATarget &facts);
  /// The modifier that all tcgen05 instructions of a kernel share.
  StringRef getGroup() const {
    return inPairs ? ".cta_group::2" : ".cta_group::1";
  }
};

/// Behind all buffers, which take `size` bytes of shared memory, has four bytes
/// stay for the address of the block's tensor memory, if there is any:
/// partitions read it there, too. Adds them to `size`. Fails, with an error,
/// where a block has not so many.
LogicalResult reserveTensorMemoryAddress(ModuleOp module, int64_t &size);

/// Puts the allocation and the release into the kernels, which are functions of
/// the LLVM dialect by now.
void emitTensorMemoryFrames(ModuleOp module, const TargetInfo &target,
                            const TensorMemoryUse &use);

/// tmem_alloc, and views of tensor memory.
void populateTensorMemoryPatterns(const LoweringContext &context,
                                  const TargetInfo &target,
                                  const TensorMemoryUse &use);
/// tmem_load and tmem_store.
void populateTensorMemoryAccessPatterns(const LoweringContext &context,
                                        const TargetInfo &target);

/// tmem_copy.
void populateTensorMemoryCopyPatterns(const LoweringContext &context,
                                      const TargetInfo &target,
                                      const TensorMemoryUse &use);

/// Dots of the tensor cores that add up in tensor memory, and commits.
void populateTensorCoreGen5Patterns(const LoweringContext &context,
                                    const TargetInfo &target,
                                    const TensorMemoryUse &use);

/// Moves a tensor to the buffer at `address`, and waits until it is there,
/// except where the next operation does. `pred` may be null. Fails, and says
/// why through `decline`, where no instruction does that.
LogicalResult storeToTensorMemory(const LLVMBuilder &b,
                                  const TargetInfo &target, Operation *op,
                                  Value address,
                                  triton::gpu::MemDescType memory,
                                  ArrayRef<Value> values, RankedTensorType type,
                                  Value pred);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_TENSORMEMORY_H

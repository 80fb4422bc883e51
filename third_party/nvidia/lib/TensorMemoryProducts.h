//===-- TensorMemoryProducts.h - Matrix products by tcgen05 -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_LIB_TENSORMEMORYPRODUCTS_H
#define NVIDIA_LIB_TENSORMEMORYPRODUCTS_H

#include "nvidia/TargetModel.h"

namespace mlir::triton::nvidia {

/// Whether the sum of `op` could be in tensor memory, if its operands are
/// divided over the cluster as it needs them, and nothing else takes its
/// columns.
bool canSumInTensorMemory(DotOp op, const TargetModel &model);

/// Replaces `op` by a ttnvgpu.tc_gen5_mma, with the operands in shared memory
/// and the sum in tensor memory. Returns false, without having changed
/// anything, where `instruction` does not take the dot; a remark says why.
bool multiplyInTensorMemory(DotOp op,
                            const gpu::MatrixInstruction &instruction);

/// The same by a ttnvgpu.tc_gen5_mma_scaled, with the scales in tensor memory.
bool multiplyInTensorMemory(DotScaledOp op);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_TENSORMEMORYPRODUCTS_H

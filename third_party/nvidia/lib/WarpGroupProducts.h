//===-- WarpGroupProducts.h - Matrix products by warp groups ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_LIB_WARPGROUPPRODUCTS_H
#define NVIDIA_LIB_WARPGROUPPRODUCTS_H

#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

namespace mlir::triton::nvidia {

/// Replaces `op` by a ttnvgpu.warp_group_dot, with the right operand (and where
/// it comes from memory, the left one) in shared memory. Returns false, without
/// having changed anything, where `instruction` does not take the dot or is
/// not worth it.
bool multiplyByWarpGroups(DotOp op, const gpu::MatrixInstruction &instruction);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_WARPGROUPPRODUCTS_H

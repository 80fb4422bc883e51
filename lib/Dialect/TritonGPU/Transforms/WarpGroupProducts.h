//===-- WarpGroupProducts.h - Matrix products by warp groups ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONGPU_TRANSFORMS_WARPGROUPPRODUCTS_H
#define TILE_LIB_TRITONGPU_TRANSFORMS_WARPGROUPPRODUCTS_H

#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

namespace mlir::triton::gpu {

/// The version of matrix instructions that warp groups execute, as in
/// `versionMajor` of `#ttg.nvidia_mma`.
inline constexpr unsigned kWarpGroupVersion = 3;

/// Replaces `op` by a ttnvgpu.warp_group_dot, with the right operand (and where
/// it comes from memory, the left one) in shared memory. Returns false, without
/// having changed anything, where `instruction` does not take the product or is
/// not worth it.
bool multiplyByWarpGroups(DotOp op, const MatrixInstruction &instruction);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_TRANSFORMS_WARPGROUPPRODUCTS_H

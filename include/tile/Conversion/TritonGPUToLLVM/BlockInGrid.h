//===-- BlockInGrid.h - The number of a block -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_BLOCKINGRID_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_BLOCKINGRID_H

#include "tile/Conversion/TritonGPUToLLVM/TargetInfo.h"

namespace mlir::triton {

/// The block's index among all of the grid, as i32; blocks of a cluster have
/// one each.
Value getBlockInGrid(const LLVMBuilder &b, const TargetInfo &target);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_BLOCKINGRID_H

//===-- AccelerateMatmul.h - Matrix instructions for products ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_ACCELERATEMATMUL_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_ACCELERATEMATMUL_H

#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton::gpu {

/// What became of the dots.
struct AcceleratedProducts {
  unsigned numAccelerated = 0, numLeft = 0, numDecomposed = 0;
};

/// Gives the dots in `root` the layouts of the instructions that `model`
/// selects, which may know more than the module's: what users ask for.
FailureOr<AcceleratedProducts> accelerateMatmuls(Operation *root,
                                                 const TargetModel &model);

/// A grid of warps for a result of `shape`: its longer dimension is divided
/// first, down to the `m` rows and `n` columns of one instruction. `grid` says
/// what is divided already, and `numWarps` how many warps are left.
void shareOutWarps(SmallVectorImpl<unsigned> &grid, ArrayRef<int64_t> shape,
                   int64_t m, int64_t n, unsigned numWarps);

/// The layout of the scales of `operand`, a tensor of `shape`: rows by groups
/// along K. Warps and blocks hold the same rows (dimension `rowDim`) as of the
/// operand. `lanes` has the row and the group that each bit of the lane stands
/// for. A thread holds the rest.
LinearLayout getScaleLayout(RankedTensorType operand, unsigned rowDim,
                            ArrayRef<int64_t> shape,
                            const LinearLayout::DimBases &lanes);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_ACCELERATEMATMUL_H

//===-- AccelerateMatmul.h - Matrix instructions for products ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_ACCELERATEMATMUL_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_ACCELERATEMATMUL_H

#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

namespace mlir::triton::gpu {

/// What became of the products.
struct AcceleratedProducts {
  unsigned numAccelerated = 0, numLeft = 0, numDecomposed = 0;
};

/// Gives the products in `root` the layouts of the instructions that `model`
/// selects, which may know more than the module's: what users ask for.
FailureOr<AcceleratedProducts> accelerateMatmuls(Operation *root,
                                                 const TargetModel &model);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_ACCELERATEMATMUL_H

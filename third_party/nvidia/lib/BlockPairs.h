//===-- BlockPairs.h - Two blocks that multiply together --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_LIB_BLOCKPAIRS_H
#define NVIDIA_LIB_BLOCKPAIRS_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::nvidia {

/// Whether the dots of a module are planned for pairs of blocks.
bool isPlannedInPairs(Operation *op);

/// How a pair divides B: each block has half of the columns.
gpu::CTALayoutAttr getDivisionOfColumns(MLIRContext *context);

/// The type of a matrix, divided by columns. Warps run `op`.
RankedTensorType divideColumns(RankedTensorType type, Operation *op);
/// The same for any division of the blocks of a cluster.
RankedTensorType divideAs(RankedTensorType type, gpu::CTALayoutAttr division,
                          Operation *op);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_BLOCKPAIRS_H

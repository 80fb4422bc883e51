//===-- OpPartitions.h - Which warps run an operation -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_ANALYSIS_OPPARTITIONS_H
#define TILE_ANALYSIS_OPPARTITIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::triton {

/// The partitions of warps that run `op`: an array, or the number of one. Null
/// if none is said.
Attribute getPartitions(Operation *op);
void setPartitions(Operation *op, Attribute partitions);
void erasePartitions(Operation *op);

/// Has the partitions, the stage and the cluster of `other` run `op`.
void runWith(Operation *op, Operation *other);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_OPPARTITIONS_H

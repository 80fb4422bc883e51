//===-- PartitionAttributes.h - Who has the results of loops ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_IR_PARTITIONATTRIBUTES_H
#define TILE_DIALECT_TRITONGPU_IR_PARTITIONATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::gpu {

/// The partitions that have each result of a loop or branch.
inline constexpr llvm::StringLiteral kPartitionOutputsAttr =
    "ttg.partition.outputs";
/// On loops whose operations are in partitions: how far ahead each one is.
inline constexpr llvm::StringLiteral kPartitionStagesAttr =
    "ttg.partition.stages";
/// On a loop and on what is around it: the same number for what belongs to the
/// partitions of one loop.
inline constexpr llvm::StringLiteral kWarpSpecializeTagAttr =
    "ttg.warp_specialize.tag";

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_PARTITIONATTRIBUTES_H

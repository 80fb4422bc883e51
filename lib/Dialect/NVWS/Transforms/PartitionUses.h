//===-- PartitionUses.h - Which partitions use a value ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_DIALECT_NVWS_TRANSFORMS_PARTITIONUSES_H
#define TILE_LIB_DIALECT_NVWS_TRANSFORMS_PARTITIONUSES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::triton::nvws {

/// Where `op` runs: its partitions, or those of what is around it. Null where
/// nothing is said.
Attribute getPartitionsAround(Operation *op);

/// Has `op` run where and when `other` does, which may be behind a loop of its
/// partitions.
void belongTo(Operation *op, Operation *other);

/// The partitions that have `value`: those of the operation that makes it, or
/// those to which a loop or branch gives it. Null where nothing is said.
Attribute getPartitionsOf(Value value);

/// Uses of a value by those who run them. Uses of its views are among them.
using UsesOfPartitions =
    llvm::MapVector<Attribute, llvm::SmallVector<OpOperand *>>;
UsesOfPartitions getUsesOfPartitions(Value value);

/// What operations of one block are from the first to the last of.
struct Span {
  Operation *first = nullptr, *last = nullptr;

  void add(Operation *op) {
    if (!first || op->isBeforeInBlock(first))
      first = op;
    if (!last || last->isBeforeInBlock(op))
      last = op;
  }
};

/// From the first to the last of the users of `value`, as operations of
/// `block`, whose end may be one. The views by which they use it are users as
/// well. Fails if one is not in it.
FailureOr<Span> getSpan(Block *block, Value value,
                        llvm::ArrayRef<OpOperand *> uses);

/// The outermost loop around `op` whose parts run in partitions, or `op`.
Operation *getOutermostDivided(Operation *op);

} // namespace mlir::triton::nvws

#endif // TILE_LIB_DIALECT_NVWS_TRANSFORMS_PARTITIONUSES_H
